# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone of a limb is its thigh, which its shin: every way to cut the chain is scored by names and by lengths.

Proportions after Drillis and Contini (1966), as printed in Winter, "Biomechanics and Motor Control of Human Movement",
figure 4.1; widths of the bells are what rigs were seen to need.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from .names import Name
from .shape import Array, Body, Plane, angle_between

HINT, WORD = 2.5, 30.0
"""What a name weighs: where shape has found the limb, and where names have, which shape then confirms."""

LONGEST_CHAIN = 10
ABSENT = -1

Starts = tuple[int, ...]
"""For each part of the limb the place in the chain where it starts, or ABSENT."""


@dataclass(frozen=True)
class Cut:
    """A limb cut into its parts."""

    starts: Starts
    total: float  # what the best cut is chosen by
    shape: float  # 0 for a body of textbook proportions, less for others
    names: tuple[float, ...]  # how far the names speak for each part, -0.8 to 1


@dataclass(frozen=True)
class Limb:
    """One chain and what can be measured on it, relative to the whole figure."""

    body: Body
    plane: Plane
    chain: Sequence[int]
    floor: float

    @cached_property
    def joints(self) -> Array:
        """Heads of the bones and the tip of the last, (n + 1, 3)."""
        skeleton = self.body.skeleton
        heads = skeleton.head[list(self.chain)]
        return np.concatenate([heads, skeleton.tail[self.chain[-1]][None]])

    def off_plane(self, place: int) -> float:
        """Distance of a joint from the mirror plane, m."""
        return abs(self.plane.side(self.joints[place]))


def bell(value: float, ideal: float, width: float) -> float:
    """Log of a Gaussian, at most 4.5 down (three widths): one odd measure must not outvote all names."""
    return -min(0.5 * ((value - ideal) / width) ** 2, 4.5)


def ratio_bell(value: float, other: float, ideal: float, width: float) -> float:
    """The same for the logarithm of a ratio of lengths."""
    if min(value, other) < 1e-9:
        return -4.5
    return bell(float(np.log(value / other)), float(np.log(ideal)), width)


def best_cut(
    parts: Sequence[str],
    needed: Sequence[bool],
    limb: Limb,
    names: Sequence[Name],
    shape_of: Callable[[Limb, Starts], float],
    trust: float = HINT,
) -> Cut:
    """Try every way to let the parts start, in order, at bones of the chain. `trust` is what names weigh."""
    chain = list(limb.chain)[:LONGEST_CHAIN]
    best: Cut | None = None
    for count in range(1, len(parts) + 1):
        for which in combinations(range(len(parts)), count):
            missing = [i for i in range(len(parts)) if i not in which]
            if any(needed[i] for i in missing) and len(chain) >= sum(needed):
                continue
            for places in combinations(range(len(chain)), count):
                starts = [ABSENT] * len(parts)
                for part, place in zip(which, places, strict=True):
                    starts[part] = place
                cut = score_cut(parts, tuple(starts), limb, names, shape_of, trust)
                if best is None or cut.total > best.total + 1e-9:
                    best = cut
    assert best is not None
    return best


def score_cut(
    parts: Sequence[str],
    starts: Starts,
    limb: Limb,
    names: Sequence[Name],
    shape_of: Callable[[Limb, Starts], float],
    trust: float = HINT,
) -> Cut:
    """Score one cut: names of the starting bones, segments that go on as they should, and the shape."""
    chain = limb.chain
    present = [s for s in starts if s != ABSENT]
    said = []
    total = 0.0
    for part, start in zip(parts, starts, strict=True):
        if start == ABSENT:
            said.append(0.0)
            continue
        name = names[chain[start]]
        said.append(name.score(part))
        total += trust * name.score(part) - 1.5 * (name.twist and not name.parts)
    for index, start in enumerate(present):
        end = present[index + 1] if index + 1 < len(present) else start + 1
        part = parts[starts.index(start)]
        own = limb.joints[start + 1] - limb.joints[start]
        for place in range(start + 1, end):
            # A bone inside a part is a segment of it: it goes on in its direction, and by its name if it has one.
            name = names[chain[place]]
            score = name.score(part) - (max(name.parts.values(), default=0.0) if trust > HINT else 0.0)
            segment = limb.joints[place + 1] - limb.joints[place]
            total += min(score, 0.3) * 0.8 * trust - min((angle_between(own, segment) / 0.5) ** 2, 1.0) * 0.6 - 0.15
    for place in range(present[0]):
        known = [names[chain[place]].score(part) for part in parts]
        total -= 0.3 + 0.6 * trust * max(*known, 0.0)
    shape = shape_of(limb, starts)
    return Cut(starts, total + shape, shape, tuple(said))


