# SPDX-License-Identifier: GPL-3.0-or-later
"""A task of finite duration: a system in discrete time, and what is to be paid (da Silva 2010, eq. 2.4 and 6.4.1)."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class System(Protocol):
    """States (n,) and controls (m,) are vectors: what turns is an angle."""

    def step(self, x: Array, u: Array) -> Array:
        """The state after a step."""
        ...

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Of steps from states (N, n) under controls (N, m): by state [A] (N, n, n), by control [B] (N, n, m)."""
        ...


class Cost(NamedTuple):
    """½ sum dt [(x_k - pose)^T Q (x_k - pose) + u_k^T R u_k] + ½ (x_N - goal)^T Q_T (x_N - goal).

    The thesis prints the terms of states without the half. Controllers that are combined share all but the goal.
    """

    dt: float  # s
    pose: Array  # (n,) from which to stray costs
    state: Array  # (n, n) [Q]
    control: Array  # (m, m) [R]
    goal: Array  # (n,)
    final: Array  # (n, n) [Q_T]

    def total(self, x: Array, u: Array) -> float:
        """Of a trajectory, states (N + 1, n) and controls (N, m)."""
        off, end = x[:-1] - self.pose, x[-1] - self.goal
        running = np.einsum("ki,ij,kj", off, self.state, off) + np.einsum("ki,ij,kj", u, self.control, u)
        return 0.5 * float(self.dt * running + end @ self.final @ end)


def roll_out(system: System, start: Array, u: Array) -> Array:
    """States (N + 1, n) from the start on under controls (N, m)."""
    x = [start]
    for control in u:
        x.append(system.step(x[-1], control))
    return np.array(x)
