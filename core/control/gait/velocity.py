# SPDX-License-Identifier: GPL-3.0-or-later
"""What velocity to want over a step: it varies by itself, and that is learnt rather than fought.

Carensac et al. 2015, "Real-time gait control for partially immersed bipeds", as the paper (section 3) changes it: the
observed velocity is moved to the median of the wanted one before the curve learns its shape, so that shape and mean are
learnt apart, and the offset takes what the mean misses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BINS = 10  # of a step's phase
SHAPE_RATE = 0.3  # share of the seen shape that a step teaches
# Share of the missed mean; with 0.2 three walks of 200 s at 300 Hz fell, with 0.05 a march.
MEAN_RATE = 0.1
# The offset may not ask for more than this beside the command, m/s.
MOST = 0.3


class Learnt(NamedTuple):
    """Of one direction: [curve] and [offset]."""

    curve: Array  # (BINS,) m/s, added to the command
    offset: float  # m/s, added as well


def learn(learnt: Learnt, seen: Array, wanted: float) -> Learnt:
    """After a step in which velocities `seen` (BINS,) were observed; bins that the step never reached are NaN."""
    known = np.isfinite(seen)
    if not known.any():
        return learnt
    target = wanted + learnt.curve
    shape = seen - np.median(seen[known]) + np.median(target[known]) - wanted
    curve = np.where(known, learnt.curve + SHAPE_RATE * (shape - learnt.curve), learnt.curve)
    offset = learnt.offset + MEAN_RATE * (wanted - float(np.mean(seen[known])))
    return Learnt(curve - np.mean(curve), float(np.clip(offset, -MOST, MOST)))
