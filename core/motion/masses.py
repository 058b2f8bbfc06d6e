# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of a person or of an animal weigh, placed on a skeleton at rest.

A part is named as its body is in body_plan.py, its mass given in the world's frame at rest. People are de Leva's (see
character.anthropometry). Animals have the fractions of three Thoroughbred horses: K. Kubo, T. Sakai, H. Sakuraoka and
K. Ishii, "Segmental body weight, volume and mass center in Thoroughbred horses", Japanese Journal of Equine Science
3(2), 1992; their segments are cylinders of water along the bones. Or what the mesh around the bones says: the convex
hull of each bone's vertices, of water.
"""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.spatial import ConvexHull, QhullError

from ..character.anthropometry import Segment, Sex, segment_length, segment_mass
from ..character.mass import Mass, combine, cylinder
from . import quaternions
from .quaternions import Array

Landmarks = Mapping[str, Array]  # places at rest by name, see body_plan.py
Masses = dict[str, list[Mass]]

# Fractions of a person's stature (character.presets.person), and of the way from hips to seventh cervical vertebra.
LEG_OF_STATURE = 0.491
HIP_HEIGHT_OF_STATURE = 0.53
MASS_OF_STATURE = 23.0  # kg/m²
OMPHALION, XIPHION = 0.24, 0.60
CLAVICLE = 0.012  # of a body's mass, taken off the upper trunk

# An animal's mass by the cube of its hips' height: a dog of 0.6 m has 28 kg, a horse of 1.5 m 440.
MASS_OF_HIP_HEIGHT = 130.0  # kg/m³
DENSITY = 1000.0  # kg/m³

# Kubo et al. 1992, of the whole; of a limb, one side. The hand is metacarpus and digit, the foot metatarsus and digit.
HORSE = {
    "trunk": 0.595,
    "neck": 0.070,
    "head": 0.044,
    "tail": 0.001,
    "arm": 0.046,
    "forearm": 0.009,
    "hand": 0.005,
    "thigh": 0.069,
    "shank": 0.010,
    "foot": 0.007,
}
METAPODIALS = {"hand": ("metacarpus", "finger_joint"), "foot": ("metatarsus", "toe_joint")}  # and where they end
METAPODIAL = 0.6  # of what these and the digits weigh together
MOST_TILT = 50.0  # of the exponent of a factor: masses as unlike as that are none
THIN = 0.02  # of stature: a metatarsus' radius


def person(marks: Landmarks, heading: Array, stature: float, total_mass: float, sex: Sex) -> Masses:
    """The parts of a person; a part that has no landmarks is left out."""
    back = quaternions.conjugate(heading)

    def segment(name: Segment, start: Array, end: Array, typical: tuple[float, float, float]) -> Mass:
        """A segment between places at rest; `typical` is its direction in an upright person who faces X."""
        direction = quaternions.rotate(back, (end - start) / np.linalg.norm(end - start))
        # The side turns with the limb, so that an arm held out keeps its axes.
        side = quaternions.rotate(quaternions.between(np.array(typical), direction), np.array([0.0, 1.0, 0.0]))
        return segment_mass(name, start, end, total_mass, sex, quaternions.rotate(heading, side))

    hips, cervicale = marks["hips"], marks["cervicale"]
    omphalion, xiphion = (hips + part * (cervicale - hips) for part in (OMPHALION, XIPHION))
    down = (0.0, 0.0, -1.0)
    parts: Masses = {
        "pelvis": [segment("lower_trunk", omphalion, hips, down)],
        "abdomen": [segment("middle_trunk", xiphion, omphalion, down)],
        "thorax": [segment("upper_trunk", cervicale, xiphion, down)],
    }
    way = marks["vertex"] - cervicale
    vertex = cervicale + way * (segment_length("head", stature, sex) / np.linalg.norm(way))
    parts["head"] = [segment("head", vertex, cervicale, down)]
    for side in ("left", "right"):
        for part, name, start, end in (
            ("arm", "upper_arm", "shoulder", "elbow"),
            ("forearm", "forearm", "elbow", "wrist"),
            ("thigh", "thigh", "hip", "knee"),
            ("shank", "shank", "knee", "ankle"),
        ):
            if f"{side}_{end}" in marks:
                places = (marks[f"{side}_{start}"], marks[f"{side}_{end}"])
                parts[f"{side}_{part}"] = [segment(name, *places, down)]  # type: ignore[arg-type]
        if f"{side}_fingers" in marks:
            wrist = marks[f"{side}_wrist"]
            way = marks[f"{side}_fingers"] - wrist
            tip = wrist + way * (segment_length("hand", stature, sex) / np.linalg.norm(way))
            parts[f"{side}_hand"] = [segment("hand", wrist, tip, down)]
        foot = segment("foot", marks[f"{side}_heel_middle"], marks[f"{side}_toe_middle"], (1.0, 0.0, 0.0))
        if f"{side}_toe_joint" in marks:
            upper = cylinder(METAPODIAL * foot.mass, marks[f"{side}_ankle"], marks[f"{side}_toe_joint"], THIN * stature)
            parts[f"{side}_metatarsus"] = [upper]
            foot = _scaled(foot, 1.0 - METAPODIAL)
        parts[f"{side}_foot"] = [foot]
        if f"{side}_clavicle" in marks:
            girdle = CLAVICLE * total_mass
            ends = (marks[f"{side}_clavicle"], marks[f"{side}_shoulder"])
            parts[f"{side}_clavicle"] = [cylinder(girdle, *ends, 0.03 * stature)]
            # the upper trunk is thinned evenly by what the shoulder girdles weigh
            trunk = parts["thorax"][0]
            rest = 1.0 - girdle / trunk.mass
            parts["thorax"] = [Mass(rest * trunk.mass, trunk.center, rest * trunk.inertia)]
    return _weighing(parts, total_mass)


def animal(marks: Landmarks, total_mass: float) -> Masses:
    """The parts of a quadruped; its trunk is one cylinder, cut where a person's would be."""

    def bar(fraction: float, start: Array, end: Array) -> Mass:
        mass = fraction * total_mass
        length = max(float(np.linalg.norm(end - start)), 1e-3)
        return cylinder(mass, start, end, math.sqrt(mass / (DENSITY * math.pi * length)))

    hips, cervicale = marks["hips"], marks["cervicale"]
    parts: Masses = {}
    cuts = (0.0, OMPHALION, XIPHION, 1.0)
    for part, (near, far) in zip(("pelvis", "abdomen", "thorax"), pairwise(cuts), strict=True):
        ends = (hips + cut * (cervicale - hips) for cut in (near, far))
        parts[part] = [bar(HORSE["trunk"] * (far - near), *ends)]
    parts["head"] = [bar(HORSE["head"], marks["skull"], marks["vertex"])]
    if np.linalg.norm(marks["skull"] - cervicale) > 1e-3:
        parts["head"].append(bar(HORSE["neck"], cervicale, marks["skull"]))
    if "tail" in marks:
        parts["tail"] = [bar(HORSE["tail"], marks["tail"], marks["tail_tip"])]
    for side in ("left", "right"):
        for part, start_mark, end_mark in (
            ("arm", "shoulder", "elbow"),
            ("forearm", "elbow", "wrist"),
            ("hand", "wrist", "fingers"),
            ("thigh", "hip", "knee"),
            ("shank", "knee", "ankle"),
            ("foot", "ankle", "toes"),
        ):
            if f"{side}_{end_mark}" not in marks:
                continue
            start, end, share = marks[f"{side}_{start_mark}"], marks[f"{side}_{end_mark}"], HORSE[part]
            upper, between = METAPODIALS.get(part, ("", ""))
            if f"{side}_{between}" in marks:
                middle = marks[f"{side}_{between}"]
                parts[f"{side}_{upper}"] = [bar(METAPODIAL * share, start, middle)]
                start, share = middle, (1.0 - METAPODIAL) * share
            parts[f"{side}_{part}"] = [bar(share, start, end)]
        if f"{side}_clavicle" in marks:
            parts[f"{side}_clavicle"] = [bar(CLAVICLE, marks[f"{side}_clavicle"], marks[f"{side}_shoulder"])]
    return _weighing(parts, total_mass)


