# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearest points of points, segments and boxes."""

import math

import numpy as np

from ...maths.kernel import kernel
from ...maths.vectors import Vector, add_scaled, dot, subtract


@kernel
def nearest_between_segments(a: Vector, b: Vector, c: Vector, d: Vector) -> tuple[float, float]:
    """Shares s, t of the nearest points a + s (b - a) and c + t (d - c); a segment may be a point.

    Ericson, Real-Time Collision Detection (2005), section 5.1.9. Of parallel segments the middle of the overlap.
    """
    u = subtract(b, a)
    v = subtract(d, c)
    w = subtract(a, c)
    uu = dot(u, u)
    vv = dot(v, v)
    uw = dot(u, w)
    vw = dot(v, w)
    if uu <= 0.0 and vv <= 0.0:
        return 0.0, 0.0
    if uu <= 0.0:
        return 0.0, _clamp(vw / vv)
    if vv <= 0.0:
        return _clamp(-uw / uu), 0.0
    uv = dot(u, v)
    denominator = uu * vv - uv * uv
    if denominator > 1e-12 * uu * vv:
        s = _clamp((uv * vw - uw * vv) / denominator)
    else:
        # Where the ends of the second segment fall on the first.
        first = -uw / uu
        second = first + uv / uu
        low = max(min(first, second), 0.0)
        high = min(max(first, second), 1.0)
        s = _clamp(0.5 * (low + high))
    t = (uv * s + vw) / vv
    if t < 0.0:
        t = 0.0
        s = _clamp(-uw / uu)
    elif t > 1.0:
        t = 1.0
        s = _clamp((uv - uw) / uu)
    return s, t


@kernel
def _clamp(share: float) -> float:
    return max(0.0, min(1.0, share))


@kernel
def nearest_on_box(p: Vector, half: Vector) -> tuple[float, Vector, Vector, int]:
    """Signed distance, outward normal and nearest point of a box about the origin; and which feature that is.

    Outside the feature is 9 (x) + 3 (y) + z of -1, 0, 1 per axis plus 13; inside that of the nearest face.
    """
    x = max(-half[0], min(half[0], p[0]))
    y = max(-half[1], min(half[1], p[1]))
    z = max(-half[2], min(half[2], p[2]))
    arm = subtract(p, (x, y, z))
    squared = dot(arm, arm)
    if squared > 0.0:
        distance = math.sqrt(squared)
        feature = 13 + int(9 * np.sign(arm[0]) + 3 * np.sign(arm[1]) + np.sign(arm[2]))
        return distance, (arm[0] / distance, arm[1] / distance, arm[2] / distance), (x, y, z), feature
    axis = 0
    least = half[0] - abs(p[0])
    for k in range(1, 3):
        depth = half[k] - abs(p[k])
        if depth < least:
            least = depth
            axis = k
    side = 1.0 if p[axis] >= 0.0 else -1.0
    normal = (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)
    feature = 13 + int(9 * normal[0] + 3 * normal[1] + normal[2])
    return -least, normal, add_scaled(p, least, normal), feature
