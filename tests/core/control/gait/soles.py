# SPDX-License-Identifier: GPL-3.0-or-later
"""How the ground's force lay under the standing sole, from a world's contacts after a step."""

import numpy as np
from heft.core.character import Character
from heft.core.control.gait import Gait
from heft.core.control.gait.biped import sole_corners
from heft.core.control.gait.sole import Shares
from heft.core.motion import quaternions
from heft.core.simulation import World


class Soles:
    """Of one walking character."""

    def __init__(self, character: Character, gait: Gait) -> None:
        biped, tree = gait.biped, character.tree
        self._weight = biped.mass * biped.gravity
        self._foot = [int(foot) for foot in biped.foot]
        self._bodies = [[foot, *np.flatnonzero(tree.parent == foot)] for foot in self._foot]
        corners = [sole_corners(character, foot)[:, :2] for foot in self._foot]
        self._middle = [0.5 * (places.min(axis=0) + places.max(axis=0)) for places in corners]

    def shares(self, world: World, stance: int) -> Shares:
        """Left, right, front and back of the leg that stood in the step, and all of the weight."""
        contacts, (place, turn) = world.contacts, world.poses()
        under = np.isin(contacts.body, self._bodies[stance])
        normal = np.sum(contacts.force[under] * contacts.normal[under], axis=1)
        foot, total = self._foot[stance], float(normal.sum())
        if not total > 0.0:
            return 0.0, 0.0, 0.0, 0.0, 0.0
        arm = quaternions.rotate(quaternions.conjugate(turn[foot]), contacts.point[under] - place[foot])
        ahead, beside = (arm[:, :2] > self._middle[stance]).T
        front, left = float(normal[ahead].sum()) / total, float(normal[beside].sum()) / total
        return left, 1.0 - left, front, 1.0 - front, total / self._weight
