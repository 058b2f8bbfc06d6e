# SPDX-License-Identifier: GPL-3.0-or-later

from fractions import Fraction

import numpy as np
import pytest
from heft.core.contact import lcp
from heft.core.contact.lcp import LcpStatus, make_workspace, solve_lcp
from heft.core.contact.lcp.lemke import lemke
from hypothesis import given, settings
from hypothesis import strategies as st
from lcp_problems import (
    TEXTBOOK,
    box_on_plane,
    character_on_feet,
    copositive,
    feet_on_bodies,
    foot_on_a_see_saw,
    p_matrix,
    positive_semidefinite,
    stack_of_boxes,
    unsolvable,
)

TOLERANCE = 1e-8


def assert_solves(solution, M, q):
    """The definition itself, on the problem as it was given."""
    assert solution.status is LcpStatus.SOLVED
    assert solution.residual <= 1e-9
    M, q = np.asarray(M), np.asarray(q)
    w = M @ solution.z + q
    scale = max(1.0, np.abs(q).max())
    assert (solution.z >= 0).all()
    assert (solution.w >= 0).all()
    np.testing.assert_allclose(solution.w, w, atol=TOLERANCE * scale)
    assert np.abs(np.minimum(solution.z, w)).max() <= TOLERANCE * scale


def assert_failed(solution):
    assert solution.status is not LcpStatus.SOLVED
    assert solution.z is None
    assert solution.w is None
    assert solution.basis is None


@pytest.mark.parametrize("method", ["auto", "lemke"])
@pytest.mark.parametrize("name", [name for name in TEXTBOOK if name != "CPS_3"])
def test_siconos_collection_is_solved(name, method):
    M, q, solutions = TEXTBOOK[name]
    solution = solve_lcp(M, q, method)
    assert_solves(solution, M, q)
    assert any(np.allclose(solution.z, known, atol=1e-10) for known in solutions)


def test_cps_3_ends_lemke_on_a_ray_without_an_answer():
    M, q, _ = TEXTBOOK["CPS_3"]
    solution = solve_lcp(M, q, "lemke")
    assert_failed(solution)
    assert solution.status is LcpStatus.RAY


def test_cps_3_is_solved_rightly_by_the_methods_behind_lemke():
    M, q, solutions = TEXTBOOK["CPS_3"]
    solution = solve_lcp(M, q, "auto")
    assert_solves(solution, M, q)
    assert any(np.allclose(solution.z, known, atol=1e-10) for known in solutions)


def test_nonnegative_q_needs_no_pivot():
    solution = solve_lcp(-np.eye(3), [0.0, 1.0, 2.0])
    assert_solves(solution, -np.eye(3), [0.0, 1.0, 2.0])
    assert solution.pivots == 0
    np.testing.assert_array_equal(solution.z, 0)


def every_contact_problem():
    rng = np.random.default_rng(4)
    for mass_ratio in (1e-3, 1.0, 1e3):
        for resting in (True, False):
            yield f"box {mass_ratio} {resting}", box_on_plane(rng, mass_ratio, resting=resting)
            yield "frictionless box", box_on_plane(rng, mass_ratio, friction=0.0, resting=resting)
            yield "sticky box", box_on_plane(rng, mass_ratio, friction=100.0, resting=resting)
    for mass_ratio in (1.0, 1e3, 1e6):
        for feet in (1, 2, 4, 8):
            for gaps in (False, True):
                for _ in range(3):
                    yield f"{feet} feet {mass_ratio}", character_on_feet(rng, feet, mass_ratio=mass_ratio, gaps=gaps)
    for mass_ratio in (1.0, 1e2, 1e3):
        for heavy_on_top in (True, False):
            for _ in range(4):
                yield f"stack {mass_ratio} {heavy_on_top}", stack_of_boxes(rng, 8, mass_ratio, heavy_on_top)


def test_redundant_and_badly_scaled_contact_problems_are_all_solved():
    for _, problem in every_contact_problem():
        assert_solves(solve_lcp(problem.M, problem.q), problem.M, problem.q)


