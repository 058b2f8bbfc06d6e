# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender makes of a quaternion that is combined with the one beneath it, to its rounding.

Combine takes the angle of a strip's quaternion from its w, in single precision: acos(w) near 1 knows no angle between 0
and 3.5e-4 rad. So small differences come out wrong by up to some hundredths of a degree, and along a limb that is a
millimetre. Whoever knows what comes out can have the next control make up for it.
"""

from __future__ import annotations

import numpy as np

from ...core.motion import quaternions
from ...core.motion.quaternions import Array

LAST_DIGIT = 2.0**-24  # of numbers just below one in single precision


def as_combined(base: Array, wanted: Array) -> Array:
    """The rotations (nf, 4) that come out where a strip is to make `wanted` of those beneath, `base`."""
    base = quaternions.normalize(base)
    stored = settled(quaternions.multiply(quaternions.conjugate(base), quaternions.normalize(wanted)))
    angle = np.arccos(np.clip(stored[:, 0], -1.0, 1.0))
    length = np.linalg.norm(stored[:, 1:], axis=1)
    axis = stored[:, 1:] / np.maximum(length, 1e-30)[:, None]
    power = np.column_stack([np.cos(angle), np.sin(angle)[:, None] * axis])
    return quaternions.multiply(base, quaternions.normalize(power))


def settled(difference: Array) -> Array:
    """Quaternions (nf, 4) in single precision whose w Blender, which normalizes them, leaves as it is.

    A length just above one is taken for one; just below, w would change by its last digit.
    """
    w = difference[:, 0].astype(np.float32).astype(np.float64)
    axis = difference[:, 1:] / np.maximum(np.linalg.norm(difference[:, 1:], axis=1), 1e-30)[:, None]
    across = axis * np.sqrt(np.maximum(1.0 - w**2, 0.0) + LAST_DIGIT)[:, None]
    return np.column_stack([w, across.astype(np.float32)])
