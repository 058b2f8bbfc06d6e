# SPDX-License-Identifier: GPL-3.0-or-later
"""The quadratic programme of one iteration, solved by a Riccati recursion: linear in the number of frames.

    minimise    sum_k  1/2 dx_k^T Q_k dx_k + q_k^T dx_k + 1/2 du_k^T R_k du_k + r_k^T du_k
    subject to  dx_{k+1} = A_k dx_k + B_k du_k + d_k,        and conditions on the ends (ends.py)

The cost of what is still to come is 1/2 dx^T S dx + s^T dx (Muico et al. 2009 eq. 9 and the recursion below it), with

    t = s' + S' d      g = r + B^T t      H = B^T S' A      L L^T = R + B^T S' B      Y = L^-1 H      y = L^-1 g
    S = Q + A^T S' A - Y^T Y              s = q + A^T t - Y^T y              du = -L^-T (Y dx + y)

where ' means the next frame; S is `curvature`, s `gradient`, Y `half_gain` and y `half_feedforward`. S is never
inverted. What the step's structure gives is used: the upper half of A is the identity and h times it, but for three by
three blocks of ball joints, and the upper half of B is zero.

A condition on the last state, with multiplier nu, adds nu^T dx_N to the cost and so G nu to s, with

    G_N = I        Z = L^-1 B^T G'        G = A^T G' - Y^T Z        (d dx_N / d nu at dx_0 = 0) = -sum Z^T Z
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.dense import copy_into
from ...maths.kernel import kernel, wide_kernel
from ...maths.products import (
    add_symmetric_product,
    add_transposed_product,
    add_transposed_vector,
    add_vector,
    factor_cholesky,
    mirror,
    solve_lower_rows,
    subtract_vector,
)
from ...maths.structure import Structure

Array = NDArray[np.float64]


class QuadraticProgramme(Structure):
    """One iteration's subproblem over N frames; n = 2 nv, and m (at most `most`) controls, fewer at some frames."""

    group: NDArray[np.int64]  # (nv, 2) first and last velocity of the joint's rotation that velocity i belongs to
    controls: NDArray[np.int64]  # (N,) number of controls m
    upper: Array  # (N, nv, 6) upper half of A: in row i, columns group[i, 0] + 0..2, then the same of velocities
    lower: Array  # (N, nv, n) lower half of A
    control: Array  # (N, nv, most) lower half of B
    defect: Array  # (N, n) d
    curvature: Array  # (N + 1, n, n) [Q] of the frame's cost; becomes that of the cost to go [S]
    state_gradient: Array  # (N + 1, n) [q] of the frame's cost
    control_curvature: Array  # (N, most, most) [R] of the frame's cost, lower triangle; becomes [L], above it [L^T]
    control_gradient: Array  # (N, most) [r]
    half_gain: Array  # (N, most, n) [Y = L^T K], of du = -K dx - k
    half_feedforward: Array  # (N, most) [y = L^T k]
    gradient: Array  # (N + 1, n) [s] of the cost to go
    dx: Array  # (N + 1, n) the answer
    du: Array  # (N, most) the answer


class RiccatiWorkspace(Structure):
    """Scratch of one frame."""

    next_by_state: Array  # (n, n) S' A
    transposed: Array  # (n, n) its transpose
    velocity_block: Array  # (nv, nv) S' of velocities
    by_control: Array  # (nv, most) S' B, its velocities
    end: Array  # (n, n) G
    end_next: Array  # (n, n) G'
    end_control: Array  # (most, n) Z
    end_curvature: Array  # (n, n) sum of Z^T Z
    vector: Array  # (n,) t


