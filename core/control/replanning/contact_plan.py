# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact forces over the whole window that bring the rigid modes to their goal: Jain and Liu 2011, eq. 12 to 16.

    minimise  |B f + c|_W^2 + w |f|^2    over impulses f of points i in steps k, each in its friction cone C

B f + c is how far position and velocity of the six rigid modes will be from their goal (12 rows). However long the
window, that is all that the forces decide together; so the dual problem has twelve unknowns, lambda = W (B f + c):

    f = P_C(-B^T lambda / w),    F(lambda) = W^-1 lambda - c - B f = 0

with the projection P_C on the cone, which has a closed form (the cone is round here, not the paper's hexagon). F is the
gradient of a convex function and piecewise smooth: Newton's method with its generalised derivative (Qi and Sun 1993)
finds the root in a few iterations. An impulse in step k acts for n - k steps, so B's columns are those of the point,
Z, times that time and times one, and sums over k are three numbers for each of a point's entries. A grip may pull (eq.
14): its cone is everything.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.dense import cholesky, cholesky_solve, copy_into
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, row, set_row

Array = NDArray[np.float64]

ROWS = 12  # positions of six rigid modes, then their velocities
MOST_ITERATIONS = 60
CONVERGED = 1e-11  # of F, relative to c
DECREASE = 1e-4  # share of the slope that a step must keep (Armijo)
SHORTEST = 1e-10  # share of a Newton step


class ContactProblem(Structure):
    """Points (np) that may carry impulses in steps (n) of the window; arrays may have room for more."""

    columns: Array  # (np, 6, 3) [Z] rigid modes' answer to a unit impulse along normal and two tangents
    friction: Array  # (np,) coefficient; infinite for a grip
    active: NDArray[np.bool_]  # (n, np) the point carries force in this step
    miss: Array  # (12,) [c] positions, then velocities at the window's end without contact, less the goal
    weight: Array  # (12,) diagonal of W


class ContactWork(Structure):
    """Scratch of the solver, and the answer."""

    impulse: Array  # (n, np, 3) normal and two tangents, N s
    multiplier: Array  # (12,) lambda
    trial: Array  # (12,)
    slope: Array  # (12,) F, then the step
    hessian: Array  # (12, 12)
    sums: Array  # (3, 9) of one point: its derivatives times 1, t and t^2
    reach: Array  # (3, 2) of one point: its impulses times t and 1


def make_contact_problem(points: int, steps: int) -> ContactProblem:
    """Allocate."""
    return ContactProblem(
        columns=np.zeros((points, 6, 3)),
        friction=np.zeros(points),
        active=np.zeros((steps, points), dtype=np.bool_),
        miss=np.zeros(ROWS),
        weight=np.zeros(ROWS),
    )


def make_contact_work(points: int, steps: int) -> ContactWork:
    """Allocate."""
    return ContactWork(
        impulse=np.zeros((steps, points, 3)),
        multiplier=np.zeros(ROWS),
        trial=np.zeros(ROWS),
        slope=np.zeros(ROWS),
        hessian=np.zeros((ROWS, ROWS)),
        sums=np.zeros((3, 9)),
        reach=np.zeros((3, 2)),
    )


@kernel
def plan_contacts(problem: ContactProblem, points: int, steps: int, dt: float, effort: float, work: ContactWork) -> int:
    """Fill `work.impulse`; returns the number of iterations, -1 if there is no answer.

    `effort` is w, on squares of N s.
    """
    x, slope, H = work.multiplier, work.slope, work.hessian
    x[:] = 0.0
    size = 0.0
    for r in range(ROWS):
        size = max(size, abs(problem.miss[r]))
    value = _value(problem, points, steps, dt, effort, x, work)
    for iteration in range(MOST_ITERATIONS):
        _derivatives(problem, points, steps, dt, effort, x, work)
        largest = 0.0
        for r in range(ROWS):
            largest = max(largest, abs(slope[r]))
            work.trial[r] = slope[r]
        if not largest < np.inf:
            return -1
        if largest <= CONVERGED * size:
            return iteration
        if not cholesky(H, H):
            return -1
        cholesky_solve(H, slope)
        descent = 0.0
        for r in range(ROWS):
            descent += slope[r] * work.trial[r]
        share = 1.0
        while True:
            for r in range(ROWS):
                work.trial[r] = x[r] - share * slope[r]
            found = _value(problem, points, steps, dt, effort, work.trial, work)
            # to rounding, where the value can no longer tell, a whole step is a good one
            if found <= value - DECREASE * share * descent or descent <= 1e-13 * (1.0 + abs(value)):
                break
            share *= 0.5
            if share < SHORTEST:
                return -1
        copy_into(work.trial, x)
        value = found
    return -1