def from_mesh(clouds: Mapping[str, list[Array]], tables: Masses, total_mass: float | None) -> Masses:
    """The same bodies with the masses of the hulls around their bones' vertices, in the world's frame at rest.

    A body without a mesh keeps its share of the whole from the tables. The whole weighs what water of its volume does,
    unless its mass is given.
    """
    hulls = {name: [hull for cloud in clouds.get(name, []) if (hull := _hull(cloud)) is not None] for name in tables}
    bare = [name for name, found in hulls.items() if not found]
    if len(bare) == len(tables):
        raise ValueError("The mesh encloses no bone, so it gives no masses: take the masses from tables instead.")
    whole, missing = (sum(mass.mass for name in names for mass in tables[name]) for names in (tables, bare))
    measured = sum(mass.mass for found in hulls.values() for mass in found)
    total = total_mass if total_mass is not None else measured * whole / (whole - missing)
    kept, filled = (whole - missing) / whole * total / measured, total / whole
    return {
        name: [_scaled(mass, kept) for mass in found] if found else [_scaled(mass, filled) for mass in tables[name]]
        for name, found in hulls.items()
    }


def balanced(parts: Masses, ahead: Array, low: float, high: float) -> Masses:
    """The same bodies, weighing as much together, with their middle between `low` and `high` along `ahead` (3,), m.

    A hull knows nothing of lungs, or of a skull that is all mouth; who stands without falling over weighs less on the
    side that hangs over. Of all masses that do, those are taken that say the least more: each is multiplied by
    exp(-k x), x its own place (exponential tilting).
    """
    every = [mass for masses in parts.values() for mass in masses]
    mass = np.array([one.mass for one in every])
    place = np.array([one.center @ ahead for one in every])
    middle = float(mass @ place) / float(mass.sum())
    wanted = float(np.clip(middle, low, high))
    reach = float(np.abs(place - wanted).max(initial=0.0))
    if wanted == middle or not place.min() < wanted < place.max():
        return parts

    def weights(k: float) -> Array:
        way = k * (place - wanted) / reach
        result: Array = mass * np.exp(-way - np.max(-way))
        return result

    k = brentq(lambda k: float(weights(k) @ (place - wanted)), -MOST_TILT, MOST_TILT, xtol=1e-12)
    factors = iter(weights(k) / mass)
    tilted = {name: [_scaled(one, float(next(factors))) for one in masses] for name, masses in parts.items()}
    return _weighing(tilted, float(mass.sum()))


