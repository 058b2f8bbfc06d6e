# SPDX-License-Identifier: GPL-3.0-or-later
"""Differential dynamic programming for the abstract model (Jacobson and Mayne 1970; Ye and Liu 2010, appendix A).

Minimise the sum of eq. 2 over N steps, with rays that are not negative, from a given first state to a last one that
meets the target's, Psi = x_N - target_N = 0, by multipliers mu. The parameters p = (mu, t_f) of the cost-to-go V(x, p)
are expanded along with the state,

    V(x + dx, p + dp) = V + Vx dx + Vp dp + 1/2 dx Vxx dx + dx Vxp dp + 1/2 dp Vpp dp

backwards over the steps as they are taken, not over the continuous equations of the appendix. Rays at zero that would
become negative are held (the appendix's projection Z); which they are, each step's complementarity problem tells.

The multipliers are stationary at Psi = slack mu: with a slack above zero the last state may miss its target at the cost
of Psi^2 / (2 slack), the rows that nothing can reach have finite gains, and a great slack leaves a row free.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import lcp
from ...contact.lcp import LcpWorkspace
from ...contact.lcp.workspace import SOLVED
from ...maths.dense import cholesky, cholesky_solve_rows
from ...maths.kernel import kernel
from ...maths.products import add_transposed_product, add_transposed_vector
from ...maths.structure import Structure
from .model import STATE, Problem, add_curvature, derivatives, flow, flow_gradient, stage_cost, step

Array = NDArray[np.float64]

MULTIPLIERS, FINAL_TIME = slice(STATE, 2 * STATE), 2 * STATE  # columns of the parameters beside a state's
PARAMETERS = STATE + 1
WIDTH = STATE + PARAMETERS

ITERATIONS = 40
SHORTER = (0, 4, 12)  # numbers of short steps that are tried in turn
CONVERGED = 1e-6  # greatest change of a ray, as a share of the greatest force of one


class Expansion(Structure):
    """The cost-to-go about a trajectory, and the rays' answers to changes of state and parameters."""

    feedforward: Array  # (N, m) what is still to be changed of each ray
    gain: Array  # (N, m, 25) [K_x, K_mu, K_t]
    gradient: Array  # (N + 1, 12) [V_x]
    curvature: Array  # (N + 1, 12, 25) [V_xx, V_xmu, V_xt]
    parameter_gradient: Array  # (N + 1, 13) [V_mu, V_t]
    parameter_curvature: Array  # (N + 1, 13, 13) [V_mumu, V_mut; V_tmu, V_tt]


class Solution(NamedTuple):
    """A trajectory and the expansion about it."""

    x: Array  # (N + 1, 12)
    ray: Array  # (N, m)
    multiplier: Array  # (12,) [mu]
    expansion: Expansion
    cost: float  # eq. 2, and what missing the target by the slack costs
    iterations: int
    converged: bool


class Scratch(Structure):
    """Arrays of one step's expansion, m rays."""

    fx: Array  # (12, 12)
    fu: Array  # (12, m)
    carried: Array  # (12, m) Vxx fu
    moved: Array  # (12, 12) Vxx fx
    qu: Array  # (m,)
    quz: Array  # (m, 25) [Q_ux, Q_up]
    quu: Array  # (m, m)
    vector: Array  # (m,) of the complementarity problem
    matrix: Array  # (m, m) of the free rays
    right: Array  # (m, 26) their answers to state and parameters, and what is still to be changed of them
    rate: Array  # (12,)
    by_x: Array  # (12,)
    lcp: LcpWorkspace


def make_scratch(rays: int) -> Scratch:
    """For up to so many rays."""
    return Scratch(
        fx=np.zeros((STATE, STATE)),
        fu=np.zeros((STATE, rays)),
        carried=np.zeros((STATE, rays)),
        moved=np.zeros((STATE, STATE)),
        qu=np.zeros(rays),
        quz=np.zeros((rays, WIDTH)),
        quu=np.zeros((rays, rays)),
        vector=np.zeros(rays),
        matrix=np.zeros((rays, rays)),
        right=np.zeros((rays, WIDTH + 1)),
        rate=np.zeros(STATE),
        by_x=np.zeros(STATE),
        lcp=lcp.make_workspace(rays),
    )


def make_expansion(steps: int, rays: int) -> Expansion:
    """Zeros."""
    return Expansion(
        feedforward=np.zeros((steps, rays)),
        gain=np.zeros((steps, rays, WIDTH)),
        gradient=np.zeros((steps + 1, STATE)),
        curvature=np.zeros((steps + 1, STATE, WIDTH)),
        parameter_gradient=np.zeros((steps + 1, PARAMETERS)),
        parameter_curvature=np.zeros((steps + 1, PARAMETERS, PARAMETERS)),
    )


def solve(problem: Problem, start: Array, ray: Array, iterations: int = ITERATIONS) -> Solution:
    """The optimum from the state `start` on, by rays that are near it to begin with.

    By full steps; where they lead nowhere, by shorter ones in the beginning. Look at `converged`.
    """
    for short in SHORTER:
        solution = iterate(problem, start, ray, iterations, short)
        if solution.converged:
            break
    return solution


