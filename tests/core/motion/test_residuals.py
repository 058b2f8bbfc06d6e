# SPDX-License-Identifier: GPL-3.0-or-later
"""What is laid back over a character's motion goes along with the laps of a cycle."""

import numpy as np
import pytest
from heft.core.motion.body_plan import make_body_plan
from heft.core.motion.clip import Clip
from heft.core.motion.cycle import Cycle
from heft.core.motion.cycles import power
from heft.core.motion.fit import Trajectory
from heft.core.motion.quaternions import exp
from heft.core.motion.residuals import Residuals, move_on, take_residuals, with_residuals
from heft.examples import mannequin

from tests.core.motion.skeletons import skeleton, wooden_roles

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


@pytest.mark.parametrize("held", [False, True])
def test_what_others_hold_goes_along_with_the_end_of_a_spine_that_bends_elsewhere_than_its_body(held):
    """Rigify's arms: other bones hold them, which do not deform. A trunk that folds takes them along."""
    apart = {"upper_arm.L", "upper_arm.R"}
    bones = [("held by", None, (0.0, 0.0, 0.0), (0.0, 0.1, 0.0))] if held else []
    for bone in mannequin.skeleton():
        parent = ("held by" if held else None) if bone.name in apart else bone.parent
        bones.append((bone.name, parent, bone.head, bone.tail))
    some = skeleton(bones)
    plan = make_body_plan(some, wooden_roles())
    rest = Clip(some, 24.0, some.head[None], some.orientation[None])
    straight = Trajectory(24.0, plan.character.neutral()[None], np.zeros((1, 0)))
    left = take_residuals(plan, rest, straight)
    np.testing.assert_allclose(with_residuals(plan, straight, left).position, rest.position, atol=1e-12)
    start = plan.character.tree.position_start[plan.character.index("torso")]
    q = straight.q.copy()
    q[0, start : start + 4] = exp(np.array([0.0, np.radians(70.0), 0.0]))
    bent = with_residuals(plan, Trajectory(24.0, q, np.zeros((1, 0))), left).position[0]
    chest = some.index("chest")
    for name in apart:
        bone = some.index(name)
        distance = np.linalg.norm(some.head[bone] - some.head[chest])
        assert np.linalg.norm(bent[bone] - bent[chest]) == pytest.approx(distance, abs=1e-9), name
        assert np.linalg.norm(bent[bone] - some.head[bone]) > 0.2
