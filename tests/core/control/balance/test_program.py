# SPDX-License-Identifier: GPL-3.0-or-later
"""The reduced program against eq. 3.9 as it is printed, solved by OSQP; and what its answer must obey."""

import numpy as np
import osqp
import pytest
from heft.core.control.balance import Balance, Settings
from heft.core.control.balance.program import EVENNESS, ROOT, make_program, solve_program
from heft.core.control.track import Track
from heft.core.simulation import World
from scipy import sparse

EDGES = np.array([(0.8, 0, 1), (-0.8, 0, 1), (0, 0.8, 1), (0, -0.8, 1)])


@pytest.fixture
def problem(rng):
    """Nine targets for limbs, two soles of four corners, as random as a mass matrix may be."""
    nv, limbs, corners = 24, 9, 8
    spread = rng.normal(size=(nv, nv))
    M = spread @ spread.T / nv + 2.0 * np.eye(nv)
    bias = rng.normal(size=nv)
    bias[2] += 30.0
    rows = np.zeros((limbs + 3 * corners, nv))
    rows[:limbs] = rng.normal(size=(limbs, nv))
    for sole in range(2):
        motion = rng.normal(size=(6, nv))
        motion[:3, :3], motion[:3, 3:6] = np.eye(3), 0.3 * motion[:3, 3:6]
        for c in range(4):
            x, y, z = rng.normal(scale=0.1, size=3)
            arm = np.array([(0, z, -y), (-z, 0, x), (y, -x, 0)])
            at = limbs + 3 * (4 * sole + c)
            rows[at : at + 3] = motion[:3] + arm @ motion[3:]
    program = make_program(nv, len(rows), 4 * corners)
    program.target[:] = 3.0 * rng.normal(size=nv)
    program.rows[:] = rows
    program.aim[:limbs] = rng.normal(size=limbs)
    program.aim[limbs:] = rows[limbs:] @ rng.normal(size=nv)  # what soles that stay rigid can do
    for c in range(corners):
        at = limbs + 3 * c
        program.edges[:, 4 * c : 4 * c + 4] = rows[at : at + 3, :ROOT].T @ EDGES.T
    program.style[:] = rng.uniform(0.5, 4.0, size=nv)
    return M, bias, limbs, program


