# SPDX-License-Identifier: GPL-3.0-or-later
"""The solution by Fourier series where drift, noise and running cost are constant: da Silva 2010, section 5.2."""

import numpy as np
from numpy.typing import NDArray

from .axes import Axis

Array = NDArray[np.float64]


def fourier_series(axis: Axis, last: Array, drift: float, variance: float, decay: float, remaining: float) -> Array:
    """Reward z a time [T - t] before the last one, at the nodes of a periodic axis.

    Each wave exp(i k x) is multiplied by exp((i k a - k^2 B^2 / 2 - c)(T - t)): what is known is known at T, and waves
    shrink backwards, where the thesis prints data at 0 and growth. [B^2] is the variance, [c] the decay, q / lambda.
    """
    k = 2.0 * np.pi / (axis.high - axis.low) * np.arange(axis.count // 2 + 1)
    factor = np.exp((1j * k * drift - 0.5 * k**2 * variance - decay) * remaining)
    return np.fft.irfft(np.fft.rfft(last) * factor, axis.count)
