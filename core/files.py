# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing files whole or not at all, and locking a folder."""

import os
import re
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = re.compile(r"\.[0-9a-f]{12}\.part$")


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file under another name beside it, then put it in place in one step."""
    target = Path(path)
    unfinished = target.with_name(f"{target.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def remove_unfinished(folder: Path) -> None:
    """What `write_whole` has begun in a folder, in a process that was killed."""
    for left in folder.glob("*.part"):
        if UNFINISHED.search(left.name):
            left.unlink(missing_ok=True)


@contextmanager
def held(path: str | Path) -> Iterator[None]:
    """Hold a lock while the block runs; BlockingIOError if another process holds it.

    The system releases it when the process ends, however it ends. The file stays.
    """
    with Path(path).open("a") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BlockingIOError(error.errno, "Another process is using it", str(path)) from None
        yield
