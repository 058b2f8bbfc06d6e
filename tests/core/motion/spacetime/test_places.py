# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies are wanted where the clip has them, and no motor is asked for more than it can give."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.dynamics import body_poses, integrate, point_jacobian
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Settings, build_reference, request
from heft.core.motion.spacetime.measure import mean_distance
from heft.core.motion.spacetime.problem import make_iterate

from tests.core.motion.spacetime import motions
from tests.core.motion.spacetime.test_effort import CENTER, PLAIN, TRUNK, G, leaner, stands
from tests.core.motion.spacetime.test_optimality import filled, problem_of

WEIGHT = 70.0


def test_places_add_what_differences_of_their_cost_say():
    motion = motions.squat(6, 0.1)
    character, k = motion.character, 3
    problems = [problem_of(motion, Settings(place=weight)) for weight in (0.0, WEIGHT)]
    rng = np.random.default_rng(2)
    q = integrate(character, motion.q[k], 0.1 * rng.normal(size=character.nv), 1.0)
    found = []
    for problem in problems:
        iterate = make_iterate(character, problem, 0.03)
        iterate.q[k] = q
        programme = filled(motion, problem, iterate, 0.03)
        found.append((programme.state_gradient[k].copy(), programme.curvature[k].copy()))
    gradient, curvature = (with_it - without for without, with_it in zip(*found, strict=True))
    wanted = body_poses(character, motion.q[k])[0]

    def cost(way):
        return 0.5 * WEIGHT * np.sum((body_poses(character, integrate(character, q, way, 1.0))[0] - wanted) ** 2)

    nv = character.nv
    steps = 1e-6 * np.eye(nv)
    differences = np.array([(cost(step) - cost(-step)) / 2e-6 for step in steps])
    np.testing.assert_allclose(gradient[:nv], differences, atol=1e-6 * np.abs(differences).max())
    assert (gradient[nv:] == 0.0).all()
    J = np.concatenate([point_jacobian(character, q, b, np.zeros(3)) for b in range(len(character.bodies))])
    np.testing.assert_allclose(np.tril(curvature[:nv, :nv]), np.tril(WEIGHT * J.T @ J), atol=1e-9 * WEIGHT)


def test_bodies_stay_nearer_where_places_count_than_where_angles_alone_do():
    """Of a squat that leans back too far."""
    motion = motions.squat(60, 0.1)
    clip = Trajectory(motion.rate, motion.q, motion.v)
    q = motion.q.copy()
    q[:, 0] -= 0.06
    asked = replace(clip, q=q)
    ways = [
        mean_distance(
            motion.character,
            q,
            build_reference(motion.character, asked, motion.schedule, settings=Settings(place=place)).q,
        )
        for place in (0.0, 300.0)
    ]
    assert ways[1] < 0.8 * ways[0]


def test_feet_are_wanted_as_high_as_they_stand_and_not_where_the_clip_has_them_sink():
    motion = motions.squat(6, 0.1)
    asked = Trajectory(motion.rate, motion.q, motion.v)
    sunk = replace(asked, q=motion.q + np.array([0.02, 0.0, -0.03, *np.zeros(motion.q.shape[1] - 3)]))
    given = request.checked(motion.character, asked, motion.schedule, None, None, Settings(place=WEIGHT), sunk)
    wanted = request.problem_of(given).clip_place
    feet = {point.body for point in motion.schedule.points if point.foot}
    assert feet
    for k, q in enumerate(motion.q):
        off = wanted[k] - body_poses(motion.character, q)[0]
        expected = [(0.02, 0.0, 0.0 if b in feet else -0.03) for b in range(len(off))]
        np.testing.assert_allclose(off, expected, atol=1e-12)


@pytest.mark.parametrize("share", [0.4, 0.8, 2.0])
def test_who_cannot_hold_a_lean_leans_as_far_as_strength_goes(share):
    """m g c sin(a) = strength, or the lean that was keyed."""
    character, lean = leaner(), 0.3
    most = share * TRUNK * G * CENTER * np.sin(lean)
    settings = replace(PLAIN, strength=10.0)
    reference = stands(character, settings=settings, lean=lean, strength=np.array([most]))
    angle = float(reference.q[len(reference.q) // 2, 7])
    assert np.sin(angle) == pytest.approx(min(share, 1.0) * np.sin(lean), rel=0.03)
    assert np.abs(reference.torque).max() < 1.05 * max(most, 1.0)