def _hull(points: Array) -> Mass | None:
    """The convex hull of points, of water; None where they have no volume."""
    if len(points) < 4:
        return None
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    # tetrahedra from a point within to every face; for corners a, b, c and 0, with det = 6 volumes,
    # the integral of x x^T is det / 120 (a a^T + b b^T + c c^T + (a + b + c)(a + b + c)^T)
    inside = points[hull.vertices].mean(axis=0)
    corners = points[hull.simplices] - inside
    det = np.abs(np.linalg.det(corners))
    volume = det.sum() / 6.0
    sums = corners.sum(axis=1)
    center = (det[:, None] * sums).sum(axis=0) / (24.0 * volume)
    second = np.einsum("n,nki,nkj->ij", det, corners, corners) + np.einsum("n,ni,nj->ij", det, sums, sums)
    about = second / 120.0 - volume * np.outer(center, center)
    inertia = DENSITY * (np.trace(about) * np.eye(3) - about)
    return Mass(DENSITY * volume, inside + center, inertia)


def _scaled(mass: Mass, factor: float) -> Mass:
    return Mass(factor * mass.mass, mass.center, factor * mass.inertia)


def _weighing(parts: Masses, total_mass: float) -> Masses:
    """The same parts, together of the given mass whatever is missing."""
    scale = total_mass / sum(mass.mass for masses in parts.values() for mass in masses)
    return {name: [_scaled(mass, scale) for mass in masses] for name, masses in parts.items()}


def seen_from(masses: list[Mass], origin: Array, orientation: Array) -> Mass:
    """Masses given in the world as one rigid body's, in a frame with that origin and orientation."""
    whole = combine(masses)
    turn = quaternions.matrix(quaternions.conjugate(orientation))
    inertia = turn @ whole.inertia @ turn.T
    return Mass(whole.mass, turn @ (whole.center - origin), 0.5 * (inertia + inertia.T))
