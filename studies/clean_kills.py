# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of two thousand clips through `heft clean`, killed at ten moments and resumed after each."""

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from studies.lib.clean_runs import contents, lines, started
from studies.lib.processes import children
from tests.core.clean.clips import waving_bvh

CLIPS, KILLS = 2000, 10
LENGTHS = 20  # of clips: 0.4 s and more, by 0.05 s
SOON = 1.0  # s after a clip is done, within which the kill comes

INTRODUCTION = """# Folders: kills

{count} short clips by two workers. SIGKILL ends a worker or the main process, in turn, up to {soon:g} s after a clip
that was chosen at random, {kills} times; after each comes `--resume`. At the end every clip is to be in the journal
exactly once, and every file the same, bit for bit, as without a kill. Written by `run.py study clean_kills`.

| killed | clips done by then |
|---|---|
"""


def make_folder(folder: Path, count: int) -> None:
    """Fill it with so many clips."""
    folder.mkdir()
    made = [waving_bvh(seconds=0.4 + 0.05 * number) for number in range(LENGTHS)]
    for number in range(count):
        (folder / f"{number:04}.bvh").write_bytes(made[number % LENGTHS])


def killed(process: subprocess.Popen[bytes], out: Path, after: int, moment: float, *, worker: bool) -> int:
    """Kill a run so long after so many clips; how many were done then."""
    while len(lines(out)) < after and process.poll() is None:
        time.sleep(0.05)
    time.sleep(moment)
    below = children(process.pid) if process.poll() is None else []
    for pid in below[:1] if worker else [process.pid]:
        with suppress(ProcessLookupError):  # it may have ended by itself just now
            os.kill(pid, signal.SIGKILL)
    process.wait()
    return len(lines(out))


def page(count: int, kills: int) -> str:
    """What became of so many clips and kills."""
    random, told = np.random.default_rng(0), INTRODUCTION.format(count=count, kills=kills, soon=SOON)
    with tempfile.TemporaryDirectory() as name:
        folder, whole, out = Path(name) / "clips", Path(name) / "whole", Path(name) / "killed"
        make_folder(folder, count)
        started(folder, whole, 2).wait()
        process = started(folder, out, 2)
        for number, after in enumerate(sorted(random.choice(np.arange(1, count - 1), kills, replace=False).tolist())):
            worker = number % 2 == 0
            done = killed(process, out, after, random.uniform(0.0, SOON), worker=worker)
            told += f"| {'a worker' if worker else 'the main process'} | {done} |\n"
            process = started(folder, out, 2, "--resume")
        process.wait()
        names = [line["name"] for line in lines(out)]
        once, wanted, found = len(names) == len(set(names)) == count, contents(whole), contents(out)
    differ = sum(found.get(path) != content for path, content in wanted.items()) + len(found.keys() - wanted.keys())
    times = "exactly once" if once else f"{len(names)} times in all, {len(set(names))} of them different ones"
    return f"{told}\nEvery clip is in the journal: {times}. Of {len(wanted)} files {differ} differ.\n"


def study(_: Path) -> str:
    """The page."""
    return page(CLIPS, KILLS)
