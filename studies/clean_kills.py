# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of two thousand clips through `heft clean`, killed at ten moments and resumed after each."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
from heft.core.clean.delivery import STAMP

from studies.lib.clean_runs import contents, started
from studies.lib.processes import children
from tests.core.clean.clips import waving_bvh

CLIPS, KILLS = 2000, 10
SHORTEST, LENGTHS = 6, 10  # frames of 1/30 s of the shortest clip, and how many lengths there are, a frame apart
SOON = 1.0  # s after a clip is done, within which the kill comes

INTRODUCTION = """# Folders: kills

{count} short clips by two workers. SIGKILL ends a worker or the main process, in turn, up to {soon:g} s after a clip
that was chosen at random, {kills} times. A lost worker is replaced; after the main process comes `--resume`. At the end
every clip is to be there, none of them baked to its end twice, and every file the same, bit for bit, as without a kill.
Written by `run.py study clean_kills`.

| killed | clips done by then |
|---|---|
"""
TOLD = re.compile(r"^\d+ of \d+: (.+?): ", re.MULTILINE)  # of a clip that was baked


def make_folder(folder: Path, count: int) -> None:
    """Fill it with so many clips."""
    folder.mkdir()
    made = [waving_bvh(seconds=(SHORTEST + number) / 30.0) for number in range(LENGTHS)]
    for number in range(count):
        (folder / f"{number:04}.bvh").write_bytes(made[number % LENGTHS])


def kill(process: subprocess.Popen[bytes], *, worker: bool) -> None:
    """Kill the first worker of a run, or the run."""
    below = children(process.pid) if process.poll() is None else []
    for pid in below[:1] if worker else [process.pid]:
        with suppress(ProcessLookupError):  # it may have ended by itself just now
            os.kill(pid, signal.SIGKILL)


def interrupted(folder: Path, out: Path, said: Path, moments: list[int], random: np.random.Generator) -> Iterator[str]:
    """Kill a run after so many clips each, and resume it; a row for each kill."""
    with said.open("ab") as told:
        process = started(folder, out, 2, said=told)
        for number, after in enumerate(moments):
            worker = number % 2 == 0
            while len(baked(said)) < after and process.poll() is None:
                time.sleep(0.1)
            time.sleep(random.uniform(0.0, SOON))
            kill(process, worker=worker)
            yield f"| {'a worker' if worker else 'the main process'} | {len(baked(said))} |\n"
            if not worker:
                process.wait()
                process = started(folder, out, 2, "--resume", said=told)
        process.wait()


def baked(said: Path) -> list[str]:
    """The clips that were baked to their end, in order."""
    return TOLD.findall(said.read_text(encoding="utf-8"))


def page(count: int, kills: int) -> str:
    """What became of so many clips and kills."""
    random, told = np.random.default_rng(0), INTRODUCTION.format(count=count, kills=kills, soon=SOON)
    moments = sorted(random.choice(np.arange(1, count - 1), kills, replace=False).tolist())
    with tempfile.TemporaryDirectory() as name:
        folder, whole, out = Path(name) / "clips", Path(name) / "whole", Path(name) / "killed"
        make_folder(folder, count)
        started(folder, whole, 2).wait()
        told += "".join(interrupted(folder, out, Path(name) / "said", moments, random))
        ended = Counter(baked(Path(name) / "said"))
        there = len(list((out / "heft").glob(f"*{STAMP}")))
        wanted, found = contents(whole), contents(out)
    differ = sum(found.get(path) != content for path, content in wanted.items()) + len(found.keys() - wanted.keys())
    twice = sum(number > 1 for number in ended.values())
    what = f"{there} of {count} clips are there; {twice} were baked twice; of {len(wanted)} files {differ} differ."
    return f"{told}\n{what}\n"


def study(_: Path) -> str:
    """The page."""
    return page(CLIPS, KILLS)
