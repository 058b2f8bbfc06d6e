# SPDX-License-Identifier: GPL-3.0-or-later
"""The self-test says the same each time, and notices a world without ground."""

import pytest
from heft.core.contact.terrain import Plane
from heft.core.simulation import World
from heft.core.worker import self_test


def test_it_says_the_same_state_each_time():
    first, second = (self_test.self_test().rpartition(" ")[2] for _ in range(2))
    assert first == second
    assert len(first) == 8


def test_wrong_physics_is_noticed(monkeypatch):
    monkeypatch.setattr(self_test, "World", lambda character: World(character, [Plane((0.0, 0.0, -99.0))]))
    with pytest.raises(ValueError, match=r"A rag doll of \d+ N came to rest -\d+\.\d\d m high, carried by 0 N"):
        self_test.self_test()
