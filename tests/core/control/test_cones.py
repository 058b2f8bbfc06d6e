# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted forces that the ground can give: a minimum among possible forces, and what it is good for."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from heft.core.control.lookahead import LookAhead, Settings
from heft.core.control.lookahead.cones import FRICTION, make_cones, solve_within_cones
from heft.core.maths.kernel import allocating_kernel
from heft.core.simulation import DivergedError, World


def faces_of(friction):
    """C of one point."""
    return np.array([(x, y, friction) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])


def problem(rng, motors, points):
    """H and b of 1/2 u^T H u - b^T u, redundant in the forces as those of a sole's corners are."""
    m = motors + 3 * points
    G = rng.normal(size=(motors + 6, m))
    return G.T @ G + 1e-4 * np.eye(m), rng.normal(size=m)


@allocating_kernel
def solve(factor, motors, points, cones, control):
    solve_within_cones(factor, motors, points, cones, control)


def solved(H, b, motors, points, friction=FRICTION):
    control, cones = b.copy(), make_cones(motors, points)
    cones.friction[:] = friction
    solve(np.linalg.cholesky(H), motors, points, cones, control)
    return control


@pytest.mark.parametrize("seed", range(10))
def test_no_possible_controls_cost_less(rng, seed):
    """The gradient is nothing but a push of the cones' faces that hold: the condition for a convex minimum."""
    rng, motors, points = np.random.default_rng(seed), 5, 4
    H, b = problem(rng, motors, points)
    friction = rng.uniform(0.2, 1.0, points)
    u = solved(H, b, motors, points, friction)
    faces = scipy.linalg.block_diag(*(faces_of(mu) for mu in friction))
    slack = faces @ u[motors:]
    assert slack.min() > -1e-7
    gradient = H @ u - b
    assert np.abs(gradient[:motors]).max() < 1e-8
    held = slack < 1e-6
    assert held.any()
    _, left = scipy.optimize.nnls(faces[held].T, gradient[motors:])
    assert left < 1e-7


def test_forces_that_are_possible_stay(rng):
    H, _ = problem(rng, 5, 2)
    u = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 0.3, -0.6, 1.0, 0.0, 0.0, 0.0])
    assert solved(H, H @ u, 5, 2) == pytest.approx(u, abs=1e-9)


def test_a_point_that_would_be_pulled_bears_nothing():
    """Two points and no torque: the other bears the same as before, since nothing ties them."""
    assert solved(np.eye(6), np.array([0.0, 0.0, -1.0, 0.1, 0.0, 2.0]), 0, 2) == pytest.approx([0, 0, 0, 0.1, 0, 2])


def test_a_point_that_grips_pulls_and_the_other_keeps_to_its_cone():
    u = solved(np.eye(6), np.array([0.0, 5.0, -1.0, 0.3, 0.0, 1.0]), 0, 2, np.array([np.inf, 0.1]))
    assert u[:3] == pytest.approx([0.0, 5.0, -1.0])
    assert abs(u[3]) + abs(u[4]) == pytest.approx(0.1 * u[5])


@pytest.mark.parametrize("friction", [0.3, 1.0])
def test_forces_are_foreseen_as_the_friction_of_the_ground_has_it(walk, walk_track, friction):
    """Pushed to the side, the feet would be held by as much as there is."""
    controller, world = LookAhead(walk.character, walk_track), World(walk.character, friction=friction)
    world.reset(walk_track.q[0], walk_track.v[0])
    share = 0.0
    for step in range(40):
        if step == 20:
            world.apply_impulse("torso", (0.0, 15.0, 0.0), (0.0, 0.0, 0.2))
        world.step(controller)
        force = controller.predicted_force
        pressing = force[force[:, 2] > 1.0]
        share = max(share, float((np.abs(pressing[:, :2]).sum(axis=1) / pressing[:, 2]).max()))
    assert share == pytest.approx(friction, abs=1e-6)


@pytest.mark.parametrize("possible", [True, False])
def test_a_walk_recovers_from_a_push_backwards_by_forces_that_are_possible(walk, walk_track, possible):
    """Counting on the ground to pull at the toes, it rolls onto its heel and falls."""
    controller = LookAhead(walk.character, walk_track, Settings(possible_forces=possible))
    world = World(walk.character)
    world.reset(walk_track.q[0], walk_track.v[0])
    begin = len(walk_track.q)
    lowest, pulled = np.inf, 0.0
    for step in range(round(4.0 / world.dt)):
        if begin <= step < begin + round(0.1 / world.dt):
            world.apply_impulse("torso", (-100.0 * world.dt, 0.0, 0.0), (0.0, 0.0, 0.2))
        try:
            world.step(controller)
        except DivergedError:
            break
        lowest = min(lowest, world.q[2] - controller.reference_state()[0][2])
        if lowest < -0.25:
            break
        pulled = min(pulled, controller.predicted_force[:, 2].min())
    assert (lowest > -0.05) == possible
    assert (pulled > -1e-6) == possible
