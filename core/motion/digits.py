# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand on their digits: dogs', birds', horses'.

What is a person's foot stands up from the ground there, and bends against the toes in every step: from the hock to the
toes it is a metatarsus, from a front leg's wrist to the toes a metacarpus. So they are bodies of their own, and the
foot or the hand is what lies on the ground: digits, or a hoof.
"""

from collections.abc import Mapping

import numpy as np

from . import roles
from .clip import Skeleton

STEEP = 0.75  # sine of the slope from which on a bone stands up from the ground
LONG = {"foot": 0.2, "hand": 0.15}  # of the leg from hip to ankle: as high above its digits an ankle is no person's
MOST_DIGITS = 4  # bones that a hand's chain goes on by
UPPER = {"foot": "metatarsus", "hand": "metacarpus"}

Chains = Mapping[str, tuple[int, ...]]


def on_digits(skeleton: Skeleton, chains: Chains, leg: float, *, quadruped: bool) -> dict[str, tuple[int, ...]]:
    """Chains by role, in which limbs that stand on digits have a metatarsus or metacarpus before the foot or the hand.

    `leg` is its length, m. Both sides are built alike.
    """
    result = dict(chains)
    taken = {bone for chain in chains.values() for bone in chain}
    for role in ("foot", "hand") if quadruped else ("foot",):
        whole = [
            chains.get(f"{role}.{side}", ()) + (chains.get(f"toe.{side}", ()) if role == "foot" else ())
            for side in roles.SIDES
        ]
        if role == "hand":
            whole = [chain + _beyond(skeleton, chain[-1], taken) if chain else () for chain in whole]
        # of a pose out of a motion only one may stand
        least = LONG[role] * leg
        if not all(len(chain) > 1 for chain in whole) or not any(_stands_up(skeleton, one, least) for one in whole):
            continue
        for side, chain in zip(roles.SIDES, whole, strict=True):
            result[f"{UPPER[role]}.{side}"], result[f"{role}.{side}"] = chain[:1], chain[1:]
            if role == "foot":
                result.pop(f"toe.{side}", None)
    return result


def _stands_up(skeleton: Skeleton, chain: tuple[int, ...], least: float) -> bool:
    """Whether the first bone of a chain stands up from the next, as a metatarsus does, and is as high at least."""
    way = skeleton.head[chain[0]] - skeleton.head[chain[1]]
    return bool(way[2] > max(STEEP * float(np.linalg.norm(way)), least))


def _beyond(skeleton: Skeleton, bone: int, taken: set[int]) -> tuple[int, ...]:
    """The bones that a chain goes on by: of several digits the one that reaches lowest."""
    chain: list[int] = []
    while len(chain) < MOST_DIGITS:
        below = [int(b) for b in np.flatnonzero(skeleton.parent == bone) if int(b) not in taken]
        if not below:
            break
        bone = min(below, key=lambda b: (float(skeleton.tail[b, 2]), b))
        chain.append(bone)
    return tuple(chain)
