# SPDX-License-Identifier: GPL-3.0-or-later
"""With what a character may touch things: capsules along limbs and trunk, spheres at head and hands, soles' corners."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..character import Capsule, ContactShape, Corner, Sphere
from . import masses, quaternions
from .feet import Sole
from .joints import as_vector
from .parts import Part
from .quaternions import Array

# Radii of a person of 1.75 m, as those of the presets.
STATURE = 1.75
LIMBS = {
    "arm": ("shoulder", "elbow", 0.045),
    "forearm": ("elbow", "wrist", 0.035),
    "thigh": ("hip", "knee", 0.07),
    "shank": ("knee", "ankle", 0.05),
    "metacarpus": ("wrist", "finger_joint", 0.03),
    "metatarsus": ("ankle", "toe_joint", 0.03),
}
HALVES = ("metacarpus", "metatarsus")
PELVIS, TRUNK, HEAD, HAND = 0.10, 0.12, 0.10, 0.05
SHORTEST_CAPSULE = 1e-4  # m


class _Span(NamedTuple):
    """A segment at rest and a radius around it; a ball where its ends coincide."""

    start: Array
    end: Array
    radius: float


def contact_shapes(
    parts: list[Part],
    marks: Mapping[str, Array],
    soles: Mapping[str, Sole],
    places: Array,
    frame: Array,
    weights: masses.Masses,
    stature: float,
    quadruped: bool,
) -> list[ContactShape]:
    """The shapes of all parts, whose frames at rest are at `places` (n, 3) with orientations `frame` (n, 4)."""
    shapes: list[ContactShape] = []
    for part, place, turn in zip(parts, places, frame, strict=True):
        if part.name in soles:
            shapes += _corners(part.name, soles[part.name])
            continue
        span = _span(part.name, marks, stature / STATURE)
        if span is None:
            continue
        length = float(np.linalg.norm(span.end - span.start))
        radius = span.radius
        if quadruped:  # as thick as its mass makes it
            heavy = sum(weight.mass for weight in weights[part.name])
            radius = math.sqrt(heavy / (masses.DENSITY * math.pi * max(length, 2.0 * radius)))
        back = quaternions.conjugate(turn)
        a, b = (as_vector(quaternions.rotate(back, point - place)) for point in (span.start, span.end))
        shapes.append(
            Capsule(part.name, part.name, a, b, radius)
            if length > SHORTEST_CAPSULE
            else Sphere(part.name, part.name, a, radius)
        )
    return shapes


def _corners(name: str, sole: Sole) -> list[ContactShape]:
    """Of a foot as in the presets, left_heel_right; of a paw at an arm, left_hand_heel_right."""
    owner = name.removesuffix("_foot")
    return [
        Corner(f"{owner}_{end}_{edge}", name, (x, y, -sole.height))
        for end, x in (("heel", sole.back), ("toe", sole.front))
        for edge, y in (("left", sole.left), ("right", sole.right))
    ]


def _span(name: str, marks: Mapping[str, Array], size: float) -> _Span | None:
    """Where a part's shape lies; none for parts that hide inside others."""
    side, _, limb = name.rpartition("_")
    if limb in LIMBS:
        start, end, radius = LIMBS[limb]
        if f"{side}_{end}" in marks:
            first, last = marks[f"{side}_{start}"], marks[f"{side}_{end}"]
            if limb in HALVES:  # the rest is thinner, and bends over the paw
                last = 0.5 * (first + last)
            return _Span(first, last, radius * size)
    elif name == "pelvis":
        return _Span(marks["left_hip"], marks["right_hip"], PELVIS * size)
    elif name in {"torso", "thorax"}:
        way = marks["cervicale"] - marks["hips"]
        return _Span(marks["hips"] + 0.5 * way, marks["hips"] + 0.8 * way, TRUNK * size)
    elif name == "head":
        middle = 0.5 * (marks["skull"] + marks["vertex"])
        return _Span(middle, middle, HEAD * size)
    elif limb == "hand":
        middle = 0.5 * (marks[f"{side}_wrist"] + marks[f"{side}_fingers"])
        return _Span(middle, middle, HAND * size)
    return None