@kernel
def _pulled(problem: ContactProblem, i: int, time: float, effort: float, x: Array) -> Vector:
    """-B^T lambda / w of one impulse."""
    n = t = s = 0.0
    for r in range(6):
        a = -(time * x[r] + x[6 + r]) / effort
        n += a * problem.columns[i, r, 0]
        t += a * problem.columns[i, r, 1]
        s += a * problem.columns[i, r, 2]
    return n, t, s


@kernel
def project_on_cone(friction: float, f: Vector) -> Vector:
    """The nearest force whose tangents, the last two, are at most `friction` times its normal."""
    if friction == np.inf:
        return f
    r = math.sqrt(f[1] * f[1] + f[2] * f[2])
    if r <= friction * f[0]:
        return f
    if friction * r <= -f[0]:
        return 0.0, 0.0, 0.0
    n = (f[0] + friction * r) / (1.0 + friction * friction)
    return n, friction * n * f[1] / r, friction * n * f[2] / r


@kernel
def _value(
    problem: ContactProblem, points: int, steps: int, dt: float, effort: float, x: Array, work: ContactWork
) -> float:
    """The dual objective, whose gradient is F; and the impulses at these multipliers."""
    total = 0.0
    for r in range(ROWS):
        total += x[r] * (0.5 * x[r] / problem.weight[r] - problem.miss[r])
    for k in range(steps):
        time = (steps - k) * dt
        for i in range(points):
            f = (0.0, 0.0, 0.0)
            if problem.active[k, i]:
                f = project_on_cone(problem.friction[i], _pulled(problem, i, time, effort, x))
            set_row(work.impulse[k], i, f)
            total += 0.5 * effort * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
    return total


@kernel
def _derivatives(
    problem: ContactProblem, points: int, steps: int, dt: float, effort: float, x: Array, work: ContactWork
) -> None:
    """`slope` F and `hessian` W^-1 + B P' B^T / w."""
    F, H = work.slope, work.hessian
    H[:] = 0.0
    for r in range(ROWS):
        F[r] = x[r] / problem.weight[r] - problem.miss[r]
        H[r, r] = 1.0 / problem.weight[r]
    for i in range(points):
        if not _sum_over_steps(problem, i, steps, dt, effort, x, work):
            continue
        Z = problem.columns[i]
        for r in range(6):
            for k in range(3):
                F[r] -= Z[r, k] * work.reach[k, 0]
                F[6 + r] -= Z[r, k] * work.reach[k, 1]
        for power in range(3):
            D = work.sums[power]
            for r in range(6):
                a = (Z[r, 0] * D[0] + Z[r, 1] * D[3] + Z[r, 2] * D[6]) / effort
                b = (Z[r, 0] * D[1] + Z[r, 1] * D[4] + Z[r, 2] * D[7]) / effort
                c = (Z[r, 0] * D[2] + Z[r, 1] * D[5] + Z[r, 2] * D[8]) / effort
                for s in range(6):
                    entry = a * Z[s, 0] + b * Z[s, 1] + c * Z[s, 2]
                    if power == 0:
                        H[6 + r, 6 + s] += entry
                    elif power == 1:
                        H[6 + r, s] += entry
                    else:
                        H[r, s] += entry


@kernel
def _sum_over_steps(
    problem: ContactProblem, i: int, steps: int, dt: float, effort: float, x: Array, work: ContactWork
) -> bool:
    """`reach` and `sums` of a point; False if it carries nothing."""
    reach, sums = work.reach, work.sums
    reach[:] = 0.0
    sums[:] = 0.0
    carries = False
    mu = problem.friction[i]
    square = 1.0 + mu * mu
    for k in range(steps):
        if not problem.active[k, i]:
            continue
        time = (steps - k) * dt
        f = row(work.impulse[k], i)
        for j in range(3):
            reach[j, 0] += time * f[j]
            reach[j, 1] += f[j]
        p = _pulled(problem, i, time, effort, x)
        r = math.sqrt(p[1] * p[1] + p[2] * p[2])
        if mu == np.inf or r <= mu * p[0]:
            carries = True
            for power in range(3):
                weight = time**power
                sums[power, 0] += weight
                sums[power, 4] += weight
                sums[power, 8] += weight
        elif mu * r > -p[0]:
            carries = True
            t, s = p[1] / r, p[2] / r
            along, turned = mu / square, mu * (p[0] + mu * r) / (square * r)
            for power in range(3):
                weight = time**power
                D = sums[power]
                D[0] += weight / square
                D[1] += weight * along * t
                D[2] += weight * along * s
                D[3] += weight * along * t
                D[6] += weight * along * s
                D[4] += weight * (mu * along * t * t + turned * s * s)
                D[5] += weight * (mu * along - turned) * t * s
                D[7] += weight * (mu * along - turned) * t * s
                D[8] += weight * (mu * along * s * s + turned * t * t)
    return carries