def make_programme(group: NDArray[np.int64], controls: NDArray[np.int64], most: int) -> QuadraticProgramme:
    """Allocate for N = len(controls) frames."""
    frames, nv = len(controls), len(group)
    n = 2 * nv
    return QuadraticProgramme(
        group=group,
        controls=controls,
        upper=np.zeros((frames, nv, 6)),
        lower=np.zeros((frames, nv, n)),
        control=np.zeros((frames, nv, most)),
        defect=np.zeros((frames, n)),
        curvature=np.zeros((frames + 1, n, n)),
        state_gradient=np.zeros((frames + 1, n)),
        control_curvature=np.zeros((frames, most, most)),
        control_gradient=np.zeros((frames, most)),
        half_gain=np.zeros((frames, most, n)),
        half_feedforward=np.zeros((frames, most)),
        gradient=np.zeros((frames + 1, n)),
        dx=np.zeros((frames + 1, n)),
        du=np.zeros((frames, most)),
    )


def make_riccati_workspace(nv: int, most: int) -> RiccatiWorkspace:
    """Allocate."""
    n = 2 * nv
    return RiccatiWorkspace(
        next_by_state=np.zeros((n, n)),
        transposed=np.zeros((n, n)),
        velocity_block=np.zeros((nv, nv)),
        by_control=np.zeros((nv, most)),
        end=np.zeros((n, n)),
        end_next=np.zeros((n, n)),
        end_control=np.zeros((most, n)),
        end_curvature=np.zeros((n, n)),
        vector=np.zeros(n),
    )


@kernel
def _add_upper_rows(group: NDArray[np.int64], upper: Array, source: Array, out: Array, columns: int) -> None:
    """Add (upper half of A)^T source to `out` (n, columns); `source` (nv, columns)."""
    nv = group.shape[0]
    for i in range(nv):
        first = group[i, 0]
        for j in range(group[i, 1] - first + 1):
            position, velocity = upper[i, j], upper[i, 3 + j]
            for c in range(columns):
                out[first + j, c] += position * source[i, c]
            for c in range(columns):
                out[nv + first + j, c] += velocity * source[i, c]


@wide_kernel
def factor_programme(programme: QuadraticProgramme, work: RiccatiWorkspace, ends: bool, first: int, last: int) -> int:
    """S, L and Y of the frames from `first` up to `last`, backwards: from the end on, down to frame 0, in any pieces.

    With `ends` also G of frame `first` (`work.end`) and `work.end_curvature`. Returns -1, or the frame whose controls'
    Hessian is not positive definite.
    """
    frames, nv = programme.lower.shape[0], programme.lower.shape[1]
    n = 2 * nv
    if last == frames:
        mirror(programme.curvature[frames])
        for i in range(n):
            for j in range(n):
                work.end_curvature[i, j] = 0.0
                work.end[i, j] = 1.0 if i == j else 0.0
    for k in range(last - 1, first - 1, -1):
        m = programme.controls[k]
        S_next, S = programme.curvature[k + 1], programme.curvature[k]
        C, B = programme.lower[k], programme.control[k]
        L, Y = programme.control_curvature[k], programme.half_gain[k]
        # S' A by its transpose A^T S', whose rows are dense
        work.transposed[:, :] = 0.0
        add_transposed_product(C, S_next[nv:], work.transposed, n, nv, n)
        _add_upper_rows(programme.group, programme.upper[k], S_next, work.transposed, n)
        for i in range(n):
            for j in range(n):
                work.next_by_state[i, j] = work.transposed[j, i]
        for i in range(nv):
            for j in range(nv):
                work.velocity_block[i, j] = S_next[nv + i, nv + j]
            for j in range(m):
                work.by_control[i, j] = 0.0
        add_transposed_product(work.velocity_block, B, work.by_control, nv, nv, m)
        add_symmetric_product(B, work.by_control, L, m, nv, 1.0)
        if not factor_cholesky(L, m):
            return k
        for i in range(m):
            for j in range(n):
                Y[i, j] = 0.0
        add_transposed_product(B, work.next_by_state[nv:], Y, m, nv, n)
        solve_lower_rows(L, Y, m, n)
        add_symmetric_product(C, work.next_by_state[nv:], S, n, nv, 1.0)
        _add_upper_rows(programme.group, programme.upper[k], work.next_by_state, S, n)
        add_symmetric_product(Y, Y, S, n, m, -1.0)
        mirror(S)
        if ends:
            _step_end(programme, work, k)
    return -1