def literal(M, bias, limbs, program, weight, *, rigid):
    """Eq. 3.9 in accelerations, torques and shares, by OSQP; `rigid`: contact rows as the printed equality."""
    nv, nx = len(bias), program.edges.shape[1]
    rows, count = program.rows, len(program.rows)
    forces = np.zeros((nv, nx))  # J_p^T V
    for c in range(nx // 4):
        at = limbs + 3 * c
        forces[:, 4 * c : 4 * c + 4] = rows[at : at + 3].T @ EDGES.T
    soft = np.ones(count) if not rigid else np.arange(count) < limbs
    H = np.diag(program.style) + rows.T @ (np.where(soft, weight, 0.0)[:, None] * rows)
    g = program.style * program.target + rows.T @ (np.where(soft, weight, 0.0) * program.aim)
    size = nv + (nv - ROOT) + nx
    P, q = np.zeros((size, size)), np.zeros(size)
    P[:nv, :nv], q[:nv] = H, -g
    P[-nx:, -nx:] = evenness(M, program, weight) * np.eye(nx)
    motors = np.zeros((nv, nv - ROOT))
    motors[ROOT:] = np.eye(nv - ROOT)
    equations = [np.hstack((M, -motors, -forces))]
    lower, upper = [-bias], [-bias]
    if rigid:
        independent = np.linalg.qr(rows[limbs:].T, mode="complete")[0][:, :12]
        equations.append(
            np.hstack((independent.T @ np.linalg.pinv(rows[limbs:]) @ rows[limbs:], np.zeros((12, size - nv))))
        )
        aim = independent.T @ np.linalg.pinv(rows[limbs:]) @ program.aim[limbs:]
        lower.append(aim)
        upper.append(aim)
    equations.append(np.hstack((np.zeros((nx, size - nx)), np.eye(nx))))
    lower.append(np.zeros(nx))
    upper.append(np.full(nx, np.inf))
    solver = osqp.OSQP()
    solver.setup(
        sparse.csc_matrix(np.triu(P)),
        q,
        sparse.csc_matrix(np.vstack(equations)),
        np.concatenate(lower),
        np.concatenate(upper),
        verbose=False,
        eps_abs=1e-10,
        eps_rel=1e-10,
        max_iter=200_000,
        polishing=True,
        adaptive_rho_interval=50,
    )
    found = solver.solve()
    assert found.info.status == "solved"
    return found.x[:nv], found.x[-nx:]


def evenness(M, program, weight):
    """[e] of the program."""
    H = np.diag(program.style) + program.rows.T @ (weight[:, None] * program.rows)
    S = M[:ROOT] @ np.linalg.solve(H, M[:ROOT].T)
    return EVENNESS * np.einsum("ik,ij,jk->k", program.edges, np.linalg.inv(S), program.edges).mean()


def solved(M, bias, program, weight):
    program.weight[:] = weight
    assert solve_program(program, M, bias, len(weight), program.edges.shape[1])
    return program.acceleration.copy(), program.share.copy()


def test_equals_osqp_in_accelerations_torques_and_forces(problem):
    M, bias, limbs, program = problem
    weight = np.where(np.arange(len(program.rows)) < limbs, 0.3, 10.0)
    a, x = solved(M, bias, program, weight)
    expected_a, expected_x = literal(M, bias, limbs, program, weight, rigid=False)
    np.testing.assert_allclose(a, expected_a, atol=1e-6)
    np.testing.assert_allclose(x, expected_x, atol=1e-4)
    assert (x > 1e-3).any()
    assert (x < 1e-9).any()


def test_heavy_contact_rows_are_the_printed_equality(problem):
    """Eq. 3.9c, where soles can obey it; its redundant rows are taken out for OSQP."""
    M, bias, limbs, program = problem
    weight = np.where(np.arange(len(program.rows)) < limbs, 0.3, 1e6)
    a, _ = solved(M, bias, program, weight)
    expected, _ = literal(M, bias, limbs, program, weight, rigid=True)
    np.testing.assert_allclose(a, expected, atol=1e-3)


def test_without_contact_the_root_falls_freely(problem):
    M, bias, limbs, program = problem
    program.weight[:] = 1.0
    assert solve_program(program, M, bias, limbs, 0)
    np.testing.assert_allclose(M[:ROOT] @ program.acceleration + bias[:ROOT], 0.0, atol=1e-10)


@pytest.mark.parametrize("balance", [0.0, 0.3])
def test_dynamics_and_friction_hold_in_a_walk(walk_on_corners, balance):
    character = walk_on_corners.character
    controller, world = Balance(character, Track.of(walk_on_corners), Settings(balance=balance)), World(character)
    world.reset(*controller.reference_state())
    weight = 9.81 * character.total_mass
    for _ in range(60):
        contacts = world.begin_step()
        state = world.state()
        law = controller.law(state, contacts)
        scratch, n = controller._scratch, controller.edges
        a, share = scratch.program.acceleration, scratch.program.share[:n]
        force, rows = share[:, None] * scratch.edge[:n], scratch.edge_row[:n]
        generalised = sum(
            (scratch.program.rows[at : at + 3].T @ f for at, f in zip(rows, force, strict=True)), np.zeros(character.nv)
        )
        generalised[ROOT:] += law.torque - law.implicit * a[ROOT:]
        work = state.work
        residual = work.mass_matrix @ a + work.diagonal * a + work.bias - generalised
        assert np.abs(residual).max() < 1e-6 * weight
        assert (share >= 0.0).all()
        for at in np.unique(rows):
            x, y, z = force[rows == at].sum(axis=0)
            assert abs(x) + abs(y) <= 0.8 * z + 1e-6
        world.step(law)
