# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be solved: a control-affine system, its costs, and the grid they are looked at on."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .axes import Axis, states

Array = NDArray[np.float64]
Field = Callable[[Array], Array]  # of states (..., n)


class Problem(NamedTuple):
    """Minimise the mean of g(x_T) + integral of q(x) + u'u / 2, eq. 4.1, under dx = a(x) dt + B(x) (u dt + dw).

    The noise w has the variance lambda a second: the thesis has one, and v = -log z; in general v = -lambda log z. A
    cost of u'R u / 2 is B R^{-1/2} in the place of B.
    """

    axes: tuple[Axis, ...]
    drift: Field  # [a] (..., n)
    control: Field  # [B] (..., n, m)
    running: Field  # [q] (...)
    terminal: Field  # [g] (...)
    duration: float  # [T]
    temperature: float = 1.0  # [lambda]

    @property
    def states(self) -> Array:
        """(*counts, n)."""
        return states(self.axes)

    def covariance(self) -> Array:
        """[C C'] of the noise a second at each node, (*counts, n, n)."""
        B = self.control(self.states)
        return self.temperature * B @ np.swapaxes(B, -1, -2)

    def last_reward(self) -> Array:
        """z(x, T) = exp(-g / lambda), (nodes,): eq. 5.2, where eq. 5.4 and 5.7 print g itself."""
        reward: Array = np.exp(-self.terminal(self.states).ravel() / self.temperature)
        return reward

    def value(self, reward: Array) -> Array:
        """Costs v = -lambda log z, (..., *counts), of z at the nodes (..., nodes): NaN where z is not positive."""
        z = reward.reshape(*reward.shape[:-1], *(axis.count for axis in self.axes))
        logarithm = np.log(z, out=np.full_like(z, np.nan), where=z > 0.0)
        value: Array = -self.temperature * logarithm
        return value


def constant(value: ArrayLike) -> Field:
    """The same everywhere."""
    entry = np.asarray(value, dtype=np.float64)
    return lambda x: np.broadcast_to(entry, x.shape[:-1] + entry.shape)
