# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone of one skeleton turns as which of another's, by their roles, and how their rest poses differ.

A bone's turn from rest, in the world, is what it has in common with its counterpart, once both rest poses are the same
pose. Trunk, neck and tail are shaped as they are, curved or straight, so of them only the heading counts; limbs are
brought into line joint by joint. Where the trunk of one has more bones, those between share the bend by their lengths;
where it has a limb of several bones, these turn as one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import quaternions, roles
from .clip import Skeleton
from .landmarks import heading_of
from .quaternions import Array

Chains = Mapping[str, tuple[int, ...]]

TRUNK = "trunk"  # spine and chest in one
NEXT = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}
PARTS = (TRUNK, "neck", "head", "tail", "clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
SHARED = (TRUNK, "neck", "tail")  # bones that bend by degrees
ABOVE = {
    TRUNK: "pelvis",
    "neck": TRUNK,
    "head": "neck",
    "tail": "pelvis",
    "clavicle": TRUNK,
    "upper_arm": "clavicle",
    "forearm": "upper_arm",
    "hand": "forearm",
    "thigh": "pelvis",
    "shin": "thigh",
    "foot": "shin",
    "toe": "foot",
}


@dataclass(frozen=True)
class Body:
    """A skeleton in its rest pose, and the chains of bones that have roles, spine and chest as one trunk."""

    rest: Skeleton
    chains: Chains

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Roles that have bones, those above first, each with the nearest above it that has some."""
        return [("pelvis", ""), *((role, self.above(role)) for role in roles_in_order() if role in self.chains)]

    def above(self, role: str) -> str:
        """The nearest role above that has bones."""
        over = over_of(role)
        return over if over in self.chains else self.above(over)

    def carriers(self) -> list[tuple[int, int]]:
        """Each bone that has a role and the one that it hangs from, -1 for none; those above first."""
        found: list[tuple[int, int]] = []
        for role, above in self.parts:
            carrier = self.chains[above][-1] if above else -1
            for bone in self.chains[role]:
                found.append((bone, carrier))
                carrier = bone
        return found


def body_of(rest: Skeleton, chains: Chains) -> Body:
    """The body of a skeleton."""
    trunk = chains.get("spine", ()) + chains.get("chest", ())
    others = {role: chain for role, chain in chains.items() if role not in {"spine", "chest"}}
    return Body(rest, others | ({TRUNK: trunk} if trunk else {}))


def roles_in_order() -> list[str]:
    """All below the pelvis, those above first."""
    return [
        role
        for part in PARTS
        for role in ([part] if part not in roles.PAIRED else [f"{part}.{side}" for side in roles.SIDES])
    ]


def over_of(role: str) -> str:
    """The role above: of the same side, where there is one."""
    part, dot, side = role.partition(".")
    over = ABOVE[part]
    return over + dot + side if over in roles.PAIRED else over


def turned_likewise(leader: Body, follower: Body, turn: Array, soles: Mapping[str, Array]) -> dict[int, Array]:
    """The orientations (nf, 4) of the follower's bones, where the leader's are oriented like `turn` (nf, nb, 4).

    `soles` (4,) by role turn the follower's feet at rest as the leader's lie.
    """
    change = changes(leader, turn)
    match = rest_matches(leader, follower, soles)
    ends: dict[str, Array] = {}
    found: dict[int, Array] = {}
    for role in ("pelvis", *roles_in_order()):
        part = role.partition(".")[0]
        theirs = [change[:, bone] for bone in leader.chains.get(role, ())]
        mine = follower.chains.get(role, ())
        if role == "pelvis":
            turns = _as_one(theirs, len(mine))
        elif part in SHARED:
            base = ends[over_of(role)]
            if not theirs and part == "neck" and "head" in leader.chains:
                top = change[:, leader.chains["head"][0]]
                turns = [_part_way(base, top, (place + 1) / (len(mine) + 1)) for place in range(len(mine))]
            elif theirs:
                turns = _by_degrees(base, theirs, ends_of(leader, role), ends_of(follower, role))
            else:
                turns = [base] * len(mine)
        else:
            turns = _as_one(theirs or [ends[over_of(role)]], len(mine))
        ends[role] = theirs[-1] if theirs else ends[over_of(role)]
        for bone, one in zip(mine, turns, strict=True):
            at_rest = quaternions.multiply(match[role], follower.rest.orientation[bone])
            found[bone] = quaternions.multiply(one, at_rest[None])
    return found


def changes(body: Body, turn: Array) -> Array:
    """What orientations (nf, nb, 4) are turned by from rest, in the world."""
    return quaternions.multiply(turn, quaternions.conjugate(body.rest.orientation)[None])


def rest_matches(leader: Body, follower: Body, soles: Mapping[str, Array]) -> dict[str, Array]:
    """By role the turn (4,) in the world that brings the follower's bones at rest into the leader's rest pose."""
    headings = [heading_of(each.rest, each.chains) for each in (leader, follower)]
    match = {"pelvis": quaternions.multiply(headings[0], quaternions.conjugate(headings[1]))}
    for role in roles_in_order():
        over = match[over_of(role)]
        match[role] = over
        ways = [_way(each, role) for each in (leader, follower)]
        if role in soles:
            match[role] = soles[role]
        elif ways[0] is not None and ways[1] is not None:
            turned = quaternions.rotate(over, ways[1])
            match[role] = quaternions.multiply(quaternions.between(turned, ways[0]), over)
    return match


def ends_of(body: Body, role: str) -> NDArray[np.float64]:
    """Where along a chain (n,) its bones end, as shares of its length."""
    chain = body.chains.get(role, ())
    if not chain:
        return np.zeros(0)
    heads = body.rest.head[list(chain)]
    points = np.vstack([heads, body.rest.tail[chain[-1]]])
    lengths = np.maximum(np.linalg.norm(np.diff(points, axis=0), axis=1), 1e-6)
    result: NDArray[np.float64] = np.cumsum(lengths) / lengths.sum()
    result[-1] = 1.0
    return result


def _way(body: Body, role: str) -> Array | None:
    """Where a limb points at rest, from its joint to the next; None for what has no such direction."""
    part, _, side = role.partition(".")
    below = f"{NEXT.get(part)}.{side}"
    if role not in body.chains or below not in body.chains:
        return None
    way: Array = body.rest.head[body.chains[below][0]] - body.rest.head[body.chains[role][0]]
    return way


def _as_one(theirs: list[Array], count: int) -> list[Array]:
    """The turns of a rigid chain of `count` bones, out of those of another."""
    return [theirs[min(place * len(theirs) // count, len(theirs) - 1)] for place in range(count)]


def _by_degrees(base: Array, theirs: list[Array], ends: Array, wanted: Array) -> list[Array]:
    """The turns at some shares of a chain's length, between those at others; `base` is that at its root."""
    turns, places = [base, *theirs], [0.0, *ends.tolist()]
    found = []
    for share in wanted.tolist():
        after = min(int(np.searchsorted(places[1:], share - 1e-9)) + 1, len(theirs))
        part = (share - places[after - 1]) / (places[after] - places[after - 1])
        found.append(turns[after] if part > 1.0 - 1e-6 else _part_way(turns[after - 1], turns[after], part))
    return found


def _part_way(start: Array, end: Array, share: float) -> Array:
    """Turns (nf, 4) a share of the way from some to others."""
    way = quaternions.log(quaternions.multiply(quaternions.conjugate(start), end))
    return quaternions.multiply(start, quaternions.exp(share * way))
