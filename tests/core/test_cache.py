# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept between runs: in files, and in the memory of a process that runs job after job."""

import threading
import time

import numpy as np
import pytest
from heft.core import cache
from heft.core.cache import Cache, Memory

PATIENCE = 60.0  # s


def save(value, path):
    path.write_text(value)


def load(path):
    return path.read_text()


def refused(path):
    raise AssertionError(f"{path} was read")


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(cache, "LATER", 0.0)


def settled(folder):
    """The files, once there are some."""
    until = time.monotonic() + PATIENCE
    while not list(folder.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return list(folder.iterdir())


def test_without_memory_it_is_written_before_anything_else(tmp_path):
    Cache(tmp_path).put("key", "value", save)
    assert Cache(tmp_path).get("key", load) == "value"
    assert Cache(tmp_path).get("other", load) is None


def test_what_is_remembered_is_not_read_again(tmp_path, at_once):
    memory = Memory()
    Cache(tmp_path, memory, later=True).put("key", "value", save)
    assert Cache(tmp_path, memory).get("key", refused) == "value"
    (file,) = settled(tmp_path)
    assert file.read_text() == "value"
    assert Cache(Cache(tmp_path, memory)).get("key", refused) == "value"
    assert Cache(tmp_path, Memory()).get("key", load) == "value"  # another process
    assert Cache(tmp_path / "other", memory).get("key", load) is None


def test_who_does_not_ask_for_it_waits_for_files(tmp_path):
    memory = Memory()
    Cache(tmp_path, memory).put("key", "value", save)
    assert len(list(tmp_path.iterdir())) == 1
    assert Cache(tmp_path, memory).get("key", refused) == "value"


def test_files_wait_until_there_is_nothing_better_to_do(tmp_path, monkeypatch):
    goes_on = threading.Event()
    monkeypatch.setattr(cache.time, "sleep", lambda _: goes_on.wait(PATIENCE))
    memory = Memory()
    Cache(tmp_path, memory, later=True).put("key", "value", save)
    assert Cache(tmp_path, memory).get("key", refused) == "value"
    assert list(tmp_path.iterdir()) == []
    goes_on.set()
    monkeypatch.undo()
    assert len(settled(tmp_path)) == 1


def test_a_shelf_is_a_process_s_own(tmp_path):
    memory = Memory()
    Cache(tmp_path, memory).shelf("key")["what"] = "found"
    assert Cache(tmp_path, memory).shelf("key") == {"what": "found"}
    assert Cache(tmp_path, memory).shelf("other") == {}
    assert Cache(tmp_path, Memory()).shelf("key") == {}
    assert Cache(tmp_path).shelf("key") == {}
    assert not list(tmp_path.iterdir())


def test_the_oldest_is_forgotten_and_so_is_what_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MOST", 2)
    memory = Memory()
    for name in "abc":
        memory.keep(tmp_path / name, name)
        memory.get(tmp_path / "a")
    assert [memory.get(tmp_path / name) for name in "abc"] == ["a", None, "c"]
    monkeypatch.setattr(cache, "LARGEST", 100)
    memory.keep(tmp_path / "d", (np.zeros(10), "d"))
    assert memory.get(tmp_path / "d") is not None
    memory.keep(tmp_path / "e", (np.zeros(10), "e"))
    assert memory.get(tmp_path / "d") is None
    assert memory.get(tmp_path / "e") is not None


def test_a_file_that_cannot_be_written_is_told_in_the_next_run(tmp_path, at_once):
    memory = Memory()

    def full(value, path):
        raise OSError(28, "No space left on device")

    Cache(tmp_path, memory, later=True).put("key", "value", full)
    until = time.monotonic() + PATIENCE
    while not memory.trouble:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert Cache(tmp_path, memory).notes == ["The cache could not be written: No space left on device."]
    assert Cache(tmp_path, memory).get("key", refused) == "value"
