# SPDX-License-Identifier: GPL-3.0-or-later
"""The time to a target by velocities of which one may be chosen at a time: da Silva 2010, section 5.4.6.

What bounded controls do, no linear Bellman equation says, for there effort is a price and not a bound. With wheels of
bounded speed the omni-wheeled robot goes along the circular arcs of figure 5-1.
"""

import numpy as np
from numpy.typing import NDArray

from .axes import Axis, interpolation, states

Array = NDArray[np.float64]

NEVER = 1e3  # s, where no way is known yet
CLOSE = 1e-6  # s, change of a sweep that ends it


def minimum_time(axes: tuple[Axis, ...], velocities: Array, target: NDArray[np.bool_], h: float) -> Array:
    """Seconds from each node (*counts) to the target's nodes, by velocities (*counts, k, n): min of h + T(x + h f).

    h times the velocities should come to about a node's distance: what is interpolated at every step is blurred.
    """
    moved = states(axes)[..., None, :] + h * velocities
    matrix = interpolation(axes, moved.reshape(-1, len(axes)))
    choices = velocities.shape[-2]
    outside = ~target.ravel()
    found = np.where(outside, NEVER, 0.0)
    while True:
        better = np.minimum(found, h + (matrix @ found).reshape(-1, choices).min(axis=-1))
        if np.max((found - better)[outside]) < CLOSE:
            times: Array = better.reshape(target.shape)
            return times
        found = np.where(outside, better, 0.0)


def fastest(axes: tuple[Axis, ...], times: Array, state: Array, velocities: Array, h: float) -> int:
    """Which of the velocities (k, n) at a state (n,) to choose."""
    return int(np.argmin(interpolation(axes, state + h * velocities) @ times.ravel()))
