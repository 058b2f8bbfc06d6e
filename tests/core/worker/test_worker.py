# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker process: what passes through its pipes, and every way it can end."""

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from heft.core.worker import messages
from heft.core.worker.worker import Worker, python

TASKS = "tests.core.worker.odd_tasks"


@pytest.fixture
def worker():
    worker = Worker(None, TASKS)
    yield worker
    worker.stop()
    assert not worker.alive


def all_until(worker, kind):
    """What it says up to a message of that kind."""
    said = []
    while not said or said[-1].kind != kind:
        arrived = worker.wait(60)
        assert arrived, f"it only said {[message.kind for message in said]}"
        said += arrived
    return said


def is_running(pid):
    """Neither gone nor a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_message_comes_out_as_it_went_in():
    stream = io.BytesIO()
    arrays = {"q": np.arange(6.0).reshape(2, 3), "on": np.array([True, False]), "none": np.zeros((0, 3))}
    messages.write(stream, "frames", {"first": 3, "name": "Gehen, chůze, 歩く"}, arrays)
    messages.write(stream, "end")
    stream.seek(0)
    kind, values, found = messages.read(stream)
    assert (kind, values) == ("frames", {"first": 3, "name": "Gehen, chůze, 歩く"})
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert messages.read(stream) == ("end", {}, {})
    assert messages.read(stream) is None


def test_every_cut_of_a_message_is_an_end_and_garbage_is_refused():
    stream = io.BytesIO()
    messages.write(stream, "frames", {"first": 3}, {"q": np.zeros(3)})
    whole = stream.getvalue()
    for length in range(len(whole)):
        assert messages.read(io.BytesIO(whole[:length])) is None
    with pytest.raises(ValueError, match="not a message"):
        messages.read(io.BytesIO(b"Traceback (most recent call last):"))


def test_messages_are_not_pickled():
    with pytest.raises(ValueError, match="plain numbers"):
        messages.write(io.BytesIO(), "frames", {}, {"q": np.array([object()])})


def test_task_answers_with_the_arrays_it_was_sent(worker):
    worker.send("echo", {"name": "walk"}, {"q": np.eye(3)})
    said, done = all_until(worker, "done")
    assert said.values == done.values == {"name": "walk"}
    np.testing.assert_array_equal(said.arrays["q"], np.eye(3))


def test_printing_disturbs_nothing_and_bpy_is_out_of_reach(worker):
    worker.send("chatter")
    assert all_until(worker, "done")[-1].values == {"bpy": False}


def test_many_messages_arrive_in_order(worker):
    worker.send("babble")
    numbers = [message.values["number"] for message in all_until(worker, "done")[:-1]]
    assert numbers == list(range(10_000))


@pytest.mark.parametrize(
    ("task", "why"),
    [("refuse", "The rig has no legs."), ("full_disk", "No space left on device: gains.npz")],
)
def test_bad_input_and_full_disk_are_sentences_and_the_worker_lives_on(worker, task, why):
    worker.send(task)
    assert all_until(worker, "failed")[-1].values == {"why": why}
    worker.send("echo")
    assert all_until(worker, "done")
    assert worker.alive


def test_an_overtaken_task_ends_unheard_and_the_next_one_is_done_in_the_same_process(worker):
    worker.send("count")
    all_until(worker, "number")
    pid = worker.pid
    worker.overtake()
    worker.send("count")
    all_until(worker, "number")
    worker.overtake()
    worker.overtake()  # once more does no harm
    worker.send("echo", {"name": "walk"})
    assert [message.kind for message in all_until(worker, "done")] == ["said", "done"]
    worker.overtake()  # nor when nothing goes on
    worker.send("echo", {"name": "run"})
    assert [message.values for message in all_until(worker, "done")] == 2 * [{"name": "run"}]
    assert worker.pid == pid


@pytest.mark.parametrize(
    ("task", "why"), [("crash", "status 1: RuntimeError: a mistake"), ("vanish", "status 3"), ("none", "KeyError")]
)
def test_crash_ends_the_worker_with_a_sentence(worker, task, why):
    worker.send(task)
    assert why in all_until(worker, "ended")[-1].values["why"]
    assert not worker.alive
    worker.send("echo")  # too late, and no error


def test_a_task_hears_that_it_has_tried_enough_and_the_next_does_not(worker):
    for _ in range(2):
        worker.send("try_on")
        all_until(worker, "trying")
        assert worker.wait(0.2) == []
        worker.enough()
        assert all_until(worker, "done")[-1].values == {"enough": True}


def test_what_is_sent_is_made_without_anybody_waiting(worker):
    made = threading.Event()

    def make():
        made.wait()
        return {"name": "walk"}, {}

    worker.send_made("echo", make)
    worker.send("chatter")  # what is sent later comes later
    assert worker.poll() == []
    made.set()
    answers = [message.values for message in all_until(worker, "done") if message.kind == "done"]
    assert answers[0] == {"name": "walk"}

    def cannot():
        raise ValueError("The motion is too long.")

    worker.send_made("echo", cannot)
    assert all_until(worker, "failed")[-1].values == {"why": "The motion is too long."}


def test_killed_from_outside(worker):
    worker.send("hang")
    all_until(worker, "hanging")
    os.kill(worker.pid, 9)
    assert "ended unexpectedly" in all_until(worker, "ended")[-1].values["why"]


def test_stopping_a_busy_worker_leaves_no_process(worker):
    worker.send("hang")
    all_until(worker, "hanging")
    pid = worker.pid
    worker.stop()
    assert not is_running(pid)
    worker.stop()  # once more does no harm


def test_stopping_right_after_the_start():
    worker = Worker(None, TASKS)
    worker.stop()
    assert not is_running(worker.pid)


@pytest.mark.skipif(sys.platform == "win32", reason="looks into /proc")
def test_worker_ends_when_blender_is_killed(tmp_path):
    script = tmp_path / "blender.py"
    script.write_text(f"""
import time
from heft.core.worker.worker import Worker
worker = Worker(None, "{TASKS}")
worker.send("hang")
while not worker.wait(60):
    pass
print(worker.pid, flush=True)
time.sleep(600)
""")
    parents = [entry for entry in sys.path if entry]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(parents)}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=variables) as blender:
        pid = int(blender.stdout.readline())
        assert is_running(pid)
        blender.kill()
    for _ in range(600):
        if not is_running(pid):
            break
        time.sleep(0.1)
    assert not is_running(pid)


def test_python_is_found_where_blender_names_itself(monkeypatch, tmp_path):
    folder = tmp_path / ("." if os.name == "nt" else "bin")
    folder.mkdir(exist_ok=True)
    found = folder / ("python.exe" if os.name == "nt" else "python3")
    found.touch()
    (tmp_path / "blender").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for name in (str(tmp_path / "blender"), "", None):
        monkeypatch.setattr(sys, "executable", name)
        assert python().samefile(found)
    found.unlink()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="Blender's own Python"):
        python()
