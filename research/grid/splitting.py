# SPDX-License-Identifier: GPL-3.0-or-later
"""A splitting scheme in log z that keeps z positive: for problems of two and three dimensions.

Central differences of the linear Bellman equation (da Silva 2010, section 5.3.2) give z < 0, which has no logarithm,
where drift outweighs diffusion from node to node, as it does for the brick on ice. Here a step of the equation
dz/dt = q z / lambda - a' grad z - tr(C C' hess z) / 2 is taken in parts, each of which is exact but for the grid and
leaves z positive, in Strang's order and so to second order in the step:

    half of the running cost, half of the drift, all of the noise, half of the drift, half of the running cost.

The drift carries log z along its own flow, interpolated by cubics. The noise averages z along each axis with a normal
distribution over the nodes, exp(-theta k^2), whose theta gives it the variance of the step: as good as the integral
where it is wider than the grid's spacing, the three-point stencil where it is narrower, and positive in both. Steep
rewards need the former: steps so long that a standard deviation of their noise reaches about a node. What leaves the
grid waits at its edge, since z = 0 there (eq. 5.8) has no logarithm.

log z is kept throughout, and each line of nodes is scaled by its greatest z before it is averaged: nothing is floored.
Sums of solutions are solutions only up to the grid's error, for log z is interpolated and not z.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .axes import CUBIC, Axis, interpolation
from .problem import Problem

Array = NDArray[np.float64]

ROUNDING = 1e-12
REACH = 9.0  # standard deviations of the noise that are summed


def solve_by_splitting(problem: Problem, steps: int) -> Array:
    """Cost to go v = -lambda log z at each time, (steps + 1, *counts)."""
    h = problem.duration / steps
    x = problem.states
    cost = 0.5 * h * problem.running(x) / problem.temperature
    kernels = [_kernel(axis, h * each) for axis, each in zip(problem.axes, _variances(problem), strict=True)]
    carried = interpolation(problem.axes, _feet(problem, 0.5 * h), CUBIC) if np.any(problem.drift(x)) else None

    def carry(reward: Array) -> Array:
        return reward if carried is None else (carried @ reward.ravel()).reshape(reward.shape)

    found = np.empty((steps + 1, *x.shape[:-1]))
    found[-1] = -problem.terminal(x) / problem.temperature
    for k in range(steps - 1, -1, -1):
        reward = carry(found[k + 1] - cost)
        for axis, kernel in enumerate(kernels):
            reward = _spread(reward, kernel, axis)
        found[k] = carry(reward) - cost
    if not np.all(np.isfinite(found)):
        raise ValueError(
            "The costs span more than numbers hold along one axis: a smaller grid or a higher temperature is needed."
        )
    return -problem.temperature * found


def _feet(problem: Problem, h: float) -> Array:
    """Where the drift takes each node in h, (nodes, n): Runge and Kutta's fourth-order step."""
    x = problem.states.reshape(-1, len(problem.axes))
    k1 = problem.drift(x)
    k2 = problem.drift(x + 0.5 * h * k1)
    k3 = problem.drift(x + 0.5 * h * k2)
    k4 = problem.drift(x + h * k3)
    feet: Array = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return feet


def _variances(problem: Problem) -> Array:
    """Of the noise a second along each axis, (n,)."""
    covariance = problem.covariance().reshape(-1, len(problem.axes), len(problem.axes))
    alone = np.diag(np.diag(covariance[0]))
    if np.max(np.abs(covariance - alone)) > ROUNDING * np.max(alone):
        raise ValueError("The splitting scheme needs noise that is the same everywhere and does not couple axes.")
    return np.diag(alone)


def _kernel(axis: Axis, variance: float) -> Array | None:
    """What noise of a variance does along an axis, (count, count), rows of sum one; None where there is none."""
    if variance == 0.0:
        return None
    nodes = np.arange(axis.count)
    kernel = np.zeros((axis.count, axis.count))
    for offset, share in _normal(variance / axis.spacing**2):
        reached = (nodes + offset) % axis.count if axis.periodic else np.clip(nodes + offset, 0, axis.count - 1)
        kernel[nodes, reached] += share
    return kernel


def _normal(variance: float) -> list[tuple[int, float]]:
    """Whole numbers, and their shares of a distribution exp(-theta k^2) of a given variance."""
    reach = int(np.ceil(REACH * np.sqrt(variance))) + 1
    k = np.arange(-reach, reach + 1)

    def shares(theta: float) -> Array:
        weights = np.exp(-theta * k**2)
        return np.asarray(weights / weights.sum())

    narrow = max(1.0, 1.0 - np.log(variance))  # at twice this theta, the variance is less than wanted
    theta = brentq(lambda theta: shares(theta) @ k**2 - variance, 0.0, 2.0 * narrow, xtol=1e-15)
    return list(zip(k.tolist(), shares(theta).tolist(), strict=True))


def _spread(reward: Array, kernel: Array | None, axis: int) -> Array:
    """The log of the kernel's product with z along an axis."""
    if kernel is None:
        return reward
    lines = np.moveaxis(reward, axis, -1)
    greatest = lines.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.moveaxis(greatest + np.log(np.exp(lines - greatest) @ kernel.T), -1, axis)
