# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bones of a skeleton stand for: a role's chain of bones, from root to tip.

A quadruped's front legs are its arms. Bones without a role belong to the body of their nearest ancestor that has one.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from .clip import Skeleton

MIDDLE = ("pelvis", "spine", "chest", "neck", "head", "tail")
PAIRED = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
SIDES = ("L", "R")
ALL = MIDDLE + tuple(f"{role}.{side}" for role in PAIRED for side in SIDES)
NEEDED = ("pelvis", *(f"{role}.{side}" for role in ("thigh", "shin", "foot") for side in SIDES))

Roles = Mapping[str, tuple[str, ...]]


def checked(roles: Roles, skeleton: Skeleton) -> dict[str, tuple[int, ...]]:
    """The roles as chains of bone indices, or a ValueError that names what is wrong."""
    owner: dict[str, str] = {}
    result: dict[str, tuple[int, ...]] = {}
    for role, names in roles.items():
        if role not in ALL:
            raise ValueError(f"There is no role '{role}'.")
        if isinstance(names, str):
            raise ValueError(f"Role '{role}' needs a chain of bones, not the text '{names}'.")  # noqa: TRY004
        for name in names:
            if name in owner:
                raise ValueError(f"Bone '{name}' has two roles, '{owner[name]}' and '{role}': choose one.")
            owner[name] = role
        chain = tuple(skeleton.index(name) for name in names)
        for upper, lower in pairwise(chain):
            if upper not in ancestors(skeleton, lower):
                raise ValueError(
                    f"The bones of role '{role}' are not a chain: '{skeleton.names[lower]}' is not below "
                    f"'{skeleton.names[upper]}'."
                )
        if chain:
            result[role] = chain
    if len(skeleton.names) < 2:
        raise ValueError(f"One bone ('{skeleton.names[0]}') is not enough for a character: it needs two legs at least.")
    if not any(role.startswith(("thigh", "shin", "foot")) for role in result):
        raise ValueError("The skeleton has no legs: give bones the roles of thighs, shins and feet.")
    for role in NEEDED:
        if role not in result:
            raise ValueError(f"No bone has the role '{role}': choose one.")
    for above, below in (("upper_arm", "forearm"), ("forearm", "hand")):
        for side in SIDES:
            if f"{below}.{side}" in result and f"{above}.{side}" not in result:
                raise ValueError(
                    f"A bone has the role '{below}.{side}', but none has '{above}.{side}': choose one for it."
                )
    return result


def ancestors(skeleton: Skeleton, bone: int) -> Iterator[int]:
    """The bones above a bone, nearest first."""
    parent = int(skeleton.parent[bone])
    while parent >= 0:
        yield parent
        parent = int(skeleton.parent[parent])