def leg_shape(limb: Limb, starts: Starts) -> float:
    """Biped: knee half-way (0.245 and 0.246 of stature), ankle at 0.039 over hips at 0.530, toes ahead on the floor."""
    return _standing(limb, starts, ankle=(0.075, 0.06), proportion=1.0)


def hind_leg_shape(limb: Limb, starts: Starts) -> float:
    """Quadruped on its toes: the hock is a third of the way up, thigh and shank alike."""
    return _standing(limb, starts, ankle=(0.30, 0.12), proportion=1.0)


def front_leg_shape(limb: Limb, starts: Starts) -> float:
    """Quadruped's front: a shoulder blade, if any, then upper arm and forearm alike, a short hand near the floor."""
    blade, *rest = starts
    score = _standing(limb, (*rest, ABSENT), ankle=(0.17, 0.10), proportion=1.0)
    if blade != ABSENT:
        joints = limb.joints
        length = float(np.linalg.norm(joints[rest[0]] - joints[blade])) if rest[0] != ABSENT else 0.0
        upper = float(np.linalg.norm(joints[rest[1]] - joints[rest[0]])) if ABSENT not in rest[:2] else 0.0
        score += ratio_bell(length, upper, 0.8, 0.5) - 0.2
    return score


def _standing(limb: Limb, starts: Starts, ankle: tuple[float, float], proportion: float) -> float:
    thigh, shin, foot, toe = starts
    joints = limb.joints
    if ABSENT in (thigh, shin):
        return -6.0
    end = foot if foot != ABSENT else len(limb.chain)
    height = float(joints[thigh, 2] - limb.floor)
    upper = float(np.linalg.norm(joints[shin] - joints[thigh]))
    lower = float(np.linalg.norm(joints[end] - joints[shin]))
    score = ratio_bell(lower, upper, proportion, 0.25)
    score += bell(float(joints[end, 2] - limb.floor) / max(height, 1e-9), *ankle)
    if limb.off_plane(thigh) < 0.25 * limb.off_plane(shin):
        score -= 1.5  # hips lie apart: a bone that starts between them leads to one
    if foot == ABSENT:
        score -= 3.0
    if toe == ABSENT and foot != ABSENT:
        score -= 0.4 * (foot < len(limb.chain) - 1)
    elif toe != ABSENT:
        score += bell(float(joints[toe, 2] - limb.floor) / max(height, 1e-9), 0.02, 0.05)
        score += ratio_bell(float(np.linalg.norm(joints[toe] - joints[foot])), height, 0.18, 0.7)
    return score


def arm_shape(limb: Limb, starts: Starts) -> float:
    """Upper arm and forearm 0.186 and 0.146 of stature; the collar bone starts near the middle and is the shorter."""
    clavicle, upper_arm, forearm, hand = starts
    joints = limb.joints
    if ABSENT in (upper_arm, forearm):
        return -6.0
    end = hand if hand != ABSENT else len(limb.chain)
    upper = float(np.linalg.norm(joints[forearm] - joints[upper_arm]))
    lower = float(np.linalg.norm(joints[end] - joints[forearm]))
    score = ratio_bell(lower, upper, 0.785, 0.3)
    # Shoulders lie apart: 0.206 of stature between them, of upper arms that measure 0.186.
    score += bell(min(limb.off_plane(upper_arm) / max(upper, 1e-9), 0.55), 0.55, 0.22)
    if clavicle != ABSENT:
        length = float(np.linalg.norm(joints[upper_arm] - joints[clavicle]))
        score += ratio_bell(length, upper, 0.5, 0.5)
        score += bell(max(limb.off_plane(clavicle) / max(limb.off_plane(upper_arm), 1e-9), 0.3), 0.3, 0.3)
    elif upper_arm > 0:
        score -= 0.8  # a chain that starts before the shoulder starts with a collar bone
    if hand == ABSENT:
        score -= 3.0
    else:
        fingers = len(limb.body.children[limb.chain[hand]])
        score += 0.5 * (fingers >= 3)
        rest = float(np.linalg.norm(np.diff(joints[hand:], axis=0), axis=1).sum())
        score += 0.3 * ratio_bell(rest, upper + lower, 0.3, 0.7)
    return score
