# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder through `heft clean` by one process and by two: how fast, and in what memory."""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from studies.lib.clean_runs import contents, lines, started
from studies.lib.processes import children, megabytes
from tools.environment import ROOT

CLIPS = ROOT.parent / "shared" / "clips" / "cmu"
LOOK = 0.2  # s from one look at a run to the next
EARLY = 5  # clips, after which memory is looked at first

INTRODUCTION = f"""# Folders: speed and memory

The 26 BVH files of `cmu` by one process, then by two: seconds of motion a second, from start to end, with the
processes' own start. Memory is what the largest worker has in RAM after {EARLY} clips, and at most. Written by
`run.py study clean_speed`.

| workers | motion, s | time, s | motion a second | a worker's memory, MB |
|---|---|---|---|---|
"""


class Run(NamedTuple):
    """What became of one."""

    motion: float  # s
    seconds: float
    memory: tuple[float, float]  # MB, early and at most


def timed(workers: int, place: Path) -> Run:
    """Clean the clips in a folder of their own."""
    out = place / f"by {workers}"
    begun, early, late = time.perf_counter(), 0.0, 0.0
    process = started(CLIPS, out, workers)
    while process.poll() is None:
        time.sleep(LOOK)
        most = max((megabytes(pid) for pid in children(process.pid)), default=0.0)
        late = max(late, most)
        if len(lines(out)) <= EARLY:
            early = late
    seconds = time.perf_counter() - begun
    rows = json.loads((out / "clips.json").read_text(encoding="utf-8"))
    return Run(sum(row["seconds"] for row in rows), seconds, (early, late))


def study(_: Path) -> str:
    """The page."""
    with tempfile.TemporaryDirectory() as name:
        runs = {workers: timed(workers, Path(name)) for workers in (1, 2)}
        same = contents(Path(name) / "by 1") == contents(Path(name) / "by 2")
    page = INTRODUCTION
    for workers, run in runs.items():
        memory = f"{run.memory[0]:.0f}, then {run.memory[1]:.0f}"
        page += f"| {workers} | {run.motion:.1f} | {run.seconds:.1f} | {run.motion / run.seconds:.2f} | {memory} |\n"
    page += f"\nTwo are {runs[1].seconds / runs[2].seconds:.2f} times as fast as one; their files are "
    page += "the same, bit for bit.\n" if same else "NOT the same.\n"
    return page + f"Load on the machine at the end {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors.\n"
