# SPDX-License-Identifier: GPL-3.0-or-later
"""What is laid back over a character's motion goes along with the laps of a cycle."""

import numpy as np
from heft.core.motion.cycle import Cycle
from heft.core.motion.cycles import power
from heft.core.motion.quaternions import exp
from heft.core.motion.residuals import Residuals, move_on

CYCLE = Cycle((0.2, -1.4), 0.5)
LOOSE = np.array([False, True])
STEPS = 60


def wobbling_and_walking():
    """A bone on a body, which wobbles once a cycle, and one in the world; both lack a little to be periodic."""
    place, turn = np.zeros((STEPS + 1, 2, 3)), exp(np.zeros((STEPS + 1, 2, 3)))
    share = np.arange(STEPS + 1) / STEPS
    place[:, 0, 0] = np.sin(2.0 * np.pi * share) + 0.01 * share
    place[:, 1, :2] = share[:, None] * np.array(CYCLE.shift) + 0.02 * share[:, None]
    turn[:, 1] = exp(np.outer(share, [0.0, 0.0, CYCLE.turn + 0.01]))
    return Residuals(place, turn)


def test_any_frames_of_the_laps_go_on_without_a_seam():
    frames = np.arange(-100, 200)
    laid = wobbling_and_walking().repeated(CYCLE, frames, LOOSE)
    for k in (-90, -30, 0, 17, 100):
        here, later = (int(np.flatnonzero(frames == frame)[0]) for frame in (k, k + STEPS))
        np.testing.assert_allclose(laid.place[later, 0], laid.place[here, 0], atol=1e-12)
        np.testing.assert_allclose(laid.place[later, 1], CYCLE.move_points(laid.place[here, 1]), atol=1e-12)
    steps = np.linalg.norm(np.diff(laid.place[:, 1], axis=0), axis=1)
    assert steps.max() < 2.0 * np.hypot(*CYCLE.shift) / STEPS
    assert np.abs(np.diff(laid.turn, axis=0)).max() < 0.02
    # what was lacking is spread, so that nothing is far from where it was
    own = laid.place[100 : 100 + STEPS + 1]
    assert np.abs(own - wobbling_and_walking().place).max() < 0.02


def test_laps_move_on_what_is_in_the_world():
    place, turn = np.ones((3, 2, 3)), exp(np.zeros((3, 2, 3)))
    move_on(place, turn, np.array([-1, 0, 2]), CYCLE, LOOSE)
    np.testing.assert_array_equal(place[:, 0], 1.0)
    np.testing.assert_allclose(place[0, 1], power(CYCLE, -1).move_points(np.ones(3)))
    np.testing.assert_array_equal(place[1, 1], 1.0)
    np.testing.assert_allclose(place[2, 1], power(CYCLE, 2).move_points(np.ones(3)))
    np.testing.assert_allclose(turn[2, 1], exp(np.array([0.0, 0.0, 2.0 * CYCLE.turn])))
