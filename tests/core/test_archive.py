# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in files, where their types are declared in ways that only newer versions of libraries know."""

import sys
import types
from dataclasses import dataclass, make_dataclass

import numpy as np
import pytest
from heft.core import archive


@dataclass(frozen=True, eq=False)
class Plain:
    """What numpy's NDArray was before 2.5."""

    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no named types before 3.12")
def test_arrays_declared_by_a_named_type_are_arrays():
    """From 2.5 on numpy's NDArray is such a type; so is what stands beside None."""
    from typing import TypeAliasType, TypeVar

    kind = TypeVar("kind", bound=np.generic)
    named = TypeAliasType("named", np.ndarray[tuple[int, ...], np.dtype[kind]], type_params=(kind,))
    whole = make_dataclass(
        "Whole",
        [("values", named[np.float64]), ("more", named[np.int64] | types.NoneType), ("none", named[np.bool_] | None)],
    )
    value = whole(np.arange(3.0), np.arange(2), None)
    found = archive.unpack(whole, archive.pack(value, whole, "test", 1), "test", 1)
    assert found.values.tolist() == [0.0, 1.0, 2.0]
    assert (found.more.tolist(), found.more.dtype, found.none) == ([0, 1], np.int64, None)


def test_arrays_declared_in_full_are_arrays():
    value = Plain(np.arange(3.0))
    assert archive.unpack(Plain, archive.pack(value, Plain, "test", 1), "test", 1).values.tolist() == [0.0, 1.0, 2.0]


def test_content_is_read_where_it_lies_piece_by_piece(monkeypatch):
    monkeypatch.setattr(archive, "PIECE", 7)
    value = Plain(np.random.default_rng(0).normal(size=1001))
    content = np.frombuffer(archive.pack(value, Plain, "test", 1), np.uint8)
    assert np.array_equal(archive.unpack(Plain, memoryview(content), "test", 1).values, value.values)
    short = memoryview(content[:-900])
    with pytest.raises(archive.UNREADABLE):
        archive.unpack(Plain, short, "test", 1)


def test_an_array_that_changed_on_the_way_is_refused():
    content = bytearray(archive.pack(Plain(np.arange(900.0)), Plain, "test", 1))
    content[content.index(np.float64(500.0).tobytes())] ^= 1
    with pytest.raises(archive.UNREADABLE, match="CRC"):
        archive.unpack(Plain, bytes(content), "test", 1)