def test_feet_on_bodies_of_very_different_mass_are_all_solved():
    """A natural residual within a hundredth of a micrometre a second, in scaled units, whatever method it took."""
    rng = np.random.default_rng(1)
    for _ in range(1000):
        problem = feet_on_bodies(rng)
        solution = solve_lcp(problem.M, problem.q)
        assert solution.status is LcpStatus.SOLVED
        assert solution.residual <= 1e-8


def test_a_problem_of_low_rank_is_solved_in_whatever_order_its_unknowns_come():
    """192, of rank 76, with 32 zeros on the diagonal: rounding leads Lemke's six paths astray in every second order."""
    rng = np.random.default_rng(1)
    for _ in range(577):
        problem = feet_on_bodies(rng)
    for seed in (1, 2, 4, 5):
        order = np.random.default_rng(seed).permutation(len(problem.q))
        M, q = problem.M[np.ix_(order, order)], problem.q[order]
        solution = solve_lcp(M, q)
        assert solution.status is LcpStatus.SOLVED
        assert solution.residual <= 1e-8
        assert exact_residual(M, q, solution.z) <= 1e-5  # m/s


def test_lemke_with_twice_the_digits_solves_what_rounding_spoils():
    """Hilbert's matrix of nine rows times 232,792,560 is one of whole numbers; M z = q at z = 1, where q is exact."""
    n = 9
    M = np.array([[232_792_560 // (i + j + 1) for j in range(n)] for i in range(n)], dtype=float)
    workspace = make_workspace(n)
    workspace.matrix[:] = M.ravel()
    error = []
    for precise in (False, True):
        status, _ = lemke(workspace, -M.sum(axis=1), n, 0.0, 0, precise)
        assert status == LcpStatus.SOLVED
        error.append(np.abs(workspace.point[0] - 1.0).max())
    assert error[0] > 1e-6
    assert error[1] < 1e-15


def exact_residual(M, q, z):
    """max |min(z, M z + q)| in whole numbers' arithmetic: what no rounding has touched."""
    support = np.flatnonzero(z)
    w = [
        Fraction(b) + sum((Fraction(row[j]) * Fraction(z[j]) for j in support.tolist()), Fraction(0))
        for row, b in zip(M.tolist(), q.tolist(), strict=True)
    ]
    return max(float(abs(min(Fraction(a), b))) for a, b in zip(z.tolist(), w, strict=True))


def test_rounding_in_a_row_that_ought_to_be_empty_changes_nothing():
    rng = np.random.default_rng(2)
    for _ in range(100):
        problem = foot_on_a_see_saw(rng)
        assert (np.diag(problem.M)[:30] < 1e-30).any()
        exact = np.where(np.abs(problem.M) > 1e-14, problem.M, 0.0)
        solution = solve_lcp(problem.M, problem.q, "lemke")
        assert_solves(solution, problem.M, problem.q)
        assert solution.pivots == solve_lcp(exact, problem.q, "lemke").pivots


def test_resting_box_carries_its_weight_whatever_the_corners_share():
    problem = box_on_plane(np.random.default_rng(1), mass_ratio=7.0, friction=0.5)
    solution = solve_lcp(problem.M, problem.q)
    assert solution.z[:4].sum() == pytest.approx(7.0 * 9.81 / 120, rel=1e-12)
    np.testing.assert_allclose(problem.velocity_after(solution.z), 0, atol=1e-12)


@pytest.mark.parametrize("method", ["lemke", "interior_point"])
def test_methods_agree_on_the_velocity_after_the_step(method):
    rng = np.random.default_rng(8)
    compared = 0
    for _ in range(40):
        problem = character_on_feet(rng, feet=2)
        if problem.M[-1, problem.contacts - 1] > 1.0:
            continue  # much friction on redundant points: the velocity itself need not be unique
        first, other = solve_lcp(problem.M, problem.q), solve_lcp(problem.M, problem.q, method)
        if other.z is None:
            continue
        np.testing.assert_allclose(problem.velocity_after(first.z), problem.velocity_after(other.z), atol=1e-7)
        compared += 1
    assert compared > 20


@pytest.mark.parametrize("n", [1, 2, 7, 30, 100, 200])
def test_positive_semidefinite_p_and_copositive_matrices(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        for M, q in (positive_semidefinite(rng, n, max(1, n // 3)), p_matrix(rng, n), copositive(rng, n)):
            assert_solves(solve_lcp(M, q), M, q)


@pytest.mark.parametrize("n", [2, 5, 20, 60, 200])
def test_unsolvable_problems_end_without_an_answer(n):
    rng = np.random.default_rng(n)
    for _ in range(3):
        M, q = unsolvable(rng, n)
        for method in ("auto", "lemke", "block_pivoting", "interior_point"):
            assert_failed(solve_lcp(M, q, method))
        assert solve_lcp(M, q).status is LcpStatus.RAY


def test_empty_row_with_negative_q_is_unsolvable():
    assert_failed(solve_lcp(np.zeros((3, 3)), [-1.0, 0.0, 1.0]))


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_random_integer_problems_are_solved_or_refused(n, seed):
    """Small integers: as degenerate as it gets. Whatever calls itself solved is."""
    rng = np.random.default_rng(seed)
    M = rng.integers(-2, 3, (n, n)).astype(float)
    q = rng.integers(-2, 3, n).astype(float)
    for method in ("auto", "lemke", "block_pivoting", "interior_point"):
        solution = solve_lcp(M, q, method)
        if solution.status is LcpStatus.SOLVED:
            assert_solves(solution, M, q)
        else:
            assert_failed(solution)


def solvable_by_enumeration(M, q):
    """Whether some basis gives an answer (the slow, obvious twin)."""
    n = len(q)
    for mask in range(2**n):
        basis = [i for i in range(n) if mask >> i & 1]
        z = np.zeros(n)
        if basis:
            block = M[np.ix_(basis, basis)]
            if abs(np.linalg.det(block)) < 1e-9:
                continue
            z[basis] = np.linalg.solve(block, -q[basis])
        if z.min() >= -1e-9 and (M @ z + q).min() >= -1e-9:
            return True
    return False


def test_degenerate_copositive_plus_problems_agree_with_enumeration():
    """On positive semidefinite matrices Lemke decides solvability (Cottle, Pang and Stone, theorem 4.4.12)."""
    rng = np.random.default_rng(3)
    outcomes = set()
    for _ in range(300):
        n = int(rng.integers(1, 6))
        G = rng.integers(-1, 2, (n, int(rng.integers(1, n + 1)))).astype(float)
        S = rng.integers(-1, 2, (n, n)).astype(float)
        M = G @ G.T + S - S.T
        q = rng.integers(-2, 2, n).astype(float)
        solution = solve_lcp(M, q, "lemke")
        solvable = solvable_by_enumeration(M, q)
        outcomes.add(solvable)
        assert (solution.status is LcpStatus.SOLVED) == solvable
        assert solution.status in (LcpStatus.SOLVED, LcpStatus.RAY)
    assert outcomes == {True, False}


def test_scaling_a_problem_scales_its_solution():
    rng = np.random.default_rng(5)
    problem = character_on_feet(rng, feet=2)
    scale = np.exp2(rng.integers(-20, 20, len(problem.q)))
    plain = solve_lcp(problem.M, problem.q)
    scaled = solve_lcp(problem.M * np.outer(scale, scale), problem.q * scale * 2.0**10)
    np.testing.assert_allclose(scaled.z * scale, plain.z * 2.0**10, rtol=1e-7, atol=1e-9)


def test_warm_start_from_the_last_basis_takes_one_factorisation():
    rng = np.random.default_rng(6)
    for _ in range(20):
        problem = character_on_feet(rng, feet=2)
        first = solve_lcp(problem.M, problem.q)
        again = solve_lcp(problem.M, problem.q * 1.01, guess=first.basis)
        assert_solves(again, problem.M, problem.q * 1.01)
        assert again.pivots == 1
        np.testing.assert_allclose(again.z, first.z * 1.01, rtol=1e-6, atol=1e-9)


def test_a_wrong_guess_costs_time_and_nothing_else():
    rng = np.random.default_rng(7)
    for _ in range(20):
        problem = character_on_feet(rng, feet=2)
        guess = rng.random(len(problem.q)) < 0.5
        assert_solves(solve_lcp(problem.M, problem.q, guess=guess), problem.M, problem.q)


def test_same_problem_same_bits_whatever_the_workspace_held():
    rng = np.random.default_rng(9)
    workspace = make_workspace(120)
    problems = [character_on_feet(rng, feet=2) for _ in range(10)]
    first = [solve_lcp(p.M, p.q).z for p in problems]
    for p, z in reversed(list(zip(problems, first, strict=True))):
        assert solve_lcp(p.M, p.q, workspace=workspace).z.tobytes() == z.tobytes()


def test_kernel_solves_the_leading_block_of_larger_arrays():
    problem = character_on_feet(np.random.default_rng(2), feet=2)
    n = len(problem.q)
    M = np.full((n + 7, n + 7), np.nan)
    q = np.full(n + 7, np.nan)
    M[:n, :n], q[:n] = problem.M, problem.q
    workspace = make_workspace(n + 7)
    status, residual, pivots = lcp.solve(workspace, M, q, n, lcp.AUTO, False)
    assert status == LcpStatus.SOLVED
    assert residual <= 1e-9
    assert pivots > 0
    np.testing.assert_array_equal(workspace.z[:n], solve_lcp(problem.M, problem.q).z)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_give_a_status(bad):
    M, q = np.eye(3), -np.ones(3)
    spoiled = M.copy()
    spoiled[2, 1] = bad
    for solution in (solve_lcp(spoiled, q), solve_lcp(M, [-1.0, bad, 0.0])):
        assert_failed(solution)
        assert solution.status is LcpStatus.NOT_FINITE


def test_huge_and_tiny_numbers_never_give_a_wrong_answer():
    for size in (1e-300, 1e-150, 1e150, 1e300):
        solution = solve_lcp(np.array([[2.0, 1.0], [1.0, 2.0]]) * size, [-5.0, -6.0])
        if solution.status is LcpStatus.SOLVED:
            np.testing.assert_allclose(solution.z * size, [4 / 3, 7 / 3], rtol=1e-9)
        else:
            assert_failed(solution)


def test_no_unknowns_is_solved():
    solution = solve_lcp(np.zeros((0, 0)), np.zeros(0))
    assert solution.status is LcpStatus.SOLVED
    assert solution.z.shape == solution.w.shape == (0,)


@pytest.mark.parametrize(
    ("M", "q", "options", "words"),
    [
        (np.eye(3), np.ones(2), {}, "M must have the shape"),
        (np.ones(3), np.ones(3), {}, "M must have the shape"),
        (np.eye(3), np.ones((3, 1)), {}, "q must be a vector"),
        (np.eye(3), np.ones(3), {"method": "guess"}, "method must be one of"),
        (np.eye(3), np.ones(3), {"guess": [True]}, "guess must have the shape"),
        (np.eye(3), np.ones(3), {"workspace": make_workspace(2)}, "workspace holds 2"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(M, q, options, words):
    with pytest.raises(ValueError, match=words):
        solve_lcp(M, q, **options)


def test_drake_moby_gives_the_same_velocities():
    solvers = pytest.importorskip("pydrake.solvers")
    moby = solvers.MobyLcpSolver()
    rng = np.random.default_rng(10)
    compared = 0
    for k in range(100):
        problem = box_on_plane(rng, resting=k % 2 == 0) if k % 4 == 0 else character_on_feet(rng, feet=1 + k % 2)
        if problem.M[-1, problem.contacts - 1] > 1.2:
            continue
        program = solvers.MathematicalProgram()
        unknowns = program.NewContinuousVariables(len(problem.q))
        program.AddLinearComplementarityConstraint(problem.M, problem.q, unknowns)
        theirs = moby.Solve(program)
        ours = solve_lcp(problem.M, problem.q)
        assert_solves(ours, problem.M, problem.q)
        if theirs.is_success():
            z = theirs.GetSolution(unknowns)
            np.testing.assert_allclose(problem.velocity_after(ours.z), problem.velocity_after(z), atol=1e-6)
            compared += 1
    assert compared > 50
