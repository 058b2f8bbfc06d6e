# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are there whole, or as they were."""

import os

import pytest
from heft.core.files import write_whole


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
