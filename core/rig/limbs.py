# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of limbs are the legs and the arms, and which the hind legs and the front."""

from collections.abc import Sequence

import numpy as np

from .names import Name
from .role_names import ARM_ROLES, LEG_ROLES
from .shape import Body, Pair, angle_between

ACROSS, ALONG = np.radians(130.0), np.radians(45.0)
LIKE = 0.5  # of the legs' reach: that of front legs, at least


def choose_limbs(body: Body, names: Sequence[Name], pairs: Sequence[Pair]) -> tuple[Pair | None, Pair | None, bool]:
    """Return the legs (of a quadruped, the hind ones), the arms (its front legs), and whether it stands on four."""
    head = body.skeleton.head
    floor = body.floor
    height = max(float(head[list(body.kept), 2].max()) - floor, 1e-9)
    longest = max((body.reach[pair.first[0]] for pair in pairs), default=1.0)

    def votes(pair: Pair, parts: Sequence[str]) -> float:
        scores = [max(names[b].score(part) for part in parts) for chain in pair.both for b in chain]
        return float(np.clip(sum(scores) / 4.0, -1.0, 1.0))

    def tip_height(pair: Pair) -> float:
        return (float(min(head[list(chain), 2].min() for chain in pair.both)) - floor) / height

    def size(pair: Pair) -> float:
        return body.reach[pair.first[0]] / longest

    legs_of = {
        pair: 2.0 * (1.0 - min(tip_height(pair) / 0.3, 1.0)) + size(pair) + 0.8 * votes(pair, LEG_ROLES)
        for pair in pairs
        if len(pair.first) >= 2
    }
    standing = [pair for pair in legs_of if tip_height(pair) < 0.15 and size(pair) > 0.35]
    if len(standing) >= 2:
        split = _front_and_hind(body, names, standing)
        if split is not None:
            return (*split, True)
    legs = max(legs_of, key=legs_of.__getitem__, default=None)
    if legs is None or legs_of[legs] < 1.2:
        return None, None, False

    def arm_score(pair: Pair) -> float:
        root = float(np.mean([head[chain[0], 2] for chain in pair.both]) - floor) / height
        hips = float(np.mean([head[chain[0], 2] for chain in legs.both]) - floor) / height
        return size(pair) + 0.8 * votes(pair, ARM_ROLES) + min(max((root - hips) / 0.3, -1.0), 1.0)

    inside = set(legs.first) | set(legs.second)
    others = [pair for pair in pairs if pair is not legs and pair.parent not in inside and not inside & set(pair.first)]
    limbs = [pair for pair in others if size(pair) > 0.3 and len(pair.first) >= 2 and arm_score(pair) > 0.8]
    return legs, max(limbs, key=arm_score, default=None), False


def stands_on_four(body: Body, legs: Pair, arms: Pair) -> bool:
    """Whether arms go the same way as legs do, and both across the trunk: then they are front legs."""
    head = body.skeleton.head
    roots = [np.mean([head[chain[0]] for chain in pair.both], axis=0) for pair in (legs, arms)]
    ways = [np.mean([head[chain[-1]] - head[chain[0]] for chain in pair.both], axis=0) for pair in (legs, arms)]
    along = angle_between(roots[1] - roots[0], ways[0]), angle_between(*ways)
    long = bool(np.linalg.norm(ways[1]) > LIKE * np.linalg.norm(ways[0]))
    return along[0] < ACROSS and along[1] < ALONG and long


def _front_and_hind(body: Body, names: Sequence[Name], standing: Sequence[Pair]) -> tuple[Pair, Pair] | None:
    """The hind and the front pair of four legs, or None where the figure stands on two."""
    head = body.skeleton.head
    standing = sorted(standing, key=lambda pair: -body.reach[pair.first[0]])[:2]
    roots = [np.mean([head[chain[0]] for chain in pair.both], axis=0) for pair in standing]
    apart = roots[1] - roots[0]
    level = float(np.linalg.norm(apart[:2]))
    if level < 0.3 * body.reach[standing[0].first[0]] or abs(apart[2]) > 1.2 * level:
        return None
    along = np.array([*apart[:2], 0.0]) / level  # from the first pair to the second
    ahead = 0.0  # how far the second is the front one
    for pair in standing:
        for chain in pair.both:
            joints = head[list(chain)]
            length = max(float(np.linalg.norm(joints[-1] - joints[0])), 1e-9)
            ahead += 0.3 * float(np.clip((joints[-1] - joints[-2]) @ along / (0.1 * length), -1.0, 1.0))
    for sign, pair in ((-1.0, standing[0]), (1.0, standing[1])):
        own = [names[b] for chain in pair.both for b in chain]
        front = sum(n.front for n in own) + sum(max(n.score(r) for r in ARM_ROLES) > 0.5 for n in own)
        hind = sum(n.hind for n in own) + sum(max(n.score(r) for r in ("thigh", "shin")) > 0.4 for n in own)
        ahead += sign * float(np.clip((front - hind) / 2.0, -1.0, 1.0)) * 1.5
    # The head stands higher than the tail hangs.
    limbs = {b for pair in standing for chain in pair.both for b in chain}
    middle = [b for b in body.kept if b not in limbs and not names[b].parts.get("tail")]
    reach_ahead = [(float((head[b] - roots[1]) @ along), float(head[b, 2])) for b in middle]
    reach_behind = [(float((roots[0] - head[b]) @ along), float(head[b, 2])) for b in middle]
    top_ahead = max((z for d, z in reach_ahead if d > 0), default=-np.inf)
    top_behind = max((z for d, z in reach_behind if d > 0), default=-np.inf)
    if top_ahead != top_behind:
        ahead += 1.0 if top_ahead > top_behind else -1.0
    for bone in body.kept:
        for part, sign in (("head", 1.0), ("tail", -1.0)):
            if names[bone].parts.get(part, 0.0) >= 1.0:
                nearer = float((head[bone] - 0.5 * (roots[0] + roots[1])) @ along)
                ahead += 1.5 * sign * float(np.sign(nearer)) / max(sum(part in names[b].parts for b in body.kept), 1)
    return (standing[0], standing[1]) if ahead >= 0.0 else (standing[1], standing[0])
