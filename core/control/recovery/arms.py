# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms that are thrown out: who is pushed raises them aside, the one on the far side higher, and lowers them again."""

import math

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.joint_roles import role
from ...character.tree import BALL
from ...dynamics import body_poses
from ...motion.quaternions import conjugate, exp, multiply, rotate

Array = NDArray[np.float64]

RAISED = math.radians(60.0)  # by whom the extrapolated centre of mass of an arm as loose as can be is so far off:
OFF = 0.09  # m
MOST = 1.5  # times that
NEAR_SIDE = 0.5  # of it, on the side that the body is pushed to
RISES, LOWERS = 0.3, 0.8  # s


def thrown(character: Character, q: Array, rate: float, off: Array, loose: float) -> Array:
    """Poses (n, nq) with arms raised at first, for a body that is `off` (2,) its way, m, and arms that are `loose`."""
    if loose == 0.0:
        return q
    time = np.arange(len(q)) / rate
    share = _eased(time / RISES) * (1.0 - _eased((time - RISES) / LOWERS))
    most = loose * RAISED * min(float(np.linalg.norm(off)) / OFF, MOST)
    result = q.copy()
    for k in np.flatnonzero(share > 0.0):
        position, orientation = body_poses(character, q[k])
        left = rotate(orientation[0], np.array([0.0, 1.0, 0.0]))
        for b, body in enumerate(character.bodies):
            if role(body.name) != "shoulder" or character.tree.joint[b] != BALL:
                continue
            side = math.copysign(1.0, float((position[b] - position[0]) @ left))
            far = float(side * left[:2] @ off) < 0.0
            limb = rotate(orientation[b], np.array(body.center_of_mass))
            axis = np.cross(limb, side * left)
            turn = axis * (share[k] * most * (1.0 if far else NEAR_SIDE) / max(float(np.linalg.norm(axis)), 1e-9))
            own = slice(int(character.tree.position_start[b]), int(character.tree.position_start[b]) + 4)
            result[k, own] = multiply(q[k, own], exp(rotate(conjugate(orientation[b]), turn)))
    return result


def _eased(x: Array) -> Array:
    x = np.clip(x, 0.0, 1.0)
    result: Array = x * x * (3.0 - 2.0 * x)
    return result
