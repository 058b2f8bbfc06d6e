# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches whose worker, scheduler or main process is killed at a random moment, and then resumed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.batch.journal import NAME
from heft.core.batch.local import LocalPool
from heft.core.batch.running import run
from heft.core.job import BakeJob, BakeResult

from studies.lib.processes import children
from tests.core.batch.nights import quick_jobs
from tests.core.batch.test_running import ENVIRONMENT

ROUNDS = 50
JOBS = 12
SOON = 0.2  # s after a result, within which the kill comes
VICTIMS = ("worker", "main process", "scheduler")

INTRODUCTION = f"""# Kills

A batch of {JOBS} short bakes runs with two workers in its own process. At a random moment, up to {SOON} s after
one of the first {JOBS - 2} results, SIGKILL ends one of its processes: a worker, the main process, or the
scheduler of a Dask cluster. Another process then resumes the batch. This is done {ROUNDS} times, with seeded
moments. A round is good if every job is in the journal exactly once, with the same result, bit for bit, as without a
kill. Also counted are half-written files: unreadable results between kill and resume or at the end, and unfinished
files at the end. Written by `run.py study batch_kills`.
"""


class Round(NamedTuple):
    """What became of one."""

    victim: str
    before: int  # results that were there when it was resumed
    once: bool  # every job exactly once, and as without a kill
    half: int  # files half-written


@contextmanager
def started(*words: str, **options: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process, killed at the end if it still runs."""
    process = subprocess.Popen([sys.executable, *words], text=True, env=ENVIRONMENT, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def cluster(stack: ExitStack, folder: Path) -> tuple[int, str]:
    """A scheduler with two workers: its process and its address."""
    words = ("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    scheduler = stack.enter_context(started(*words, stderr=subprocess.PIPE))
    address = next(line.split()[-1] for line in scheduler.stderr if "tcp://127.0.0.1:" in line)
    for name in "ab":
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder / name))
        stack.enter_context(started("-m", "distributed.cli.dask_worker", address, *options, stderr=subprocess.DEVNULL))
    return scheduler.pid, address


def killed(victim: str, folder: Path, results: int, moment: float) -> None:
    """Run a batch and kill a part of it; returns when its main process has ended."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as place:
        scheduler, words = 0, []
        if victim == "scheduler":
            scheduler, address = cluster(stack, Path(place))
            words = [address]
        main = stack.enter_context(
            started(
                *("-m", "heft.studies.lib.batch", str(JOBS), str(folder), *words),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        for _ in range(results):
            main.stdout.readline()
        time.sleep(moment)
        workers = children(main.pid) if main.poll() is None else []
        for pid in {"worker": workers[:1], "main process": [main.pid], "scheduler": [scheduler]}[victim]:
            with suppress(ProcessLookupError):  # it may have ended by itself just now
                os.kill(pid, signal.SIGKILL)
        main.wait()


def half_written(folder: Path) -> int:
    """Results that cannot be read."""
    wrong = 0
    for path in folder.glob("*.heftresult"):
        try:
            BakeResult.load(path)
        except ValueError:
            wrong += 1
    return wrong


def one_round(victim: str, random: np.random.Generator, jobs: dict[str, BakeJob], wanted: dict[str, str]) -> Round:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        killed(victim, folder, int(random.integers(1, JOBS - 1)), random.uniform(0.0, SOON))
        before, half = len(list(folder.glob("*.heftresult"))), half_written(folder)
        run(jobs, folder, LocalPool(1, folder / "cache"), resume=True)
        half += half_written(folder) + len(list(folder.glob("*.part")))
        names = [json.loads(line)["name"] for line in (folder / NAME).read_text(encoding="utf-8").splitlines()]
        there = {path.stem: BakeResult.load(path).key() for path in folder.glob("*.heftresult")}
        return Round(victim, before, names == list(jobs) and there == wanted, half)


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if sys.platform != "linux":
        return "# Kills\n\nThis study finds processes as Linux shows them.\n"
    jobs, random = quick_jobs(JOBS), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        run(jobs, place, LocalPool(1, None))
        wanted = {path.stem: BakeResult.load(path).key() for path in Path(place).glob("*.heftresult")}
    rounds = [one_round(VICTIMS[number % len(VICTIMS)], random, jobs, wanted) for number in range(ROUNDS)]
    page = [INTRODUCTION, "| killed | rounds | results then | every job once, the same bits | files half-written |"]
    page.append("|---|---|---|---|---|")
    for victim in VICTIMS:
        own = [one for one in rounds if one.victim == victim]
        spread = f"{min(one.before for one in own)} to {max(one.before for one in own)}"
        page.append(
            f"| {victim} | {len(own)} | {spread} | {sum(one.once for one in own)} | {sum(one.half for one in own)} |"
        )
    return "\n".join(page)
