# SPDX-License-Identifier: GPL-3.0-or-later
"""The adjoint method: the gradient of a trajectory's cost by its controls in one sweep back (McNamara et al. 2004)."""

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from .ddp import Solution
from .task import Cost, System, roll_out

Array = NDArray[np.float64]

ITERATIONS = 2000


def gradient(system: System, cost: Cost, x: Array, u: Array) -> Array:
    """By the controls (N, m), from lambda_k = dt Q (x_k - pose) + A^T lambda_{k+1}."""
    A, B = system.slopes(x[:-1], u)
    found = np.zeros_like(u)
    adjoint = cost.final @ (x[-1] - cost.goal)
    for k in range(len(u) - 1, -1, -1):
        found[k] = cost.dt * cost.control @ u[k] + B[k].T @ adjoint
        adjoint = cost.dt * cost.state @ (x[k] - cost.pose) + A[k].T @ adjoint
    return found


def descend(system: System, cost: Cost, start: Array, u: Array, iterations: int = ITERATIONS) -> Solution:
    """Conjugate gradients, as in the thesis (section 6.5.4)."""

    def value(flat: Array) -> tuple[float, Array]:
        controls = flat.reshape(u.shape)
        x = roll_out(system, start, controls)
        return cost.total(x, controls), gradient(system, cost, x, controls).ravel()

    found = scipy.optimize.minimize(value, u.ravel(), jac=True, method="CG", options={"maxiter": iterations})
    controls = found.x.reshape(u.shape)
    x = roll_out(system, start, controls)
    return Solution(x, controls, cost.total(x, controls), bool(found.success))
