# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton and what it does: the one form in which motion from outside enters the core.

Everything is in metres, seconds and the world's frame, Z up; quaternions are w-x-y-z. A bone's frame is Blender's: its
origin at the head, Y along the bone to the tail.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Skeleton:
    """Bones at rest. A parent comes before its children."""

    names: tuple[str, ...]  # (nb,)
    parent: NDArray[np.int64]  # (nb,) index of the parent bone, -1 for a root
    head: Array  # (nb, 3) at rest
    tail: Array  # (nb, 3) at rest
    orientation: Array  # (nb, 4) of the bone's frame at rest


@dataclass(frozen=True)
class Clip:
    """The evaluated poses of a skeleton, sampled evenly."""

    skeleton: Skeleton
    rate: float  # samples per second
    position: Array  # (nf, nb, 3) of each bone's head
    orientation: Array  # (nf, nb, 4) of each bone's frame; successive samples in one hemisphere
    first_frame: float = 0.0  # the source's own number of sample 0, so that messages can name frames as its user does
    frames_per_sample: float = 1.0  # of the source's frames
