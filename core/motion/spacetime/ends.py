# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions on the first and last state, on top of the Riccati recursion.

Each end is free or pinned to a state, or the last state is the first one moved on by a cycle, x_N = T x_0. With the
conditions E dx_N - F dx_0 + e = 0 (E = I; F = 0, or the linear map of T) and their multiplier nu, what is left after
the recursion is one small system, whatever the number of frames:

    S_0 dx_0 + s_0 + (G_0 - F^T) nu = 0                     (rows absent where the first state is pinned)
    (G_0^T - F) dx_0 + [e + dx_N at dx_0 = nu = 0] - (sum Z^T Z) nu = 0
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ...character import Character
from ...dynamics.kinematics import difference_positions
from ..cycle import Cycle
from .riccati import QuadraticProgramme, RiccatiWorkspace, factor_programme, sweep_back, sweep_forward

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ends:
    """Where the motion begins and ends: free unless a state (q, v) is given, or a cycle."""

    start: tuple[Array, Array] | None = None
    end: tuple[Array, Array] | None = None
    cycle: Cycle | None = None

    def __post_init__(self) -> None:
        if self.cycle is not None and (self.start is not None or self.end is not None):
            raise ValueError("A cycle has no ends to pin.")


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
    """Which ends are bound, and the factored system of one iteration."""

    start_pinned: bool
    end_bound: bool  # pinned, or bound to the start by a cycle
    step_of_start: Array  # (n, n) F
    factor: tuple[Array, NDArray[np.int32]] | None  # LU of the system; None where nothing is unknown
    sensitivity: Array  # (n, n) G_0^T - F


class SingularFrameError(Exception):
    """The controls' Hessian of a frame is not positive definite."""

    def __init__(self, frame: int) -> None:
        super().__init__(f"The quadratic programme is singular at frame {frame}.")
        self.frame = frame


def factor(
    programme: QuadraticProgramme, work: RiccatiWorkspace, *, start_pinned: bool, end_bound: bool, cycle: Array | None
) -> EndSystem:
    """Factor the recursion and the ends; `cycle` is F (n, n) where the motion is periodic."""
    frame = factor_programme(programme, work, end_bound)
    if frame >= 0:
        raise SingularFrameError(frame)
    n = programme.dx.shape[1]
    F = np.zeros((n, n)) if cycle is None else cycle
    sensitivity = work.end.T - F
    spread = np.tril(work.end_hessian) + np.tril(work.end_hessian, -1).T
    if start_pinned and not end_bound:
        return EndSystem(True, False, F, None, sensitivity)
    if start_pinned:
        system = -spread
    elif not end_bound:
        system = programme.hessian[0]
    else:
        system = np.block([[programme.hessian[0], sensitivity.T], [sensitivity, -spread]])
    return EndSystem(start_pinned, end_bound, F, scipy.linalg.lu_factor(system, check_finite=False), sensitivity)


def solve(
    system: EndSystem, programme: QuadraticProgramme, work: RiccatiWorkspace, start: Array, residual: Array
) -> None:
    """The answer in `programme.dx`, `programme.du`, with the present gradients and defects.

    `start` is dx_0 where the first state is pinned; `residual` is e where the last is bound.
    """
    n = programme.dx.shape[1]
    nu = np.zeros(n)
    sweep_back(programme, work, nu)
    if system.factor is None:
        sweep_forward(programme, start)
        return
    if not system.end_bound:
        sweep_forward(programme, scipy.linalg.lu_solve(system.factor, -programme.costate[0], check_finite=False))
        return
    s_0 = programme.costate[0].copy()
    sweep_forward(programme, np.zeros(n))
    reached = residual + programme.dx[-1]
    if system.start_pinned:
        dx_0 = start
        nu = scipy.linalg.lu_solve(system.factor, -reached - system.sensitivity @ start, check_finite=False)
    else:
        answer = scipy.linalg.lu_solve(system.factor, -np.concatenate((s_0, reached)), check_finite=False)
        dx_0, nu = answer[:n], answer[n:]
    sweep_back(programme, work, nu)
    sweep_forward(programme, np.ascontiguousarray(dx_0))
