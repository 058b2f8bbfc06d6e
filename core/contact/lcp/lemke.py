# SPDX-License-Identifier: GPL-3.0-or-later
"""Lemke's method with lexicographic ties: the reference.

Cottle, Pang and Stone, The Linear Complementarity Problem, algorithms 4.4.1 and 4.9 (degeneracy). An artificial
variable z0 with a covering vector d > 0 makes w = M z + q + d z0 feasible; complementary pivots then drive z0 back to
zero. Any d will do in theory, and each takes another path: where rounding spoils one, another seldom fails as well. The
tableau holds the nonbasic columns only,

    basic + T nonbasic = b,      T starts as [-M  -d],   b as q,

in n rows of n + 2 entries, b last. The columns of the basis inverse that the lexicographic rule compares are those of
w: a unit vector while w_k is basic, a column of T once it is not.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import inlined_kernel, kernel
from .workspace import PIVOT_LIMIT, RAY, SOLVED, LcpWorkspace

PIVOT_TOLERANCE = 1e-9
# Ratios tie if to choose either makes no variable more negative than this. Wider ones (1e-10 of the ratio, whatever the
# pivots) leave bases of a hundred unknowns infeasible by 1e-8 ... 1e-6.
TIE_TOLERANCE = 1e-12
# Entries of the basis inverse as near as this, of their size, are equal in the lexicographic order.
SAME_ENTRY = 1e-10
# Where z0 is below this, w = M z + q holds to the same amount in scaled units: the point is the answer. Degenerate
# problems (stacks, redundant corners) get here many pivots before z0 leaves, or with rounding it never does.
SOLVED_TOLERANCE = 1e-11
# The same on a ray, where there is nothing better to hope for but polishing.
RAY_TOLERANCE = 1e-9
# Entries of the covering vectors but the first: spread between these by multiples of the golden ratio.
LEAST_COVER, MOST_COVER = 0.4, 2.4
GOLDEN = 0.6180339887498949
# Times this and back, a number of 53 bits falls into two halves.
HALVES = 2.0**27 + 1.0


@kernel
def lemke(
    workspace: LcpWorkspace, q: NDArray[np.float64], n: int, regularisation: float, path: int, precise: bool
) -> tuple[int, int]:
    """Solve for M' + regularisation I and q; fill basis and point[0], return status and pivots.

    `path` chooses the covering vector: 0 for (1, ..., 1), others as they come. Variables are numbered w_k = k,
    z_k = n + k, z0 = 2 n. With `precise` the tableau has twice the digits, at ten times the price.
    """
    T = workspace.tableau[: n * (n + 2)].reshape(n, n + 2)
    low = workspace.tableau_low[: n * (n + 2)].reshape(n, n + 2)
    if precise:
        for i in range(n):
            for j in range(n + 2):
                low[i, j] = 0.0
    b = n + 1
    basic = workspace.basic
    nonbasic = workspace.nonbasic
    place = workspace.place
    A = workspace.matrix[: n * n].reshape(n, n)
    for i in range(n):
        for j in range(n):
            T[i, j] = -A[i, j]
        T[i, i] -= regularisation
        T[i, n] = -_cover(path, i)
        T[i, b] = q[i]
        basic[i] = i
        nonbasic[i] = n + i
        place[i] = -1 - i
        place[n + i] = i
    nonbasic[n] = 2 * n
    place[2 * n] = n

    # z0 enters at the smallest value that makes w feasible; of equal rows the last is the lexicographic choice.
    leave = 0
    for i in range(1, n):
        if T[i, b] * T[leave, n] >= T[leave, b] * T[i, n]:
            leave = i
    limit = 20 * n + 100
    pivots = 0
    if T[leave, b] < 0.0:
        enter = n
        while True:
            if precise:
                _pivot_precisely(T, low, n, leave, enter, workspace.row, workspace.row_low)
            else:
                _pivot(T, n, leave, enter, workspace.row)
            out = basic[leave]
            into = nonbasic[enter]
            basic[leave] = into
            nonbasic[enter] = out
            place[into] = -1 - leave
            place[out] = enter
            pivots += 1
            row_of_z0 = -1 - place[2 * n]
            if row_of_z0 < 0 or T[row_of_z0, b] <= SOLVED_TOLERANCE:
                break
            if pivots >= limit:
                return PIVOT_LIMIT, pivots
            enter = place[out + n if out < n else out - n]
            leave = _leaving_row(T, n, enter, basic, place, workspace.indices[1])
            if leave < 0:
                if T[row_of_z0, b] <= RAY_TOLERANCE:
                    break
                return RAY, pivots

    z = workspace.point[0]
    for i in range(n):
        row_of = -1 - place[n + i]
        workspace.basis[i] = row_of >= 0
        z[i] = max(T[row_of, b], 0.0) if row_of >= 0 else 0.0
    return SOLVED, pivots


@inlined_kernel
def _cover(path: int, i: int) -> float:
    return 1.0 if path == 0 else LEAST_COVER + (MOST_COVER - LEAST_COVER) * ((path * (i + 1) * GOLDEN) % 1.0)


@kernel
def _pivot(T: NDArray[np.float64], n: int, leave: int, enter: int, pivot_row: NDArray[np.float64]) -> None:
    """Exchange the basic variable of row `leave` with the nonbasic one of column `enter`.

    The row is copied to `pivot_row`, so that the compiler sees that the update does not overlap it.
    """
    width = n + 2
    inverse = 1.0 / T[leave, enter]
    T[leave, enter] = 1.0
    for j in range(width):
        T[leave, j] *= inverse
        pivot_row[j] = T[leave, j]
    for i in range(n):
        factor = T[i, enter]
        if i != leave and factor != 0.0:
            T[i, enter] = 0.0
            for j in range(width):
                T[i, j] -= factor * pivot_row[j]


@inlined_kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """The rounded product and its error (Dekker 1971): halves of 26 bits multiply without one."""
    product = a * b
    c, d = HALVES * a, HALVES * b
    a_high, b_high = c - (c - a), d - (d - b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def _pivot_precisely(
    T: NDArray[np.float64],
    low: NDArray[np.float64],
    n: int,
    leave: int,
    enter: int,
    pivot_row: NDArray[np.float64],
    row_low: NDArray[np.float64],
) -> None:
    """The same exchange where each entry is a sum of two numbers, T + low, the second what the first has rounded."""
    width = n + 2
    pivot, pivot_low = T[leave, enter], low[leave, enter]
    inverse = 1.0 / pivot
    product, error = _product(pivot, inverse)
    inverse_low = inverse * (1.0 - product - error - pivot_low * inverse)
    T[leave, enter], low[leave, enter] = 1.0, 0.0
    for j in range(width):
        product, error = _product(T[leave, j], inverse)
        error += T[leave, j] * inverse_low + low[leave, j] * inverse
        pivot_row[j] = product + error
        row_low[j] = error - (pivot_row[j] - product)
        T[leave, j], low[leave, j] = pivot_row[j], row_low[j]
    for i in range(n):
        factor, factor_low = T[i, enter], low[i, enter]
        if i != leave and factor != 0.0:
            T[i, enter], low[i, enter] = 0.0, 0.0
            for j in range(width):
                product, error = _product(factor, pivot_row[j])
                error += factor * row_low[j] + factor_low * pivot_row[j]
                before = T[i, j]
                after = before - product
                part = after - before  # what the difference took of the product (Knuth)
                rest = (before - (after - part)) - (product + part) + (low[i, j] - error)
                T[i, j] = after + rest
                low[i, j] = rest - (T[i, j] - after)


@kernel
def _leaving_row(
    T: NDArray[np.float64],
    n: int,
    enter: int,
    basic: NDArray[np.int64],
    place: NDArray[np.int64],
    tied: NDArray[np.int64],
) -> int:
    """Minimum ratio test; among ties z0 first, then the lexicographically smallest row. -1 on a ray."""
    b = n + 1
    least = np.inf
    largest = 1.0
    for i in range(n):
        pivot = T[i, enter]
        if pivot > PIVOT_TOLERANCE:
            ratio = max(T[i, b], 0.0) / pivot
            least = min(least, ratio)
            largest = max(largest, pivot)
    if least == np.inf:
        return -1
    bound = least + TIE_TOLERANCE / largest
    ties = 0
    for i in range(n):
        pivot = T[i, enter]
        if pivot > PIVOT_TOLERANCE and max(T[i, b], 0.0) <= bound * pivot:
            if basic[i] == 2 * n:
                return i
            tied[ties] = i
            ties += 1
    k = 0
    while ties > 1 and k < n:
        column = place[k]
        least = np.inf
        for t in range(ties):
            i = tied[t]
            entry = T[i, column] if column >= 0 else (1.0 if -1 - column == i else 0.0)
            least = min(least, entry / T[i, enter])
        bound = least + SAME_ENTRY * max(1.0, abs(least))
        kept = 0
        for t in range(ties):
            i = tied[t]
            entry = T[i, column] if column >= 0 else (1.0 if -1 - column == i else 0.0)
            if entry / T[i, enter] <= bound:
                tied[kept] = i
                kept += 1
        ties = kept
        k += 1
    return int(tied[0])
