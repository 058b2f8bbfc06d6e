# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches by a real Dask scheduler and its workers, all on this machine."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("distributed", reason="Dask is not in this environment")

from heft import core
from heft.core.batch.cluster import ClusterPool
from heft.core.batch.local import LocalPool
from heft.core.batch.running import run

from tests.core.batch.nights import quick_jobs
from tests.core.batch.test_running import ENVIRONMENT, results

HERE = "127.0.0.1"


def start(module, *arguments):
    words = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
    return subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def cluster(tmp_path):
    """Address, scheduler and two workers."""
    with contextlib.ExitStack() as stack:
        scheduler = stack.enter_context(start("dask_scheduler", "--host", HERE, "--port", "0"))
        stack.callback(scheduler.kill)
        address = next(line.split()[-1] for line in scheduler.stderr if f"tcp://{HERE}:" in line)
        workers = []
        for name in "ab":
            options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path / name))
            workers.append(stack.enter_context(start("dask_worker", address, *options)))
            stack.callback(workers[-1].kill)
        yield address, scheduler, workers


def test_results_are_the_same_bits_even_if_a_worker_is_killed_in_the_middle(cluster, tmp_path):
    address, _, workers = cluster
    jobs = quick_jobs(6)

    def kill(standing):
        if standing.done == 2:
            os.kill(workers[0].pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)

    entries = run(jobs, tmp_path / "far", ClusterPool(address), progress=kill)
    assert {entry.outcome for entry in entries.values()} == {"completed"}
    assert results(tmp_path / "far") == {name: core.run(job, cache=tmp_path) for name, job in jobs.items()}


def test_a_batch_outlives_its_scheduler(cluster, tmp_path):
    address, scheduler, _ = cluster
    jobs = quick_jobs(6)
    jobs["wave-0"] = quick_jobs(1, settings={"gamma": 1})["wave-0"]

    def kill(standing):
        if standing.done == 3:
            scheduler.kill()

    with pytest.raises(OSError, match=f"The scheduler at {address} is gone. .* continue with --resume"):
        run(jobs, tmp_path / "out", ClusterPool(address), progress=kill)
    there = results(tmp_path / "out")
    assert 2 <= len(there) < 6
    entries = run(jobs, tmp_path / "out", LocalPool(1, None), resume=True)
    assert set(results(tmp_path / "out")) == set(jobs) - {"wave-0"}
    assert "There is no setting 'gamma'" in entries["wave-0"].why


def test_nobody_there(monkeypatch):
    monkeypatch.setattr("heft.core.batch.cluster.PATIENCE", 0.5)
    with pytest.raises(ValueError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        ClusterPool("tcp://127.0.0.1:9")
