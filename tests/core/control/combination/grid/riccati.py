# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear-quadratic problems and their solution."""

import numpy as np
from heft.core.control.combination.grid.problem import Problem, constant
from scipy.integrate import solve_ivp


def quadratic(A, B, Q, S, duration, temperature, axes):
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


def slope_by_riccati(A, B, Q, S, duration, temperature):
    """P and c of v = x'P x / 2 + c; what noise adds is c = lambda / 2 times the integral of tr(B'P B)."""
    n = len(A)

    def back(_, packed):
        P = packed[:-1].reshape(n, n)
        slope = Q + A.T @ P + P @ A - P @ B @ B.T @ P
        return np.append(slope, 0.5 * temperature * np.trace(B.T @ P @ B))

    packed = solve_ivp(back, (0.0, duration), np.append(S, 0.0), rtol=1e-11, atol=1e-12).y[:, -1]
    return packed[:-1].reshape(n, n), packed[-1]


def value_by_riccati(A, B, Q, S, duration, temperature, x):
    P, c = slope_by_riccati(A, B, Q, S, duration, temperature)
    return 0.5 * np.einsum("...i,ij,...j", x, P, x) + c