def iterate(problem: Problem, start: Array, ray: Array, iterations: int, short: int) -> Solution:
    """Some iterations from given rays; the first `short` of them go a third of their way."""
    steps, most = ray.shape
    x, ray = np.zeros((steps + 1, STATE)), np.array(ray, order="C")
    x[0] = start
    expansion = make_expansion(steps, most)
    scratch, multiplier = make_scratch(most), np.zeros(STATE)
    roll_out(problem, expansion, x, ray, np.zeros(STATE), 1.0, scratch)
    finite, converged, count = True, False, 0
    for count in range(1, iterations + 1):
        expansion = make_expansion(steps, most)
        finite = expand(problem, x, ray, multiplier, expansion, scratch, count == 1)
        if not finite:
            break
        change = np.asarray(
            np.linalg.solve(expansion.parameter_curvature[0, :STATE, :STATE], -expansion.parameter_gradient[0, :STATE]),
            float,
        )
        before = ray.copy()
        share = 1.0 / 3.0 if count <= short else 1.0
        roll_out(problem, expansion, x, ray, change, share, scratch)
        multiplier += share * change
        moved = float(np.abs(ray - before).max(initial=0.0))
        converged = count > short and moved <= CONVERGED * max(float(ray.max(initial=0.0)), 1.0)
        if converged:
            break
    if finite:
        expansion = make_expansion(steps, most)
        finite = expand(problem, x, ray, multiplier, expansion, scratch, False)
    cost = total_cost(problem, x, ray) + 0.5 * float(problem.slack @ multiplier**2)
    return Solution(x, ray, multiplier, expansion, cost, count, converged and finite)


@kernel
def total_cost(problem: Problem, x: Array, ray: Array) -> float:
    """Eq. 2 of a trajectory."""
    cost = 0.0
    for k in range(ray.shape[0]):
        cost += problem.dt[k] * stage_cost(problem, k, k, x[k], ray[k])
    return cost


@kernel
def roll_out(
    problem: Problem, expansion: Expansion, x: Array, ray: Array, change: Array, share: float, work: Scratch
) -> None:
    """Step the model by a share of what the expansion and a change of the multipliers (12,) ask for, in place.

    Rows of x are both the old trajectory, which the law's deviations are from, and the new one.
    """
    deviation, after = work.by_x, work.rate
    deviation[:] = 0.0
    for k in range(ray.shape[0]):
        for j in range(problem.rays[k]):
            s = ray[k, j] + share * expansion.feedforward[k, j]
            for i in range(STATE):
                s += expansion.gain[k, j, i] * deviation[i] + share * expansion.gain[k, j, STATE + i] * change[i]
            ray[k, j] = max(s, 0.0)
        step(problem, k, x[k], ray[k], after)
        for i in range(STATE):
            deviation[i] = after[i] - x[k + 1, i]
            x[k + 1, i] = after[i]


@kernel
def expand(
    problem: Problem, x: Array, ray: Array, multiplier: Array, out: Expansion, work: Scratch, held: bool
) -> bool:
    """The backward sweep; False where it gives no finite numbers.

    With `held` the rays that are zero stay so and all others are free: as long as nothing is known of the multipliers,
    no ray seems worth its effort.
    """
    last = ray.shape[0]
    out.curvature[last] = 0.0
    out.parameter_curvature[last] = 0.0
    for i in range(STATE):
        out.gradient[last, i] = multiplier[i]
        out.curvature[last, i, STATE + i] = 1.0
        out.parameter_gradient[last, i] = x[last, i] - problem.target[last, i] - problem.slack[i] * multiplier[i]
        out.parameter_curvature[last, i, i] = -problem.slack[i]
    _set_final_time(problem, x[last], ray[last - 1], out, work)
    finite = True
    for k in range(last - 1, -1, -1):
        finite = finite and _expand_step(problem, k, x[k], ray[k], out, work, held)
    return finite


