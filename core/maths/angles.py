# SPDX-License-Identifier: GPL-3.0-or-later
"""Angles of many directions at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def direction(y: ArrayLike, x: ArrayLike) -> NDArray[np.float64]:
    """The angles of (x, y), rad, rounded alike wherever in memory they come to lie.

    Given columns of a larger array, arctan2 of numpy before 2 takes one of two ways that round differently, by whether
    its result happens to lie right behind that array. So it is given arrays of their own.
    """
    result: NDArray[np.float64] = np.arctan2(np.ascontiguousarray(y), np.ascontiguousarray(x))
    return result
