# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft clean` in a process of its own, for studies of whole runs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import IO

from heft.core.batch.journal import NAME

from tests.core.batch.test_running import ENVIRONMENT


def started(
    folder: Path, out: Path, workers: int, *more: str, said: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """`heft clean` in a process of its own; what it says of each clip goes into a file, if there is one."""
    words = ("-m", "heft.core.cli", "clean", str(folder), "--out", str(out), "--workers", str(workers), *more)
    errors = subprocess.DEVNULL if said is None else said
    return subprocess.Popen([sys.executable, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=errors)


def lines(out: Path) -> list[dict[str, str]]:
    """The journal so far; a line that is being written does not count."""
    try:
        text = (out / "heft" / NAME).read_text(encoding="utf-8")
    except OSError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def contents(out: Path) -> dict[str, bytes]:
    """All files but the journal, which tells how long it took."""
    paths = [path for path in out.rglob("*") if path.is_file() and not path.name.startswith("batch.")]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}
