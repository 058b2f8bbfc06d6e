# SPDX-License-Identifier: GPL-3.0-or-later
"""With what a character may touch things: capsules along limbs and trunk, spheres at head and hands, soles' corners."""

import math
from collections.abc import Mapping

import numpy as np

from ..character import Capsule, ContactShape, Corner, Sphere
from . import masses, quaternions
from .feet import Sole
from .joints import as_vector
from .parts import Part
from .quaternions import Array


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
    """Capsules along limbs and trunk, spheres at head and hands, the corners of the soles."""
    size = stature / 1.75
    spans = {"pelvis": ("left_hip", "right_hip", 0.10), "abdomen": None, "head": None}
    shapes: list[ContactShape] = []
    for part, place, turn in zip(parts, places, frame, strict=True):
        side, _, limb = part.name.rpartition("_")
        back = quaternions.conjugate(turn)
        if part.name in soles:
            sole = soles[part.name]
            shapes += [
                Corner(f"{side}_{limb}_{end}_{edge}", part.name, (x, y, -sole.height))
                if limb == "hand"
                else Corner(f"{side}_{end}_{edge}", part.name, (x, y, -sole.height))
                for end, x in (("heel", sole.back), ("toe", sole.front))
                for edge, y in (("left", sole.left), ("right", sole.right))
            ]
            continue
        ends = {
            "arm": ("shoulder", "elbow", 0.045),
            "forearm": ("elbow", "wrist", 0.035),
            "thigh": ("hip", "knee", 0.07),
            "shank": ("knee", "ankle", 0.05),
        }.get(limb)
        span = spans.get(part.name)
        if ends is not None and f"{side}_{ends[1]}" in marks:
            start, end, radius = marks[f"{side}_{ends[0]}"], marks[f"{side}_{ends[1]}"], ends[2] * size
        elif span is not None:
            start, end, radius = marks[span[0]], marks[span[1]], span[2] * size
        elif part.name in {"torso", "thorax"}:
            start, end = (marks["hips"] + cut * (marks["cervicale"] - marks["hips"]) for cut in (0.5, 0.8))
            radius = 0.12 * size
        elif part.name == "head":
            start = end = 0.5 * (marks["skull"] + marks["vertex"])
            radius = 0.10 * size
        elif limb == "hand":
            start = end = 0.5 * (marks[f"{side}_wrist"] + marks[f"{side}_fingers"])
            radius = 0.05 * size
        else:
            continue
        if quadruped:
            length = max(float(np.linalg.norm(end - start)), 2.0 * radius)
            heavy = sum(weight.mass for weight in weights[part.name])
            radius = math.sqrt(heavy / (masses.DENSITY * math.pi * length))
        a, b = (as_vector(quaternions.rotate(back, point - place)) for point in (start, end))
        if np.linalg.norm(end - start) < 1e-4:
            shapes.append(Sphere(part.name, part.name, a, radius))
        else:
            shapes.append(Capsule(part.name, part.name, a, b, radius))
    return shapes
