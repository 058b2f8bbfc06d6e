# SPDX-License-Identifier: GPL-3.0-or-later
"""Time warps: closed forms of when a moment comes, and their inverse."""

import numpy as np
import pytest
from heft.core.motion.playback import Playback, rising


def test_as_keyed_nothing_changes():
    steady = Playback()
    assert not steady.changes
    assert steady.played(1.5) == pytest.approx(1.5)
    assert steady.shown(-0.5) == pytest.approx(-0.5)


def test_a_steady_speed_is_a_factor():
    slow = Playback(speed=np.array([0.8]))
    assert slow.changes
    assert slow.played(2.0) == pytest.approx(2.5)
    assert slow.shown(2.5) == pytest.approx(2.0)


def test_a_ramp_takes_the_integral_of_time_over_speed():
    """From 1 to 1/2 within a second: 2 ln 2 s."""
    ramp = Playback(np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    assert ramp.played(1.0) == pytest.approx(2.0 * np.log(2.0))
    assert ramp.speed_at(0.5) == pytest.approx(0.75)
    assert ramp.played(2.0) - ramp.played(1.0) == pytest.approx(2.0)


@pytest.mark.parametrize("late", [0.0, 0.3, -0.2])
def test_shown_is_the_inverse_of_played(late):
    rng = np.random.default_rng(0)
    moment = np.cumsum(rng.uniform(0.02, 0.1, 40)) - 0.5
    made = Playback(moment, rng.uniform(0.3, 2.0, 40), (0.5,)).shifted(late)
    assert made.played(0.0) == pytest.approx(0.0, abs=1e-12)
    for x in rng.uniform(-2.0, 4.0, 50):
        assert made.shown(made.played(x)) == pytest.approx(x, abs=1e-12)
    assert made.transitions == pytest.approx((0.5 - late,))


def test_a_switch_counts_where_it_is_turned_on():
    assert rising([False, True, True, False, True]) == [1, 4]
    assert rising([True, False]) == [0]


@pytest.mark.parametrize(
    ("playback", "what"),
    [
        ({"speed": np.array([0.0])}, "between 0.05 and 20"),
        ({"moment": np.zeros(2), "speed": np.ones(2)}, "must increase"),
        ({"moment": np.zeros(2)}, "one for each time"),
        ({"speed": np.array([np.nan])}, "finite"),
        ({"transitions": (np.inf,)}, "finite time"),
    ],
)
def test_what_makes_no_sense_is_refused(playback, what):
    with pytest.raises(ValueError, match=what):
        Playback(**playback)