@kernel
def _expand_step(problem: Problem, k: int, x: Array, ray: Array, out: Expansion, work: Scratch, held: bool) -> bool:
    m, h = problem.rays[k], problem.dt[k]
    ahead, before = out.curvature[k + 1], out.curvature[k]
    derivatives(problem, k, x, ray, work.fx, work.fu)
    # Q_x and Q_u
    for i in range(STATE):
        off = x[i] - problem.target[k, i]
        out.gradient[k, i] = 2.0 * h * (problem.tracking[i] * off + problem.damping[i] * x[i])
    for j in range(m):
        work.qu[j] = 2.0 * h * problem.effort * ray[j]
    add_transposed_vector(work.fx, out.gradient[k + 1], out.gradient[k], STATE, STATE)
    add_transposed_vector(work.fu, out.gradient[k + 1], work.qu, STATE, m)
    # Q_xx and Q_xp side by side
    work.moved[:] = 0.0
    add_transposed_product(ahead, work.fx, work.moved, STATE, STATE, STATE)
    before[:] = 0.0
    add_transposed_product(work.fx, work.moved, before, STATE, STATE, STATE)
    add_transposed_product(work.fx, ahead[:, STATE:], before[:, STATE:], STATE, STATE, PARAMETERS)
    for i in range(STATE):
        before[i, i] += 2.0 * h * (problem.tracking[i] + problem.damping[i])
    # Q_uu, Q_ux and Q_up
    work.carried[:] = 0.0
    work.quz[:] = 0.0
    work.quu[:] = 0.0
    add_transposed_product(ahead, work.fu, work.carried, STATE, STATE, m)
    add_transposed_product(work.fu, work.carried, work.quu, m, STATE, m)
    add_transposed_product(work.carried, work.fx, work.quz, m, STATE, STATE)
    add_transposed_product(work.fu, ahead[:, STATE:], work.quz[:, STATE:], m, STATE, PARAMETERS)
    add_curvature(problem, k, out.gradient[k + 1], work.quz)
    for j in range(m):
        work.quu[j, j] += 2.0 * h * problem.effort
    for i in range(PARAMETERS):
        out.parameter_gradient[k, i] = out.parameter_gradient[k + 1, i]
        for j in range(PARAMETERS):
            out.parameter_curvature[k, i, j] = out.parameter_curvature[k + 1, i, j]
    if not _answer(m, ray, out.feedforward[k], out.gain[k], work, held):
        return False
    # the rays' answers put in
    add_transposed_vector(work.quz, out.feedforward[k], out.gradient[k], m, STATE)
    add_transposed_vector(work.quz[:, STATE:], out.feedforward[k], out.parameter_gradient[k], m, PARAMETERS)
    add_transposed_product(work.quz, out.gain[k], before, STATE, m, WIDTH)
    add_transposed_product(
        work.quz[:, STATE:], out.gain[k][:, STATE:], out.parameter_curvature[k], PARAMETERS, m, PARAMETERS
    )
    for i in range(STATE):
        for j in range(i):
            before[i, j] = 0.5 * (before[i, j] + before[j, i])
            before[j, i] = before[i, j]
    return bool(np.isfinite(before[0, 0]))


@kernel
def _set_final_time(problem: Problem, x: Array, ray: Array, out: Expansion, work: Scratch) -> None:
    """What the end would be a little later, if the last rays went on: the boundary conditions of appendix A.

    With the Hamiltonian H = L + V_x f at the end: V_t = H, V_xt = H_x, V_mut = f, V_tt = H_x f.
    """
    last = out.gradient.shape[0] - 1
    flow(problem, last - 1, x, ray, work.rate)
    flow_gradient(problem, last - 1, ray, out.gradient[last], work.by_x)
    out.parameter_gradient[last, STATE] = stage_cost(problem, last, last - 1, x, ray)
    for i in range(STATE):
        off = x[i] - problem.target[last, i]
        by_state = 2.0 * (problem.tracking[i] * off + problem.damping[i] * x[i]) + work.by_x[i]
        out.curvature[last, i, FINAL_TIME] = by_state
        out.parameter_gradient[last, STATE] += out.gradient[last, i] * work.rate[i]
        out.parameter_curvature[last, i, STATE] = work.rate[i]
        out.parameter_curvature[last, STATE, i] = work.rate[i]
        out.parameter_curvature[last, STATE, STATE] += by_state * work.rate[i]


@kernel
def _answer(m: int, ray: Array, feedforward: Array, gain: Array, work: Scratch, held: bool) -> bool:
    """How the rays answer: the best change of all that leaves none negative, and the gains of those that are free."""
    gain[:] = 0.0
    if m == 0:
        return True
    basis = work.lcp.basis
    for i in range(m):
        basis[i] = ray[i] > 0.0
    if not held:
        for i in range(m):
            s = work.qu[i]
            for j in range(m):
                s -= work.quu[i, j] * ray[j]
            work.vector[i] = s
        status, _, _ = lcp.solve(work.lcp, work.quu, work.vector, m, lcp.AUTO, True)
        if status != SOLVED:
            return False
        for i in range(m):
            basis[i] = work.lcp.z[i] > 0.0
    # the free rays' system, moved up
    free = 0
    for i in range(m):
        feedforward[i] = -ray[i]
        if basis[i]:
            at = 0
            for j in range(i + 1):
                if basis[j]:
                    work.matrix[free, at] = work.quu[i, j]
                    at += 1
            for j in range(WIDTH):
                work.right[free, j] = -work.quz[i, j]
            work.right[free, WIDTH] = -work.qu[i]
            for j in range(m):
                if not basis[j]:  # what goes to zero changes what is best for the free
                    work.right[free, WIDTH] += work.quu[i, j] * ray[j]
            free += 1
    factor = work.matrix[:free, :free]
    if not cholesky(factor, factor):
        return False
    cholesky_solve_rows(factor, work.right[:free])
    free = 0
    for i in range(m):
        if basis[i]:
            for j in range(WIDTH):
                gain[i, j] = work.right[free, j]
            feedforward[i] = work.right[free, WIDTH]
            free += 1
    return True
