# SPDX-License-Identifier: GPL-3.0-or-later
"""Value iteration in the space of costs, what the linear equation is compared with: da Silva 2010, section 5.4.5."""

import numpy as np
from numpy.typing import NDArray

from .axes import interpolation
from .policy import controls
from .problem import Problem

Array = NDArray[np.float64]


def value_iteration(problem: Problem, steps: int) -> Array:
    """Cost to go at each time, (steps + 1, *counts): nodes are moved by their best control, and v interpolated there.

    Noise moves a node by plus and minus a column of B times sqrt(m lambda h), one of m at a time, which has the
    covariance of a step; the linear equation's problem cannot be solved without it.
    """
    h = problem.duration / steps
    x = problem.states
    B = problem.control(x)
    m = B.shape[-1]
    spread = np.sqrt(m * problem.temperature * h) * np.moveaxis(B, -1, 0)
    kicks = np.concatenate([spread, -spread])
    found = np.empty((steps + 1, *x.shape[:-1]))
    found[-1] = problem.terminal(x)
    for k in range(steps - 1, -1, -1):
        u = controls(problem, found[k + 1])
        moved = x + h * (problem.drift(x) + np.einsum("...ij,...j->...i", B, u))
        ahead = np.mean([_at(problem, found[k + 1], moved + kick) for kick in kicks], axis=0)
        found[k] = h * (problem.running(x) + 0.5 * np.sum(u**2, axis=-1)) + ahead
    return found


def _at(problem: Problem, values: Array, points: Array) -> Array:
    found: Array = interpolation(problem.axes, points.reshape(-1, points.shape[-1])) @ values.ravel()
    return found.reshape(points.shape[:-1])
