# SPDX-License-Identifier: GPL-3.0-or-later
"""The control that a value function on a grid gives, and what comes of it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .axes import gradient, interpolation
from .problem import Problem

Array = NDArray[np.float64]


class Rollout(NamedTuple):
    """Simulated motions from r starts."""

    states: Array  # (steps + 1, r, n)
    costs: Array  # (r,)


def controls(problem: Problem, value: Array) -> Array:
    """Best u = -B' grad v = lambda B' grad z / z at each node, (*counts, m): da Silva 2010, section 5.1."""
    u: Array = -np.einsum("...ij,...i->...j", problem.control(problem.states), gradient(problem.axes, value))
    return u


def roll_out(problem: Problem, policy: Array, starts: Array, noise: Array | None = None) -> Rollout:
    """Follow a policy (steps, *counts, m) from starts (r, n) by Euler's steps.

    Noise (steps, r, m) is of variance one, and scaled by the problem. Between nodes the policy is interpolated.
    """
    steps = len(policy)
    h = problem.duration / steps
    if noise is None:
        noise = np.zeros((steps, len(starts), policy.shape[-1]))
    kicks = np.sqrt(problem.temperature / h) * noise
    states = np.empty((steps + 1, *starts.shape))
    states[0] = starts
    costs = np.zeros(len(starts))
    for k in range(steps):
        x = states[k]
        u = interpolation(problem.axes, x) @ policy[k].reshape(-1, policy.shape[-1])
        costs += h * (problem.running(x) + 0.5 * np.sum(u**2, axis=-1))
        pushed = np.einsum("...ij,...j->...i", problem.control(x), u + kicks[k])
        states[k + 1] = x + h * (problem.drift(x) + pushed)
    return Rollout(states, costs + problem.terminal(states[-1]))
