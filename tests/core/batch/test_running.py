# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches: the same results however many processes, and what stays when something goes wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from heft import core
from heft.core.batch.journal import NAME, Journal
from heft.core.batch.local import LocalPool
from heft.core.batch.running import LOCK, run
from heft.core.files import held
from heft.core.job import BakeResult, Scene
from heft.core.simulation import Push

from tests.core.batch.nights import quick_jobs

PLACES = [str(Path(core.__file__).resolve().parents[2]), str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, PLACES))}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, cache):
    """A batch of six by one process."""
    folder = tmp_path_factory.mktemp("one")
    run(quick_jobs(6), folder, LocalPool(1, cache))
    return folder


def results(folder):
    return {path.stem: BakeResult.load(path) for path in folder.glob("*.heftresult")}


def lines(folder):
    return [json.loads(line) for line in (folder / NAME).read_text().splitlines()]


def test_results_are_the_same_bits_however_many_processes(finished, cache, tmp_path):
    entries = run(quick_jobs(6), tmp_path / "three", LocalPool(3, cache))
    assert list(entries) == list(quick_jobs(6))
    assert results(tmp_path / "three") == results(finished)
    jobs = quick_jobs(6)
    assert results(finished)["wave-2"] == core.run(jobs["wave-2"])
    assert len({result.key() for result in results(finished).values()}) == 6  # seeds differ
    assert {entry.outcome for entry in entries.values()} == {"completed"}
    assert all(entry.report["joint_rms_deg"] < 5.0 for entry in entries.values())


def test_resuming_does_only_what_is_missing(finished, cache, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(finished, folder)
    (folder / "wave-1.heftresult").unlink()
    (folder / "wave-3.heftresult.0123456789ab.part").write_bytes(b"half")
    journal = (folder / NAME).read_bytes().splitlines(keepends=True)
    torn = b"".join(journal[:-1]) + journal[-1][:40]  # that of wave-5
    (folder / NAME).write_bytes(torn + b"\n{}\nnull\n" + b"[" * 100_000)
    jobs = quick_jobs(8)
    jobs["wave-2"] = replace(jobs["wave-2"], rate=240.0)
    done = []
    run(jobs, folder, LocalPool(2, cache), resume=True, progress=lambda s: s.last and done.append(s.last.name))
    assert sorted(done) == ["wave-1", "wave-2", "wave-5", "wave-6", "wave-7"]
    assert [line["name"] for line in lines(folder)] == list(jobs)  # each once
    assert set(results(folder)) == set(jobs)
    assert not list(folder.glob("*.part"))
    assert results(folder)["wave-1"] == results(finished)["wave-1"]


def test_a_folder_is_not_used_twice_by_mistake(finished):
    with pytest.raises(ValueError, match="already holds a batch: continue it with --resume"):
        run(quick_jobs(6), finished, LocalPool(1, None))


def test_a_folder_is_used_by_one_process_at_a_time(tmp_path, cache):
    with held(tmp_path / LOCK), pytest.raises(BlockingIOError, match="Another process is using it"):
        run(quick_jobs(1), tmp_path, LocalPool(1, cache))


def test_a_failure_is_noted_and_the_others_go_on(cache, tmp_path):
    jobs = quick_jobs(3)
    nowhere = Scene(pushes=(Push.constant("wing", (1.0, 0.0, 0.0), 0.0, 0.1),))
    jobs["wave-1"] = replace(jobs["wave-1"], scene=nowhere)
    entries = run(jobs, tmp_path, LocalPool(1, cache))
    assert [entry.outcome for entry in entries.values()] == ["completed", "failed", "completed"]
    assert entries["wave-1"].why == "A push acts on an unknown body 'wing'."
    assert set(results(tmp_path)) == {"wave-0", "wave-2"}
    again = []
    run(jobs, tmp_path, LocalPool(1, cache), resume=True, progress=lambda s: s.last and again.append(s.last.name))
    assert again == ["wave-1"]


def test_a_job_that_cannot_be_made_any_more_is_noted(cache, tmp_path):
    class Lost(dict):
        def __getitem__(self, name):
            if name == "wave-0":
                raise FileNotFoundError(2, "No such file", "walk.bvh")
            return super().__getitem__(name)

    entries = run(Lost(quick_jobs(2)), tmp_path, LocalPool(1, cache))
    assert "walk.bvh" in entries["wave-0"].why
    assert entries["wave-1"].outcome == "completed"


def killing(pool, name, times):
    """Kills whatever process works at a job, so many times; those that were killed."""
    killed = []

    def kill(standing):
        number = next((number for number, busy in pool._names.items() if busy == name), None)
        if name in standing.fractions and number is not None and len(killed) < times:
            pid = pool._workers[number].pid
            if pid not in killed:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

    return kill, killed


def test_a_lost_process_loses_nothing(cache, tmp_path):
    pool, jobs = LocalPool(2, cache), quick_jobs(5, seconds=2.0)
    kill, killed = killing(pool, "wave-1", 1)
    entries = run(jobs, tmp_path, pool, progress=kill)
    assert len(killed) == 1
    assert not any(entry.failed for entry in entries.values())
    assert set(results(tmp_path)) == set(jobs)


def test_a_job_that_loses_two_processes_fails_alone(cache, tmp_path):
    pool, jobs = LocalPool(2, cache), quick_jobs(5, seconds=2.0)
    kill, killed = killing(pool, "wave-1", 2)
    entries = run(jobs, tmp_path, pool, progress=kill)
    assert len(killed) == 2
    assert [name for name, entry in entries.items() if entry.failed] == ["wave-1"]
    assert "ended unexpectedly" in entries["wave-1"].why
    assert set(results(tmp_path)) == set(jobs) - {"wave-1"}
    run(jobs, tmp_path, LocalPool(1, cache), resume=True)
    assert set(results(tmp_path)) == set(jobs)


SCRIPT = """
import sys
from pathlib import Path
from heft.core.batch.local import LocalPool
from heft.core.batch.running import run
from tests.core.batch.nights import quick_jobs

def tell(standing):
    if standing.last is not None:
        print(standing.last.name, flush=True)

pool = LocalPool(2, Path(sys.argv[2]))
run(quick_jobs(40), Path(sys.argv[1]), pool, progress=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals to send")
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_is_finished_outlives_the_main_process(cache, tmp_path, number):
    folder = tmp_path / "out"
    words = [sys.executable, "-c", SCRIPT, str(folder), str(cache)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    told = [process.stdout.readline().strip() for _ in range(3)]
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    there = results(folder)  # every one of them is whole
    assert set(told) <= set(there)
    assert len(there) < 40
    assert set(there) >= set(Journal(folder).entries)
