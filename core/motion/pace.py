# SPDX-License-Identifier: GPL-3.0-or-later
"""At which pace a motion could happen: what nothing gives it, played slower or quicker.

Played n times slower, velocities are n times and accelerations n squared times smaller, so that what has to act is

    tau(n) = g(q) + (M(q) a + h(q, v) - g(q)) / n^2,        g(q) = h(q, 0)

of which the ground gives the root what lies in the friction cones of the points that touch. The rest is help. It is all
of the weight for who hangs in the air at any pace; who flies needs none at the pace at which gravity flies, and who
throws the weight about beyond the feet none once that is slow enough.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy.optimize
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from ..character.tree import FREE
from ..dynamics import bias_force, mass_matrix, point_jacobian
from .fit import velocities
from .quaternions import Array
from .reference import Reference
from .spacetime.help import helping, weight_of

PACES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 3.0)  # times slower
FEWEST = 10  # frames, of which something can be told
LOOKS = 60  # frames that are looked at, at most
BLUR = 0.02  # s, over which accelerations are blurred
LEAST_FORCE = 1e-3  # of a force's square as a share of that of what is missing: of equals the smallest are taken
LEAST = 0.02  # of the weight on average, that another pace spares
MUCH = 0.4  # of the help at its own pace: what takes no more is worth another
REST, LAST_REST = 0.2, 0.08  # of the weight: who takes more at any pace, or at the slowest, lacks something else
NEARLY = 1.1  # times the least of all: what takes no more is as good


def times_too_fast(reference: Reference, q: Array) -> float | None:
    """How many times too fast poses (nf, nq) of a reference's frames are played, or by less than one, too slow.

    None where another pace would not spare most of the help. Of the paces that spare nearly as much as the best, that
    nearest to its own. Poses are those that were keyed: in the reference's own much has been made possible already.
    """
    if reference.character.tree.joint[0] != FREE or len(q) < FEWEST:
        return None
    helped = dict(zip(PACES, lacking(reference, q, PACES).mean(axis=1).tolist(), strict=True))
    least = min(helped.values())
    if least > min(MUCH * helped[1.0], REST) or helped[1.0] - least < LEAST:
        return None
    best = min((pace for pace in PACES if helped[pace] <= NEARLY * least), key=lambda pace: abs(math.log(pace)))
    return None if best == PACES[-1] and least > LAST_REST else best


def lacking(reference: Reference, q: Array, paces: Sequence[float]) -> Array:
    """What nothing gives poses (nf, nq) of a reference's frames, with its contacts, if played so many times slower.

    A share of the weight (paces, looks) at some of the frames, the larger of a force, and of a moment over a metre.
    """
    character, rate = reference.character, reference.rate
    weight, touches = weight_of(character), reference.carrying & ~helping(reference.schedule.points)
    v = velocities(character, q, rate)
    change = gaussian_filter1d(np.gradient(v, axis=0) * rate, BLUR * rate, axis=0, mode="nearest")
    looks = np.unique(np.linspace(0, len(q) - 2, min(LOOKS, len(q) - 1)).round().astype(int))
    result = np.zeros((len(paces), len(looks)))
    for number, k in enumerate(looks):
        still = bias_force(character, q[k], np.zeros_like(v[k]))[:6]
        moving = (mass_matrix(character, q[k]) @ change[k] + bias_force(character, q[k], v[k]))[:6] - still
        cone = _cone(reference, q[k], k, np.flatnonzero(touches[k]))
        for row, pace in enumerate(paces):
            wanted = still + moving / pace**2
            if cone.shape[1]:
                system = np.concatenate((cone, math.sqrt(LEAST_FORCE) * np.eye(cone.shape[1])))
                share, _ = scipy.optimize.nnls(system, np.concatenate((wanted, np.zeros(cone.shape[1]))))
                wanted = wanted - cone @ share
            result[row, number] = max(np.linalg.norm(wanted[:3]), np.linalg.norm(wanted[3:])) / weight
    return result


def _cone(reference: Reference, q: Array, step: int, used: NDArray[np.int64]) -> Array:
    """What each edge of the friction pyramids of some points gives the root (6, edges); a grip gives any force."""
    schedule, found = reference.schedule, [np.zeros((6, 0))]
    for p in used:
        J = point_jacobian(reference.character, q, int(schedule.body[p]), schedule.position[p])
        if schedule.points[p].grab:
            edges = np.concatenate((np.eye(3), -np.eye(3)))
        else:
            normal = reference.normal[step + 1, p]
            side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
            side /= np.linalg.norm(side)
            across = np.cross(normal, side)
            edges = normal + reference.friction * np.array((side, -side, across, -across))
        found.append(J.T[:6] @ edges.T)
    return np.concatenate(found, axis=1)
