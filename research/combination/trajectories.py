# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers that each know one optimal trajectory, and their combination (da Silva 2010, section 6.4.2).

About trajectory i the value is quadratic, v_i + p^T d + ½ d^T P d (eq. 6.7), and the policy linear, u_i + K d. What
a quadratic says far from its trajectory is not to be trusted: costs are never negative, so values are cut off at zero,
and `trust` charges ½ trust |d|² for the distance, to the shares alone.

Trajectories of different duration share a phase: it runs from 0 to 1 at the rates 1 / T_i, by their shares.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from heft.core.control.combination.sharing import shares
from numpy.typing import NDArray

from .ddp import Solution, sweep
from .task import Cost, System

Array = NDArray[np.float64]

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Tracker:
    """A trajectory of N steps with its value and policy."""

    x: Array  # (N + 1, n)
    u: Array  # (N, m)
    gain: Array  # (N, m, n) [K]
    value: Array  # (N + 1,) cost from here on along the trajectory
    gradient: Array  # (N + 1, n) [p]
    curvature: Array  # (N + 1, n, n) [P]
    spread: Array  # (N + 1,) what noise adds for each unit of temperature

    @classmethod
    def of(cls, system: System, cost: Cost, solution: Solution) -> "Tracker":
        """About an optimum."""
        x, u = solution.x, solution.u
        found = sweep(system, cost, x, u)
        off, end = x[:-1] - cost.pose, x[-1] - cost.goal
        running = np.einsum("ki,ij,kj->k", off, cost.state, off) + np.einsum("ki,ij,kj->k", u, cost.control, u)
        costs = 0.5 * np.append(cost.dt * running, end @ cost.final @ end)
        value = np.cumsum(costs[::-1])[::-1].copy()
        return cls(x, u, found.gain, value, found.gradient, found.curvature, found.spread)

    def control(self, x: Array, k: int) -> Array:
        """The policy [pi_i] at step k."""
        result: Array = self.u[k] + self.gain[k] @ (x - self.x[k])
        return result

    def worth(self, x: Array, k: int, temperature: float, trust: float = 0.0) -> float:
        """The value [v_i] at step k, of the task with that much noise."""
        d = x - self.x[k]
        quadratic = self.value[k] + self.gradient[k] @ d + 0.5 * d @ self.curvature[k] @ d
        return float(max(quadratic, 0.0) + temperature * self.spread[k] + 0.5 * trust * d @ d)


class Choice(NamedTuple):
    """What a combination does at a state."""

    control: Array  # (m,)
    shares: Array  # (n,) of the trackers


@dataclass(frozen=True, eq=False)
class Combination:
    """Trackers with weights [w_i] of their goals."""

    trackers: tuple[Tracker, ...]
    weights: Array
    temperature: float  # [lambda]
    trust: float = 0.0

    def choose(self, x: Array, phase: float) -> Choice:
        """Eq. 6.6 at a phase from 0 to 1."""
        steps = [min(int(phase * len(one.u) + ROUNDING), len(one.u) - 1) for one in self.trackers]
        both = list(zip(self.trackers, steps, strict=True))
        worths = [one.worth(x, k, self.temperature, self.trust) for one, k in both]
        parts = shares(worths, self.weights, self.temperature)
        return Choice(parts @ np.array([one.control(x, k) for one, k in both]), parts)

    def follow(self, system: System, start: Array) -> tuple[Array, Array, Array]:
        """From a start to the end of the phase: states (N + 1, n), controls (N, m), shares (N, trackers)."""
        x, u, parts, phase = [start], [], [], 0.0
        while phase < 1.0 - ROUNDING:
            choice = self.choose(x[-1], phase)
            u.append(choice.control)
            parts.append(choice.shares)
            x.append(system.step(x[-1], choice.control))
            phase += float(sum(part / len(one.u) for part, one in zip(choice.shares, self.trackers, strict=True)))
        return np.array(x), np.array(u), np.array(parts)


def coordination_temperature(trackers: tuple[Tracker, ...]) -> float:
    """The median difference of values, each tracker's states as the others see them at the same phase.

    At a temperature of that size shares choose where trackers differ, and still mix where they do not.
    """
    found = []
    for one in trackers:
        for other in trackers:
            for k in range(len(one.u)) if other is not one else ():
                j = k * len(other.u) // len(one.u)
                found.append(abs(one.worth(one.x[k], k, 0.0) - other.worth(one.x[k], j, 0.0)))
    return float(np.median(found))
