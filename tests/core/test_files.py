# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are there whole, or as they were; a lock is held by one process."""

import os
import subprocess
import sys

import pytest
from heft.core.files import held, write_whole

from tests.core.batch.test_running import ENVIRONMENT


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "file.bin"
    for content in (b"first", b"second and longer"):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.bin"]


def test_what_cannot_be_written_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "file.bin"
    write_whole(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.bin"]


def test_a_lock_is_free_again_once_its_process_is_killed(tmp_path):
    path = tmp_path / "lock"
    script = "import sys, time; from heft.core.files import held\nwith held(sys.argv[1]): print(); time.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", script, str(path)], stdout=subprocess.PIPE, env=ENVIRONMENT
    ) as other:
        other.stdout.readline()
        with pytest.raises(BlockingIOError, match="Another process is using it"), held(path):
            pass
        other.kill()
    with held(path):
        pass
    with held(path):
        pass
