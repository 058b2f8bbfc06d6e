# SPDX-License-Identifier: GPL-3.0-or-later
"""The planner on graphs whose best ways are known."""

import numpy as np
import pytest
from heft.core.planning import Action, Trials, Wishes, iterate
from heft.core.planning.values import KEPT

WALKS, STANDS = 1, 0
AHEAD = Action("ahead", WALKS, WALKS, 0.0, 1.0, 1.0)
LEFT_45 = Action("45", WALKS, WALKS, np.pi / 4.0, 1.0, 1.0)
LEFT_90 = Action("90", WALKS, WALKS, np.pi / 2.0, 1.0, 1.0)
RIGHT_45 = Action("-45", WALKS, WALKS, -np.pi / 4.0, 1.0, 1.0)
TURNS = (AHEAD, LEFT_45, LEFT_90, RIGHT_45)
STOP = Action("stop", WALKS, STANDS, 0.0, 2.0, 0.5)
STAND = Action("stand", STANDS, STANDS, 0.0, 0.25, 0.0)
START = Action("start", STANDS, WALKS, 0.0, 2.0, 0.5)
LED = (*TURNS, STOP, STAND, START)


def trials(actions, falls=()):
    """Nobody fell, but in these pairs by number with these shares."""
    found = np.zeros((len(actions), len(actions)))
    for first, second, share in falls:
        found[first, second] = share
    return Trials(found, np.zeros_like(found))


def best(worth, last, degrees):
    able, cost = worth.after(last, np.radians(degrees))
    return worth.actions[able[np.argmin(cost)]].name


@pytest.mark.parametrize(
    ("degrees", "name"), [(0, "ahead"), (10, "ahead"), (45, "45"), (90, "90"), (170, "90"), (-45, "-45"), (-100, "-45")]
)
def test_without_risk_the_turn_that_leads_there_soonest(degrees, name):
    assert best(iterate(TURNS, trials(TURNS), 1.0, 1.0, Wishes()), 0, degrees) == name


def test_a_turn_that_falls_is_replaced_by_two_that_do_not():
    worth = iterate(TURNS, trials(TURNS, [(k, 2, 0.5) for k in range(4)]), 1.0, 1.0, Wishes())
    assert best(worth, 0, 90) == "45"
    assert best(worth, 1, 45) == "45"


def test_who_does_not_care_about_falls_takes_it():
    risky = trials(TURNS, [(k, 2, 0.5) for k in range(4)])
    assert best(iterate(TURNS, risky, 1.0, 1.0, Wishes(fall=0.0)), 0, 90) == "90"


def test_a_pair_that_falls_is_parted():
    """After a turn to the left one to the right falls: first a step ahead."""
    worth = iterate(TURNS, trials(TURNS, [(1, 3, 1.0)]), 1.0, 1.0, Wishes())
    assert best(worth, 1, -45) == "ahead"
    assert best(worth, 0, -45) == "-45"


def test_the_value_of_heading_elsewhere_for_ever_is_a_geometric_series():
    alone = (AHEAD,)
    worth = iterate(alone, trials(alone), 1.0, 1.0, Wishes())
    _, cost = worth.after(0, np.pi / 2.0)
    assert cost[0] == pytest.approx(np.pi / 2.0 / (1.0 - KEPT), rel=1e-6)


def test_who_is_to_stand_stops_and_does_not_turn_about():
    worth = iterate(LED, trials(LED), 0.0, 1.0, Wishes())
    assert best(worth, 0, 0) == "stop"
    assert best(worth, 5, 90) == "stand"
    assert best(iterate(LED, trials(LED), 1.0, 1.0, Wishes()), 5, 0) == "start"


def test_headings_are_linear_in_between_and_meet_behind():
    worth = iterate(TURNS, trials(TURNS), 1.0, 1.0, Wishes())
    _, here = worth.after(0, np.pi - 1e-9)
    _, there = worth.after(0, -np.pi)
    assert here == pytest.approx(there, abs=1e-6)


def test_an_action_that_leads_nowhere_is_named():
    with pytest.raises(ValueError, match="Nothing can follow the action 'stop'"):
        iterate((AHEAD, STOP), trials((AHEAD, STOP)), 1.0, 1.0, Wishes())
