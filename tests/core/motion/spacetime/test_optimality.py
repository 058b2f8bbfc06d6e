# SPDX-License-Identifier: GPL-3.0-or-later
"""The first-order conditions of a whole optimisation, and its derivatives against differences of its own cost."""

import numpy as np
import pytest
from heft.core.dynamics import step_derivatives
from heft.core.dynamics.functions import PointForces
from heft.core.maths.beside import helped
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Ends, Settings, model, request, solver
from heft.core.motion.spacetime.problem import friction_faces, make_iterate
from heft.core.motion.spacetime.riccati import make_programme

from tests.core.motion.spacetime import motions


def problem_of(motion, settings=None):
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    return request.problem_of(request.checked(motion.character, trajectory, motion.schedule, None, None, settings))


def filled(motion, problem, iterate, barrier):
    tree = motion.character.tree
    work = model.make_model_workspace(tree, len(problem.point_body))
    group = np.column_stack((work.dynamics.group_first, work.dynamics.group_last))
    controls = motion.character.nv - problem.motors_start + 3 * problem.force_count
    programme = make_programme(group, controls, int(controls.max()))
    frames = len(problem.held)
    model.fill_programme(tree, problem, iterate, work, programme, barrier, np.zeros(frames), 0, frames - 1)
    return programme


def state_matrix(programme, k):
    nv = len(programme.group)
    top = np.zeros((nv, 2 * nv))
    for i, (first, last) in enumerate(programme.group):
        top[i, first : last + 1] = programme.upper[k, i, : last - first + 1]
        top[i, nv + first : nv + last + 1] = programme.upper[k, i, 3 : 4 + last - first]
    return np.vstack((top, programme.lower[k]))


def test_with_a_helping_thread_the_solution_has_the_same_bits():
    motion = motions.walk()
    problem, bounds = problem_of(motion), Ends(cycle=motion.cycle)
    alone = solver.solve(motion.character, problem, bounds, Settings())
    with helped():
        beside = solver.solve(motion.character, problem, bounds, Settings())
    assert alone.defects == beside.defects
    for one, other in zip(alone.iterate, beside.iterate, strict=True):
        assert one.tobytes() == other.tobytes()


def test_stationarity_at_the_solution():
    """Costates backwards (Muico 2009 eq. 7a, c); then eq. 7b, and no pull on the free first state.

    Of a short motion: with every step back the costates' rounding grows 3.5 times.
    """
    motion = motions.squat(8, 0.02)
    settings = Settings(step_tolerance=1e-9)
    problem = problem_of(motion, settings)
    solution = solver.solve(motion.character, problem, Ends(), settings)
    assert solution.converged
    programme = filled(motion, problem, solution.iterate, settings.barrier_last)
    nv = motion.character.nv
    costate, terms, worst = programme.state_gradient[-1].copy(), 0.0, 0.0
    for k in range(len(programme.lower) - 1, -1, -1):
        m = programme.controls[k]
        pull = programme.control[k, :, :m].T @ costate[nv:]
        worst = max(worst, np.abs(pull + programme.control_gradient[k, :m]).max())
        terms = max(terms, np.abs(pull).max())
        costate = programme.state_gradient[k] + state_matrix(programme, k).T @ costate
    assert worst < 1e-4 * terms
    assert np.abs(costate).max() < 1e-6 * np.abs(programme.state_gradient).max()


def test_linearization_is_that_of_the_dynamics_room():
    """On a slope, so that contact axes differ from the world's."""
    motion = motions.squat(6, 0.1)
    problem = problem_of(motion)
    rng = np.random.default_rng(1)
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes = np.ascontiguousarray(problem.axes @ turned)
    problem = problem._replace(axes=axes, force_axes=axes)
    iterate = make_iterate(motion.character, problem, 0.03)
    iterate.torque[:] = rng.normal(size=iterate.torque.shape)
    iterate.force[:] = rng.normal(scale=100.0, size=iterate.force.shape)
    programme = filled(motion, problem, iterate, 0.03)
    nv, motors = motion.character.nv, iterate.torque.shape[1]
    for k in range(len(programme.lower)):
        active = problem.force_point[k, : problem.force_count[k]]
        axes = problem.axes[k + 1, active]
        world = np.einsum("pji,pj->pi", axes, iterate.force[k, active])
        contacts = PointForces(problem.point_body[active], problem.point_local[k + 1, active], world)
        expected = step_derivatives(
            motion.character, iterate.q[k], iterate.v[k], iterate.torque[k], problem.dt, contacts
        )
        np.testing.assert_allclose(state_matrix(programme, k), expected.A, atol=1e-12 * np.abs(expected.A).max())
        B = expected.B[nv:].copy()
        for c, frame in enumerate(axes):
            columns = slice(motors + 3 * c, motors + 3 * c + 3)
            B[:, columns] = B[:, columns] @ frame.T
        m = programme.controls[k]
        np.testing.assert_allclose(programme.control[k, :, :m], B, atol=1e-12 * np.abs(B).max())


@pytest.mark.parametrize("sides", [4, 6])
def test_pyramid_lies_in_the_cone_and_touches_it_at_its_edges(sides):
    faces = friction_faces(0.8, sides)
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    around = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(len(angle))))
    reach = np.min(0.8 / -np.minimum(faces[:, :2] @ around[:, :2].T, -1e-12), axis=0)
    assert reach.max() <= 0.8 + 1e-12
    edges = np.arange(sides) * 720 // sides
    np.testing.assert_allclose(reach[edges], 0.8)


def test_four_sided_pyramid_is_the_papers_diamond():
    """Muico et al. 2009, appendix A: |f_x| + |f_y| <= mu f_n."""
    rng = np.random.default_rng(0)
    force = rng.normal(size=(200, 3)) * (1.0, 1.0, 2.0)
    inside = (friction_faces(0.8, 4) @ force.T >= 0.0).all(axis=0)
    assert (inside == (np.abs(force[:, 0]) + np.abs(force[:, 1]) <= 0.8 * force[:, 2])).all()
