# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs by what their bones are called: where names say what a bone is, they win over shape.

A limb is looked for on either side as a tree of bones that are named as its parts. Where several such trees of a side
lie in one place (a rig's copies for deforming, for IK) the first is taken; where they lie apart, as the legs of an
animal may, names have not settled it, and shape decides.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from .names import LEFT, RIGHT, Name
from .role_names import LEG_ROLES
from .shape import Body, Pair

NAMED = 0.3  # so much a name must say for a part to count
ONE_PLACE = 0.03  # of the body's size: chains that begin so near to each other are copies of one
APART = 0.6  # of the limb above: as near to its end an end of a limb must begin to belong to it
ENDS = {"foot": "shin", "hand": "forearm"}


def named_pair(body: Body, names: Sequence[Name], parts: Sequence[str]) -> Pair | None:
    """The left and the right limb of these parts, left first; None where names do not settle it."""
    chains = []
    for side in (LEFT, RIGHT):
        chain = _named_chain(body, names, parts, side)
        if chain is None:
            return None
        chains.append(chain)
    left, right = chains
    if _covered(names, left, parts) < 2 or _covered(names, right, parts) < 2:
        return None
    above = body.common_ancestor([left[0], right[0]])
    if above in left or above in right:
        return None
    return Pair(_from(body, names, left, above, LEFT), _from(body, names, right, above, RIGHT), above)


def _named_chain(body: Body, names: Sequence[Name], parts: Sequence[str], side: str) -> tuple[int, ...] | None:
    own = {b for b in body.kept if names[b].side == side and best_part(names[b], parts)}
    starts = [b for b in body.kept if b in own and not own.intersection(body.ancestors(b)[:-1])]
    chains = sorted(
        (_down(body, names, start, own, parts) for start in starts), key=lambda c: -_covered(names, c, parts)
    )
    if not chains:
        return None
    best = _covered(names, chains[0], parts)
    head = body.skeleton.head
    for other in chains[1:]:
        apart = float(np.linalg.norm(head[other[0]] - head[chains[0][0]]))
        if _covered(names, other, parts) >= max(best - 1, 2) and apart > ONE_PLACE * body.size:
            return None
    return chains[0]


def best_part(name: Name, parts: Sequence[str]) -> str:
    """Which of the parts a name stands for most, "" where it stands for none."""
    best = max(parts, key=lambda part: name.parts.get(part, 0.0))
    return best if name.parts.get(best, 0.0) >= NAMED and not (name.control or name.riding) else ""


def _covered(names: Sequence[Name], chain: Sequence[int], parts: Sequence[str]) -> int:
    """How many bones of a chain, but for repeated words, are named as parts of the limb."""
    said = _words(names, chain, parts)
    return len(set(said)) if len(set(said)) > 1 else len(said)


def tells_parts(names: Sequence[Name], chain: Sequence[int], parts: Sequence[str]) -> bool:
    """Whether names tell the parts of a limb from each other; a leg 1, leg 2, leg 3 leaves that to the shape."""
    return len(set(_words(names, chain, parts))) > 1


def _words(names: Sequence[Name], chain: Sequence[int], parts: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(sorted(names[b].parts)) for b in chain if best_part(names[b], parts)]


def _down(body: Body, names: Sequence[Name], start: int, own: set[int], parts: Sequence[str]) -> tuple[int, ...]:
    """From a bone down to the tip, past the bones that are named as parts of the limb, else the longest way."""
    worth: dict[int, float] = {}

    def value(bone: int) -> float:
        if bone not in worth:
            said = max((names[bone].parts.get(part, 0.0) for part in parts), default=0.0) if bone in own else 0.0
            worth[bone] = said * (0.5 if names[bone].twist else 1.0) + max(map(value, body.children[bone]), default=0.0)
        return worth[bone]

    chain = [start]
    while body.children[chain[-1]]:
        below = body.children[chain[-1]]
        most = max(map(value, below))
        best = [b for b in below if value(b) > most - 1e-9]
        chain.append(best[0] if len(best) == 1 and most > 0.0 else body.longest_child(chain[-1], best))
    return tuple(chain)


def _from(body: Body, names: Sequence[Name], chain: tuple[int, ...], above: int, side: str) -> tuple[int, ...]:
    """The chain, with what of the same side, or without a name, lies between it and what both limbs hang from."""
    path = body.ancestors(chain[0])[:-1]
    between = path[path.index(above) + 1 :] if above in path else path
    keep: list[int] = []
    for bone in reversed(between):
        if names[bone].side != side and names[bone].parts:
            break
        keep.insert(0, bone)
    return (*keep, *chain) if len(keep) == len(between) else chain


def ends_elsewhere(body: Body, names: Sequence[Name]) -> Mapping[int, int]:
    """The limb that each foot or hand belongs to which does not hang from it: game rigs let IK move them alone."""
    skeleton = body.skeleton
    found: dict[int, int] = {}
    for end, upper in ENDS.items():
        for side in (LEFT, RIGHT):
            own = [b for b in body.kept if names[b].side == side and not names[b].control and not names[b].riding]
            limbs = [b for b in own if names[b].score(upper) >= (0.5 if upper == "shin" else 0.9)]
            ends = [b for b in own if names[b].parts.get(end, 0.0) >= 0.9]
            if not limbs or not ends or any(set(body.ancestors(b)) & set(limbs) for b in ends):
                continue
            limb = max(limbs, key=lambda b: len(body.ancestors(b)))
            if any(best_part(names[b], LEG_ROLES) == "foot" for b in body.ancestors(limb)):
                continue
            length = float(np.linalg.norm(skeleton.tail[limb] - skeleton.head[limb]))
            tip = skeleton.tail[limb]
            nearest = min(ends, key=lambda b: float(np.linalg.norm(skeleton.head[b] - tip)))
            if float(np.linalg.norm(skeleton.head[nearest] - tip)) < APART * length:
                found[nearest] = limb
    return found
