# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear-quadratic problems and their solution, which needs no grid."""

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from .axes import Axis
from .problem import Problem, constant

Array = NDArray[np.float64]


def quadratic(
    A: Array, B: Array, Q: Array, S: Array, duration: float, temperature: float, axes: tuple[Axis, ...]
) -> Problem:
    """Costs of x'Q x / 2 on the way and x'S x / 2 at the end."""
    return Problem(
        axes=axes,
        drift=lambda x: x @ A.T,
        control=constant(B),
        running=lambda x: 0.5 * np.einsum("...i,ij,...j", x, Q, x),
        terminal=lambda x: 0.5 * np.einsum("...i,ij,...j", x, S, x),
        duration=duration,
        temperature=temperature,
    )


def slope_by_riccati(
    A: Array, B: Array, Q: Array, S: Array, duration: float, temperature: float
) -> tuple[Array, float]:
    """P and c of v = x'P x / 2 + c; what noise adds is c = lambda / 2 times the integral of tr(B'P B)."""
    n = len(A)

    def back(_: float, packed: Array) -> Array:
        P = packed[:-1].reshape(n, n)
        slope = Q + A.T @ P + P @ A - P @ B @ B.T @ P
        return np.append(slope, 0.5 * temperature * np.trace(B.T @ P @ B))

    packed = solve_ivp(back, (0.0, duration), np.append(S, 0.0), rtol=1e-11, atol=1e-12).y[:, -1]
    return packed[:-1].reshape(n, n), float(packed[-1])


def value_by_riccati(A: Array, B: Array, Q: Array, S: Array, duration: float, temperature: float, x: Array) -> Array:
    """The value v at states (..., n)."""
    P, c = slope_by_riccati(A, B, Q, S, duration, temperature)
    value: Array = 0.5 * np.einsum("...i,ij,...j", x, P, x) + c
    return value
