# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that begin elsewhere, another way, with another foot; and the phase that motions share."""

import numpy as np
import pytest
from heft.core.motion.between import between, paces
from heft.core.motion.cycle import Cycle
from heft.core.motion.fit import Trajectory
from heft.core.motion.in_step import begun_later, in_step, moved
from heft.core.motion.spacetime import Ends, build_reference

from tests.core.motion.spacetime import motions


def reference(stride=1.1, frames=132, turn=0.0):
    m = motions.walk(stride=stride, frames=frames, turn=turn, points_of=motions.corners)
    return build_reference(m.character, Trajectory(m.rate, m.q, m.v), m.schedule, bounds=Ends(cycle=m.cycle))


@pytest.fixture(scope="module")
def walk():
    return reference()


@pytest.fixture(scope="module")
def turning():
    return reference(turn=0.3)


def equations(reference):
    """Whether steps lead from frame to frame and contacts stand where they are said to: (defect, slip)."""
    from heft.core.dynamics import difference, step_derivatives
    from heft.core.dynamics.functions import PointForces
    from heft.core.motion.tracks import point_places

    schedule, defect = reference.schedule, 0.0
    for k in range(0, reference.steps, 10):
        forces = PointForces(schedule.body, schedule.position, reference.force[k])
        made = step_derivatives(
            reference.character, reference.q[k], reference.v[k], reference.torque[k], 1.0 / reference.rate, forces
        )
        defect = max(defect, np.abs(difference(reference.character, reference.q[k + 1], made.q)).max())
        defect = max(defect, np.abs(made.v - reference.v[k + 1]).max())
    places = point_places(reference.character, reference.q, schedule.points)
    return defect, np.abs((places - schedule.place)[schedule.active]).max()


@pytest.mark.parametrize("which", ["walk", "turning"])
def test_a_motion_begun_later_or_moved_is_the_same_motion(which, request):
    one = request.getfixturevalue(which)
    before = equations(one)
    for other in (
        begun_later(one, 40),
        moved(one, Cycle((1.0, -2.0), 0.8)),
        begun_later(moved(one, Cycle((3.0, 0.0), 2.0)), 90),
    ):
        after = equations(other)
        assert after[0] < before[0] + 1e-8
        assert after[1] < before[1] + 1e-8
        q, v = other.cycle.move_state(other.character, other.q[0], other.v[0])
        assert q == pytest.approx(other.q[-1], abs=1e-9)
        assert v == pytest.approx(other.v[-1], abs=1e-9)


def test_walks_are_brought_in_step(walk):
    other = moved(begun_later(walk, 50), Cycle((5.0, 1.0), -2.5))
    found = in_step(other, walk)
    assert found.q == pytest.approx(walk.q, abs=1e-9)
    assert (found.carrying == walk.carrying).all()
    assert found.cycle.shift == pytest.approx(walk.cycle.shift, abs=1e-9)
    assert found.force == pytest.approx(walk.force, abs=1e-6)


def test_a_shared_phase_meets_the_same_contacts():
    stands = [np.zeros((100, 1), bool), np.zeros((60, 1), bool)]
    stands[0][:50] = stands[0][80:] = True
    stands[1][:20] = stands[1][40:] = True
    first, second = paces(stands)
    lift, touch = (0.5 + 1.0 / 3.0) / 2.0, (0.8 + 2.0 / 3.0) / 2.0
    assert first.at(lift) == pytest.approx(0.5)
    assert second.at(lift) == pytest.approx(1.0 / 3.0)
    assert (first.at(touch), second.at(touch)) == pytest.approx((0.8, 2.0 / 3.0))
    assert second.rate(0.0) == pytest.approx(1.0 / 3.0 / lift)
    assert first.at(1.0) == second.at(1.0) == 1.0
    stands[1][:] = True  # other contacts: both go evenly
    assert [one.at(0.3) for one in paces(stands)] == [0.3, 0.3]


def test_motions_that_have_nothing_between(walk, turning):
    with pytest.raises(ValueError, match="steps per second"):
        between(walk, type(walk)(**{**walk.__dict__, "rate": 60.0}))
    with pytest.raises(ValueError, match="A cyclic motion"):
        between(walk, type(walk)(**{**walk.__dict__, "cycle": None}))
    assert between(walk, turning, 0.5).cycle.turn == pytest.approx(0.15)
