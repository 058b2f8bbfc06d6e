# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that slide as planned: friction against the way, and motions whose answer is known in closed form."""

import numpy as np
import pytest
from heft.core.character import Body, Character, Corner, Joint
from heft.core.motion import gliding
from heft.core.motion.fit import Trajectory
from heft.core.motion.schedule import ContactPoint, ContactSchedule
from heft.core.motion.spacetime import Settings, build_reference, model, request
from heft.core.motion.spacetime.problem import make_iterate

from tests.core.motion.spacetime import motions
from tests.core.motion.spacetime.test_optimality import filled

GRAVITY = 9.81
SLIDING = gliding.EASED * Settings.friction
CORNERS = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]


def block():
    contacts = tuple(Corner(f"corner {i}", "block", place) for i, place in enumerate(CORNERS))
    body = Body("block", None, Joint("root", "free"), 20.0, np.diag((0.3, 0.4, 0.5)))
    return Character("block", (body,), contacts)


def pushed(path):
    """A block whose middle goes along a path (nf, 2) on its four corners, and the contacts that go with it."""
    character = block()
    q = np.tile(character.neutral(), (len(path), 1))
    q[:, :2], q[:, 2] = path, 0.1
    points = tuple(ContactPoint(f"corner {i}", 0, place, foot=True) for i, place in enumerate(CORNERS))
    place = np.zeros((len(path), len(points), 3))
    place[..., :2] = path[:, None] + np.array(CORNERS)[:, :2]
    schedule = ContactSchedule(points, np.ones(place.shape[:2], dtype=np.bool_), place)
    return motions.Motion(character, q, motions.velocities(character, q), motions.RATE, schedule)


def problem_of(motion):
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    return request.problem_of(request.checked(motion.character, trajectory, motion.schedule, None, None, None))


def straight(speed, frames=60, heading=0.6):
    way = speed * np.arange(frames) / motions.RATE
    return way[:, None] * np.array([np.cos(heading), np.sin(heading)])


@pytest.mark.parametrize("keyed", [1.0, 2.0])
def test_a_block_that_is_keyed_to_glide_on_slows_down_by_friction_alone(keyed):
    motion = pushed(straight(keyed))
    reference = build_reference(motion.character, Trajectory(motion.rate, motion.q, motion.v), motion.schedule)
    way = np.array([np.cos(0.6), np.sin(0.6)])
    normal = reference.force[..., 2].sum(axis=1)
    np.testing.assert_allclose(reference.force.sum(axis=1)[:, :2], -SLIDING * normal[:, None] * way, atol=1e-9)
    slowing = np.diff(reference.v[:, :2], axis=0) * motion.rate
    np.testing.assert_allclose(slowing, -SLIDING * normal[:, None] / 20.0 * way, atol=1e-9)
    # it stays on the ground, so its weight is borne; the last force leads to a velocity of which no place tells
    assert normal[:-1].mean() == pytest.approx(20.0 * GRAVITY, rel=0.01)
    lost = (reference.v[0, :2] - reference.v[-2, :2]) @ way
    assert lost == pytest.approx(SLIDING * GRAVITY * (len(slowing) - 1) / motion.rate, rel=0.01)
    # as much ahead of what was keyed at first as behind it at last: it lies about it
    off = (reference.q[:, :2] - motion.q[:, :2]) @ way
    assert np.abs(off).max() < 0.1


def test_a_block_that_is_keyed_to_slow_down_by_friction_is_left_as_it_is():
    time = np.arange(60) / motions.RATE
    way = 1.5 * time - 0.5 * SLIDING * GRAVITY * time**2
    motion = pushed(way[:, None] * np.array([0.0, 1.0]))
    reference = build_reference(motion.character, Trajectory(motion.rate, motion.q, motion.v), motion.schedule)
    np.testing.assert_allclose(reference.q[:, :3], motion.q[:, :3], atol=1e-4)


def test_a_block_that_stands_is_held_as_before():
    still = pushed(np.zeros((30, 2)))
    problem = problem_of(still)
    assert not problem.glides.any()
    assert problem.force_axes is problem.axes


def test_friction_goes_over_from_sticking_to_sliding_with_the_planned_speed():
    axes = np.eye(3)
    speeds = np.array([0.0, gliding.STICKS, 0.5 * (gliding.STICKS + gliding.SLIDES), gliding.SLIDES, 3.0])
    velocity = np.stack([np.zeros(5), speeds, np.zeros(5)], axis=1)
    slips = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    found = gliding.sliding_axes(np.tile(axes, (5, 1, 1)), velocity, slips, 1.0)
    share = np.array([0.0, 0.0, 0.5, 1.0, 1.0])
    np.testing.assert_allclose(found[:, 0, 0], 1.0 - share, atol=1e-12)
    np.testing.assert_allclose(found[:, 2, 1], -share * np.array([1.0, 1.0, 1.0, 1.0, gliding.EASED]), atol=1e-12)
    np.testing.assert_array_equal(found[:2], np.tile(axes, (2, 1, 1)))


def test_how_sliding_forces_move_the_body_is_what_differences_tell():
    motion = pushed(straight(0.5, 8))
    problem = problem_of(motion)
    iterate = make_iterate(motion.character, problem, 0.03)
    programme = filled(motion, problem, iterate, 0.03)
    tree, nv = motion.character.tree, motion.character.nv
    work = model.make_model_workspace(tree, len(problem.point_body))
    k, size = 3, 1e-2
    for c, p in enumerate(problem.force_point[k, : problem.force_count[k]].tolist()):
        for axis in range(3):
            found = []
            for sign in (1.0, -1.0):
                iterate.force[k, p, axis] += sign * size
                defect = np.zeros_like(programme.defect)
                model.fill_defects(tree, problem, iterate, work, defect, 0, len(defect))
                found.append(defect[k, nv:].copy())
                iterate.force[k, p, axis] -= sign * size
            column = programme.control[k, :, 3 * c + axis]
            np.testing.assert_allclose(column, (found[0] - found[1]) / (2.0 * size), atol=1e-9)
