# SPDX-License-Identifier: GPL-3.0-or-later
"""What a second thread makes, whoever uses it has in order; and nothing is made any more once that is over."""

import contextlib
import os
import threading
import time

import pytest
from heft.core.maths.beside import both, helped, in_line

needs_two_cores = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one core")


@pytest.fixture(params=["alone", "helped"])
def company(request):
    with helped() if request.param == "helped" else contextlib.nullcontext():
        yield request.param


def test_each_piece_is_made_before_it_is_used_and_used_in_order(company):
    made, used = [], []

    def use(piece):
        assert piece in made
        used.append(piece)
        return True

    in_line(range(50), made.append, use)
    assert made == used == list(range(50))


@needs_two_cores
def test_the_next_pieces_are_made_meanwhile():
    ahead = threading.Event()
    with helped():
        in_line(range(2), lambda piece: ahead.set() if piece == 1 else None, lambda _: ahead.wait(10.0))
    assert ahead.is_set()


def test_nothing_is_made_once_a_piece_was_of_no_use(company):
    made = []

    def make(piece):
        time.sleep(0.001)
        made.append(piece)

    in_line(range(1000), make, lambda piece: piece < 3)
    count = len(made)
    time.sleep(0.01)
    assert 4 <= count == len(made) < 1000


def test_an_error_in_making_is_raised_where_it_is_used(company):
    used = []

    def make(piece):
        if piece == 2:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_line(range(5), make, lambda piece: used.append(piece) is None)
    assert used == [0, 1]


def test_an_error_in_using_ends_the_making(company):
    made = []

    def use(piece):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_line(range(5), made.append, use)
    assert made[0] == 0


def test_both_are_done(company):
    done = []
    both(lambda: done.append("one"), lambda: done.append("other"))
    assert sorted(done) == ["one", "other"]


@needs_two_cores
def test_the_helper_is_gone_after_the_block():
    before = threading.active_count()
    with helped():
        both(lambda: None, lambda: None)
    assert threading.active_count() == before
