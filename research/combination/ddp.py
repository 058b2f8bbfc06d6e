# SPDX-License-Identifier: GPL-3.0-or-later
"""Differential dynamic programming: a trajectory that is optimal nearby, and the quadratic cost-to-go about it.

Jacobson and Mayne 1970, with the system's own curvature: Gauss and Newton's short cut leaves it out, and far from the
trajectory that makes a cost-to-go which is far too small. Curvature comes from central differences of exact slopes.
Controls are free, so nothing here resembles the rays of momentum/ddp.py but the recursion's frame.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .task import Cost, System, roll_out

Array = NDArray[np.float64]

ITERATIONS = 200
CONVERGED = 1e-9  # expected decrease, as a share of the cost
LIFT, MOST_LIFT = 1e-6, 1e10  # of the controls' curvature [mu], where it is lifted at all, and where one gives up
DIFFERENCE = 1e-4
SHORTEST = 2.0**-12  # share of a step that is still tried


class Sweep(NamedTuple):
    """What the backward sweep finds about a trajectory of N steps."""

    feedforward: Array  # (N, m)
    gain: Array  # (N, m, n) [K]: u = u_k + K (x - x_k)
    gradient: Array  # (N + 1, n) [p]
    curvature: Array  # (N + 1, n, n) [P]
    spread: Array  # (N + 1,) ½ sum log det R^-1 Q_uu: times lambda, what noise costs
    decrease: float  # of the cost, expected to first order


class Solution(NamedTuple):
    """An optimum, as far as `converged` says."""

    x: Array  # (N + 1, n)
    u: Array  # (N, m)
    cost: float
    converged: bool


class NotConvexError(ArithmeticError):
    """The controls' curvature is not positive at some step."""


def bends(system: System, x: Array, u: Array) -> Array:
    """Second derivatives (N, n, n + m, n + m) of the steps' results by state and control."""
    n, m = x.shape[1], u.shape[1]
    found = np.zeros((len(u), n, n + m, n + m))
    for j in range(n + m):
        change = np.zeros(n + m)
        change[j] = DIFFERENCE
        above = np.concatenate(system.slopes(x[:-1] + change[:n], u + change[n:]), axis=2)
        below = np.concatenate(system.slopes(x[:-1] - change[:n], u - change[n:]), axis=2)
        found[..., j] = (above - below) / (2.0 * DIFFERENCE)
    return 0.5 * (found + found.swapaxes(2, 3))


def sweep(system: System, cost: Cost, x: Array, u: Array, lift: float = 0.0) -> Sweep:
    """Backwards along a trajectory; NotConvexError where no best control exists.

    The spread is the discrete form of da Silva's ½ lambda ∫ tr(B^T P B) dt, and exact where the system is linear: it is
    what the mean of exp(-v / lambda) over noise of covariance lambda B (dt R)^-1 B^T adds to v.
    """
    n, m = x.shape[1], u.shape[1]
    A, B = system.slopes(x[:-1], u)
    second = bends(system, x, u)
    R = cost.dt * cost.control
    lifted = lift * np.eye(m)
    base = float(np.linalg.slogdet(R)[1])
    steps = len(u)
    feedforward, gain = np.zeros((steps, m)), np.zeros((steps, m, n))
    gradient, curvature = np.zeros((steps + 1, n)), np.zeros((steps + 1, n, n))
    spread, decrease = np.zeros(steps + 1), 0.0
    gradient[-1], curvature[-1] = cost.final @ (x[-1] - cost.goal), cost.final
    for k in range(steps - 1, -1, -1):
        p, P = gradient[k + 1], curvature[k + 1]
        bend = np.tensordot(p, second[k], 1)
        qx = cost.dt * cost.state @ (x[k] - cost.pose) + A[k].T @ p
        qu = R @ u[k] + B[k].T @ p
        qxx = cost.dt * cost.state + A[k].T @ P @ A[k] + bend[:n, :n]
        quu = R + B[k].T @ P @ B[k] + bend[n:, n:]
        qux = B[k].T @ P @ A[k] + bend[n:, :n]
        try:
            factor = np.linalg.cholesky(quu + lifted)
        except np.linalg.LinAlgError as error:
            raise NotConvexError(f"Step {k} has no best control.") from error
        answer = -np.linalg.solve(factor.T, np.linalg.solve(factor, np.column_stack((qu, qux))))
        feedforward[k], gain[k] = answer[:, 0], answer[:, 1:]
        K = gain[k]
        gradient[k] = qx + K.T @ quu @ feedforward[k] + K.T @ qu + qux.T @ feedforward[k]
        P = qxx + K.T @ quu @ K + K.T @ qux + qux.T @ K
        curvature[k] = 0.5 * (P + P.T)
        spread[k] = spread[k + 1] + float(np.log(np.diag(factor)).sum()) - 0.5 * base
        decrease -= float(qu @ feedforward[k])
    return Sweep(feedforward, gain, gradient, curvature, spread, decrease)


def optimise(system: System, cost: Cost, start: Array, u: Array, iterations: int = ITERATIONS) -> Solution:
    """From controls (N, m) downhill; each step is shortened until the cost falls, or the curvature lifted."""
    x = roll_out(system, start, u)
    total, lift, converged = cost.total(x, u), 0.0, False
    for _ in range(iterations):
        try:
            found = sweep(system, cost, x, u, lift)
        except NotConvexError:
            lift = max(LIFT, 10.0 * lift)
            if lift > MOST_LIFT:
                break
            continue
        converged = lift == 0.0 and found.decrease <= CONVERGED * (1.0 + abs(total))
        if converged:
            break
        better = _line_search(system, cost, x, u, found, total)
        if better is None:
            lift = max(LIFT, 10.0 * lift)
            if lift > MOST_LIFT:
                break
            continue
        x, u, total = better
        lift = 0.0 if lift <= LIFT else 0.2 * lift
    return Solution(x, u, total, converged)


def best_of(system: System, cost: Cost, start: Array, guesses: Iterable[Array]) -> Solution:
    """The cheapest optimum that is reached from several first controls."""
    return min((optimise(system, cost, start, guess) for guess in guesses), key=lambda solution: solution.cost)


def _line_search(
    system: System, cost: Cost, x: Array, u: Array, found: Sweep, total: float
) -> tuple[Array, Array, float] | None:
    share = 1.0
    while share >= SHORTEST:
        after, control = np.zeros_like(x), np.zeros_like(u)
        after[0] = x[0]
        for k in range(len(u)):
            control[k] = u[k] + share * found.feedforward[k] + found.gain[k] @ (after[k] - x[k])
            after[k + 1] = system.step(after[k], control[k])
            if not np.abs(after[k + 1]).max() < 1e6:
                break
        else:
            new = cost.total(after, control)
            if math.isfinite(new) and total - new > 1e-4 * share * found.decrease:
                return after, control, new
        share *= 0.5
    return None
