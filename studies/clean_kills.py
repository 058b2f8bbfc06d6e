# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders through `heft clean`, killed at ten moments and resumed."""

import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from studies.lib.clean_runs import contents, lines, started
from studies.lib.processes import children
from tests.core.clean.clips import waving_bvh

SHORT, ROUNDS = 12, 10  # clips of a run that is killed, and how often
SOON = 1.0  # s after a clip is done, within which the kill comes

INTRODUCTION = f"""# Folders: kills

{SHORT} short clips by two workers. SIGKILL ends a worker or the main process up to {SOON:g} s after a random clip,
{ROUNDS} times; then comes `--resume`. A round is good if every clip is in the journal exactly once and every file is
the same, bit for bit, as without a kill. Written by `run.py study clean_kills`.

| killed | clips done then | every clip once, the same bits |
|---|---|---|
"""


def killed(folder: Path, out: Path, after: int, moment: float, *, worker: bool) -> int:
    """Kill a run so long after so many clips, and resume it; how many clips were done when it was resumed."""
    process = started(folder, out, 2)
    while len(lines(out)) < after and process.poll() is None:
        time.sleep(0.02)
    time.sleep(moment)
    below = children(process.pid) if process.poll() is None else []
    for pid in below[:1] if worker else [process.pid]:
        with suppress(ProcessLookupError):  # it may have ended by itself just now
            os.kill(pid, signal.SIGKILL)
    process.wait()
    done = len(lines(out))
    started(folder, out, 2, "--resume").wait()
    return done


def study(_: Path) -> str:
    """The page."""
    random, page = np.random.default_rng(0), INTRODUCTION
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "short", Path(name) / "killed"
        folder.mkdir()
        for number in range(SHORT):
            (folder / f"{number:02}.bvh").write_bytes(waving_bvh(seconds=0.4 + 0.05 * number))
        started(folder, Path(name) / "whole", 2).wait()
        wanted = contents(Path(name) / "whole")
        for number in range(ROUNDS):
            worker = number % 2 == 0
            shutil.rmtree(out, ignore_errors=True)
            done = killed(folder, out, int(random.integers(1, SHORT)), random.uniform(0.0, SOON), worker=worker)
            names = [line["name"] for line in lines(out)]
            good = len(names) == len(set(names)) == SHORT and contents(out) == wanted
            page += f"| {'a worker' if worker else 'main process'} | {done} | {'yes' if good else 'NO'} |\n"
    return page
