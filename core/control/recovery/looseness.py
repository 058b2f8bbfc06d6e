# SPDX-License-Identifier: GPL-3.0-or-later
"""Looseness, as weights of a plan: what is loose need not look as in the motion while the body catches itself.

Gains stay as they are: a loose plan is followed as well as a stiff one, so that looseness costs no balance.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.joint_roles import Role, role
from ...simulation.looseness import Region

LEAST = 0.01  # of a joint's weight in the plan, where its region is as loose as can be
REGION_OF_ROLE: Mapping[Role, Region] = {
    "hip": "legs",
    "knee": "legs",
    "ankle": "legs",
    "trunk": "trunk",
    "shoulder": "arms",
    "elbow": "arms",
}
HEAD = ("head", "neck")


def pose_shares(character: Character, looseness: Mapping[Region, float]) -> NDArray[np.float64]:
    """Factors (nv,) of the weights of a pose."""
    tree = character.tree
    loose = [looseness.get(_region(character.bodies[b].name), 0.0) for b in tree.velocity_body]
    result: NDArray[np.float64] = LEAST ** np.array(loose)
    if character.bodies[0].joint.kind == "free":
        result[:6] = 1.0
    return result


def _region(body: str) -> Region:
    return "head" if body in HEAD else REGION_OF_ROLE[role(body)]
