# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hundred short bakes by one process and by two: time, overhead, memory."""

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from heft.core.batch.local import LocalPool
from heft.core.batch.running import Standing, run

from studies.lib.processes import megabytes
from tests.core.batch.nights import quick_jobs

JOBS = 200
SECONDS = 2.0  # simulated by each
ROUNDS = 3
EARLY = 20  # jobs after which memory is looked at first

INTRODUCTION = f"""# Batches: speed and memory

{JOBS} bakes of {SECONDS:g} s of the standing, waving mannequin, whose reference is cached, with one process and with
two in turn, {ROUNDS} times. Times are for the whole batch, including the start of its processes. Overhead is what a
job takes in one process beyond the run itself: making and sending it, packing, sending and writing the result, and the
journal. Processor time is that of the main process and all workers; memory is what a process has in RAM after
{EARLY} jobs and at the end. Written by `run.py study batch_speed`.
"""
HEAD = (
    "round",
    "one process, s",
    "two, s",
    "times faster",
    "overhead a job, ms",
    "start, s",
    "processor time of one, s: main, worker",
    "of two: main, workers",
    "memory of main, MB",
    "of a worker, MB",
)


class Batch(NamedTuple):
    """One batch."""

    seconds: float  # from start to end
    running: float  # s spent in the runs themselves, all jobs together
    starting: float  # s before the first result, less that job's own run
    main: float  # s of processor time
    workers: float
    memory: tuple[float, float, float, float]  # MB: main early and late, the greatest worker early and late


def batch(workers: int, cache: Path) -> Batch:
    pool, begun, before = LocalPool(workers, cache), time.perf_counter(), os.times()
    memory: list[float] = []
    first: list[float] = []

    def look(standing: Standing) -> None:
        if standing.last is not None and not first:
            first.append(time.perf_counter() - begun - sum(standing.last.report["seconds"].values()))
        if standing.last is not None and standing.done in {EARLY, JOBS}:
            own = [megabytes(worker.pid) for worker in pool._workers.values()]
            memory.extend((megabytes(os.getpid()), max(own, default=0.0)))

    with tempfile.TemporaryDirectory() as folder:
        entries = run(quick_jobs(JOBS, seconds=SECONDS), folder, pool, progress=look)
        seconds = time.perf_counter() - begun
    after = os.times()
    running = sum(sum(entry.report["seconds"].values()) for entry in entries.values())
    main = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system - before.children_user - before.children_system
    return Batch(seconds, running, first[0], main, children, (memory[0], memory[2], memory[1], memory[3]))


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place)
        batch(2, cache)
        rounds = [(batch(1, cache), batch(2, cache)) for _ in range(ROUNDS)]
    page = [INTRODUCTION, f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for number, (one, two) in enumerate(rounds, 1):
        overhead = 1000.0 * (one.seconds - one.starting - one.running) / JOBS
        a, b, c, d = one.memory
        page.append(
            f"| {number} | {one.seconds:.1f} | {two.seconds:.1f} | {one.seconds / two.seconds:.2f} | {overhead:.1f} | "
            f"{one.starting:.1f} | {one.main:.1f}, {one.workers:.1f} | {two.main:.1f}, {two.workers:.1f} | "
            f"{a:.0f}, then {b:.0f} | {c:.0f}, then {d:.0f} |"
        )
    ratio = statistics.median(one.seconds / two.seconds for one, two in rounds)
    page += ["", f"Two processes are {ratio:.2f} times as fast as one, the median of the rounds."]
    page.append(f"Load on the machine at the end {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors.")
    return "\n".join(page)