@kernel
def _step_end(programme: QuadraticProgramme, work: RiccatiWorkspace, k: int) -> None:
    """G and the sum of Z^T Z, one frame back."""
    nv = programme.lower.shape[1]
    n, m = 2 * nv, programme.controls[k]
    for i in range(n):
        copy_into(work.end[i], work.end_next[i])
    work.end[:, :] = 0.0
    work.end_control[:, :] = 0.0
    add_transposed_product(programme.control[k], work.end_next[nv:], work.end_control, m, nv, n)
    solve_lower_rows(programme.control_curvature[k], work.end_control, m, n)
    add_transposed_product(programme.lower[k], work.end_next[nv:], work.end, n, nv, n)
    _add_upper_rows(programme.group, programme.upper[k], work.end_next, work.end, n)
    add_symmetric_product(work.end_control, work.end_control, work.end_curvature, n, m, 1.0)
    for i in range(m):
        for j in range(n):
            work.end_control[i, j] = -work.end_control[i, j]
    add_transposed_product(programme.half_gain[k], work.end_control, work.end, n, m, n)


@wide_kernel
def sweep_back(programme: QuadraticProgramme, work: RiccatiWorkspace, nu: Array, first: int, last: int) -> None:
    """Gradients s and y of the frames from `first` up to `last` for the present q, r and d, in any pieces."""
    frames, nv = programme.lower.shape[0], programme.lower.shape[1]
    n = 2 * nv
    if last == frames:
        for i in range(n):
            programme.gradient[frames, i] = programme.state_gradient[frames, i] + nu[i]
    t = work.vector
    for k in range(last - 1, first - 1, -1):
        m = programme.controls[k]
        y, s, L = programme.half_feedforward[k], programme.gradient[k], programme.control_curvature[k]
        for i in range(n):
            t[i] = programme.gradient[k + 1, i]
        add_transposed_vector(programme.curvature[k + 1], programme.defect[k], t, n, n)
        for i in range(m):
            y[i] = programme.control_gradient[k, i]
        add_transposed_vector(programme.control[k], t[nv:], y, nv, m)
        for i in range(m):
            y[i] /= L[i, i]
            for j in range(i + 1, m):
                y[j] -= L[i, j] * y[i]  # of L^T, which is above the diagonal
        for i in range(n):
            s[i] = programme.state_gradient[k, i]
        for i in range(m):
            x = y[i]
            for j in range(n):
                s[j] -= programme.half_gain[k, i, j] * x
        add_transposed_vector(programme.lower[k], t[nv:], s, nv, n)
        for i in range(nv):
            first = programme.group[i, 0]
            for j in range(programme.group[i, 1] - first + 1):
                s[first + j] += programme.upper[k, i, j] * t[i]
                s[nv + first + j] += programme.upper[k, i, 3 + j] * t[i]


@kernel
def sweep_forward(programme: QuadraticProgramme, start: Array) -> None:
    """The answer dx, du from dx_0 = `start`; after `sweep_back`."""
    frames, nv = programme.lower.shape[0], programme.lower.shape[1]
    n = 2 * nv
    for i in range(n):
        programme.dx[0, i] = start[i]
    for k in range(frames):
        m = programme.controls[k]
        L, du = programme.control_curvature[k], programme.du[k]
        dx, after = programme.dx[k], programme.dx[k + 1]
        for i in range(m):
            du[i] = -programme.half_feedforward[k, i]
        subtract_vector(programme.half_gain[k], dx, du, m, n)
        for i in range(m - 1, -1, -1):
            du[i] /= L[i, i]
            for j in range(i):
                du[j] -= L[i, j] * du[i]
        for i in range(n):
            after[i] = programme.defect[k, i]
        for i in range(nv):
            first = programme.group[i, 0]
            for j in range(programme.group[i, 1] - first + 1):
                after[i] += programme.upper[k, i, j] * dx[first + j]
                after[i] += programme.upper[k, i, 3 + j] * dx[nv + first + j]
        add_vector(programme.lower[k], dx, after[nv:], nv, n)
        add_vector(programme.control[k], du, after[nv:], nv, m)
