# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles that bones play in a body, and what was found of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from .names import LEFT, RIGHT

MIDDLE_ROLES = ("pelvis", "spine", "chest", "neck", "head", "tail")
ARM_ROLES = ("clavicle", "upper_arm", "forearm", "hand")
LEG_ROLES = ("thigh", "shin", "foot", "toe")
ROLES = (
    *MIDDLE_ROLES,
    *(f"{role}.{side}" for side in (LEFT, RIGHT) for role in ARM_ROLES),
    *(f"{role}.{side}" for side in (LEFT, RIGHT) for role in LEG_ROLES),
)
"""Every role, in the order a panel shows them. Front legs take the arms' roles."""

BIPED, QUADRUPED = "BIPED", "QUADRUPED"
SURE = 0.5


@dataclass(frozen=True)
class Roles:
    """Bones of each role, ordered root to tip, and how sure each is."""

    bones: Mapping[str, tuple[str, ...]]  # only roles that were found
    score: Mapping[str, float] = field(default_factory=dict)  # 0 to 1
    unsure: tuple[str, ...] = ()  # sentences for the user
    body: str = BIPED
    left: tuple[float, float, float] = (1.0, 0.0, 0.0)  # direction of the figure's left at rest, in the world
    by_rest: tuple[str, ...] = ()  # what of `unsure` holds only if the rest pose is one

    def __getitem__(self, role: str) -> tuple[str, ...]:
        """The bones of a role, none where it was not found."""
        return self.bones.get(role, ())


def turned_round(roles: Roles, sentence: str) -> Roles:
    """The roles of a figure that faces the other way: what was its left is its right; `sentence` is no longer said."""

    def other(role: str) -> str:
        part, _, side = role.partition(".")
        return f"{part}.{RIGHT if side == LEFT else LEFT}" if side else role

    bones = {other(role): names for role, names in roles.bones.items()}
    x, y, z = roles.left
    return replace(
        roles,
        bones={role: bones[role] for role in ROLES if role in bones},
        score={other(role): score for role, score in roles.score.items()},
        unsure=tuple(line for line in roles.unsure if line != sentence),
        left=(-x, -y, -z),
    )


def sureness(said: float, shape: float) -> float:
    """From 0 to 1: names and shape agree 1, one is silent or odd about 0.7, names against it less than a half."""
    return float(np.clip(0.5 + 0.4 * said + 0.4 * np.exp(shape / 4.0) - 0.2, 0.0, 1.0))
