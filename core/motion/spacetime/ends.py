# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions on the first and last state, on top of the Riccati recursion.

Each end is free or pinned to a state, or the last state is the first one moved on by a cycle, x_N = T x_0. With the
conditions E dx_N - F dx_0 + e = 0 (E = I; F = 0, or the linear map of T) and their multiplier nu, what is left after
the recursion is one small system, whatever the number of frames:

    S_0 dx_0 + s_0 + X^T nu = 0                     (rows absent where the first state is pinned)
    X dx_0 + r - (sum Z^T Z) nu = 0                 X = G_0^T - F,   r = e + dx_N at dx_0 = nu = 0

solved by eliminating dx_0 where it is free: (sum Z^T Z + X S_0^-1 X^T) nu = r - X S_0^-1 s_0, which is positive
definite.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics.kinematics import difference_positions
from ...maths.beside import in_line
from ...maths.dense import cholesky_solve
from ...maths.products import add_symmetric_product, factor_cholesky, solve_lower_rows
from ..cycle import Cycle
from .riccati import QuadraticProgramme, RiccatiWorkspace, factor_programme, sweep_back, sweep_forward

Array = NDArray[np.float64]
Fill = Callable[[int, int], None]

PIECE = 16  # frames


@dataclass(frozen=True, eq=False)
class Ends:
    """Where the motion begins and ends: free unless a state (q, v) is given, or a cycle."""

    start: tuple[Array, Array] | None = None
    end: tuple[Array, Array] | None = None
    cycle: Cycle | None = None

    def __post_init__(self) -> None:
        if self.cycle is not None and (self.start is not None or self.end is not None):
            raise ValueError("A cycle has no ends to pin: leave out the bounds, or make no cycle.")


def start_offset(character: Character, q: Array, v: Array, bounds: Ends) -> Array:
    """The change dx_0 (n,) that leads from the states' first one to a pinned start; zero where it is not pinned."""
    result = np.zeros(2 * character.nv)
    if bounds.start is not None:
        _subtract(character, bounds.start, (q[0], v[0]), result)
    return result


def end_offsets(character: Character, q: Array, v: Array, bounds: Ends) -> Array:
    """How far (n,) the last of the states is from where it is bound; zero where it is free."""
    result = np.zeros(2 * character.nv)
    end = bounds.end if bounds.cycle is None else bounds.cycle.move_state(character, q[0], v[0])
    if end is not None:
        _subtract(character, (q[-1], v[-1]), end, result)
    return result


def _subtract(character: Character, x: tuple[Array, Array], base: tuple[Array, Array], out: Array) -> None:
    """Fill `out` with x (-) base."""
    difference_positions(character.tree, base[0], x[0], out[: character.nv])
    out[character.nv :] = x[1] - base[1]


@dataclass(frozen=True)
class EndSystem:
    """The factored system of one iteration; its parts are absent where nothing is unknown."""

    start_factor: Array | None  # (n, n) L of S_0 = L L^T, where the first state is free
    end_factor: Array | None  # (n, n) the same of what multiplies nu once dx_0 is eliminated, where the last is bound
    sensitivity: Array  # (n, n) X = G_0^T - F


class SingularFrameError(Exception):
    """The Hessian of a frame is not positive definite."""

    def __init__(self, frame: int) -> None:
        super().__init__(f"The quadratic program is singular at frame {frame}.")
        self.frame = frame


def factor(
    programme: QuadraticProgramme,
    work: RiccatiWorkspace,
    *,
    start_pinned: bool,
    end_bound: bool,
    cycle: Array | None,
    fill: Fill | None = None,
    sweep: bool = False,
) -> EndSystem:
    """Factor the recursion and the ends; `cycle` is F (n, n) where the motion is periodic.

    `fill` writes the frames from `first` up to `last` of the programme before they are factored, and the end with the
    last of them: a few at a time, so that they are still in the processor's cache. So is what `sweep` makes then: the
    first part of `solve`, if gradients and defects are as they will be.
    """
    singular, nothing = -1, np.zeros(programme.dx.shape[1])

    def fill_piece(piece: range) -> None:
        if fill is not None:
            fill(piece.start, piece.stop)

    def factor_piece(piece: range) -> bool:
        nonlocal singular
        singular = factor_programme(programme, work, end_bound, piece.start, piece.stop)
        if sweep and singular < 0:
            sweep_back(programme, work, nothing, piece.start, piece.stop)
        return singular < 0

    frames, n = programme.lower.shape[0], programme.dx.shape[1]
    pieces = [range(max(last - PIECE, 0), last) for last in range(frames, 0, -PIECE)]
    in_line(pieces, fill_piece, factor_piece)
    if singular >= 0:
        raise SingularFrameError(singular)
    start_factor = end_factor = None
    if not start_pinned:
        start_factor = programme.curvature[0].copy()
        if not factor_cholesky(start_factor, n):
            raise SingularFrameError(0)
    sensitivity = work.end.T - cycle if cycle is not None else work.end.T.copy()
    if end_bound:
        end_factor = work.end_curvature.copy()
        if start_factor is not None:
            by_start = np.ascontiguousarray(sensitivity.T)
            solve_lower_rows(start_factor, by_start, n, n)
            add_symmetric_product(by_start, by_start, end_factor, n, n, 1.0)
        if not factor_cholesky(end_factor, n):
            raise SingularFrameError(len(programme.defect))
    return EndSystem(start_factor, end_factor, sensitivity)


def solve(
    system: EndSystem,
    programme: QuadraticProgramme,
    work: RiccatiWorkspace,
    start: Array,
    residual: Array,
    *,
    swept: bool = False,
) -> None:
    """The answer in `programme.dx`, `programme.du`, with the present gradients and defects.

    `start` is dx_0 where the first state is pinned; `residual` is e where the last is bound. It was `swept` if `factor`
    did that and nothing changed since.
    """
    frames, n = programme.lower.shape[0], programme.dx.shape[1]
    if not swept:
        sweep_back(programme, work, np.zeros(n), 0, frames)
    if system.start_factor is not None:
        start = -programme.gradient[0]
        cholesky_solve(system.start_factor, start)
    if system.end_factor is None:
        sweep_forward(programme, start)
        return
    sweep_forward(programme, np.zeros(n))
    nu = residual + programme.dx[-1] + system.sensitivity @ start
    cholesky_solve(system.end_factor, nu)
    sweep_back(programme, work, nu, 0, frames)
    if system.start_factor is not None:
        start = start - _solved(system.start_factor, nu @ system.sensitivity)
    sweep_forward(programme, start)


def _solved(factor: Array, right: Array) -> Array:
    """L^-T L^-1 right."""
    result = np.ascontiguousarray(right)
    cholesky_solve(factor, result)
    return result
