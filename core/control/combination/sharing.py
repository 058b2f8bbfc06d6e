# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has how much say: controllers weighted by what they expect their task to cost (da Silva 2010, eq. 6.1 and 6.6).

With noise in proportion to what control can do, a value function v becomes a reward z = exp(-v / lambda) that obeys a
linear equation. Rewards add: the sum of w_i z_i is the reward of the task whose terminal reward is that of w_i h_i, and
its best control is that of each controller by its share

    alpha_i = w_i z_i / sum w_j z_j.

All is done with logarithms: values of a hundred temperatures would leave nothing of z.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..law import AffineLaw

Array = NDArray[np.float64]


def shares(values: ArrayLike, weights: ArrayLike, temperature: float) -> Array:
    """Alpha (n,) of controllers with values v_i at the present state and weights w_i of their goals (eq. 6.1)."""
    exponents = _exponents(values, weights, temperature)
    rewards = np.exp(exponents - exponents.max())
    result: Array = rewards / rewards.sum()
    return result


def mixed_law(laws: Sequence[AffineLaw], parts: Array) -> AffineLaw:
    """The sum of laws by their shares (n,) (eq. 6.6)."""
    torque = np.zeros_like(laws[0].torque)
    gain: Array | None = None
    implicit: Array | None = None
    for share, law in zip(parts, laws, strict=True):
        torque += share * law.torque
        gain = _with(gain, share, law.contact_gain)
        implicit = _with(implicit, share, law.implicit)
    return AffineLaw(torque, gain, implicit)


def _with(found: Array | None, share: float, part: Array | None) -> Array | None:
    if part is None:
        return found
    return share * part if found is None else found + share * part


def _exponents(values: ArrayLike, weights: ArrayLike, temperature: float) -> Array:
    v, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if not temperature > 0.0:
        raise ValueError(f"The temperature must be positive, not {temperature}.")
    if w.shape != v.shape or not (w >= 0.0).all() or not (w > 0.0).any():
        raise ValueError(f"Each of the {v.size} controllers needs a weight, none negative and not all zero, not {w}.")
    with np.errstate(divide="ignore"):  # a weight of zero is no say at all
        result: Array = np.log(w) - v / temperature
    return result
