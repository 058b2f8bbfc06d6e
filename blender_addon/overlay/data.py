# SPDX-License-Identifier: GPL-3.0-or-later
"""A character as coloured lines, in metres in the world: bodies, joint axes, feet, centre of mass. Pure data."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...core.character import Body, Capsule, Character, Corner, Sphere, storage
from ...core.motion import quaternions
from ...core.motion.body_plan import BodyPlan
from ...core.motion.quaternions import Array

Color = tuple[float, float, float, float]

BODY: Color = (0.55, 0.75, 1.0, 0.55)
AXIS: Color = (1.0, 0.75, 0.1, 1.0)
FOOT: Color = (0.3, 1.0, 0.5, 1.0)
CENTER: Color = (1.0, 0.3, 0.3, 1.0)
CIRCLE = 24  # sides
AXIS_LENGTH = 0.035  # of the character's extent
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Lines:
    """Segments: two vertices each."""

    vertices: Array  # (2 n, 3)
    colors: Array  # (2 n, 4)


@dataclass(frozen=True)
class Ride:
    """How a body rides on a bone: its frame in the bone's."""

    bone: str
    position: Array  # (3,) m
    orientation: Array  # (4,)


def rides_text(plan: BodyPlan, bones: Collection[str]) -> str:
    """Return the rides of a plan's bodies as text, to be kept with the character's.

    A body of a bone that is not among the armature's `bones` rides on the one above, as it does at rest.
    """
    rides = {}
    skeleton = plan.skeleton
    for index, body in enumerate(plan.character.bodies):
        bone = int(plan.leader[index])
        position = plan.origin[index]
        if skeleton.names[bone] not in bones:
            place = skeleton.head[bone] + quaternions.rotate(skeleton.orientation[bone], position)
            bone = int(skeleton.parent[bone])
            away = place - skeleton.head[bone]
            position = quaternions.rotate(quaternions.conjugate(skeleton.orientation[bone]), away)
        turn = quaternions.multiply(quaternions.conjugate(skeleton.orientation[bone]), plan.frame[index])
        rides[body.name] = [skeleton.names[bone], position.tolist(), turn.tolist()]
    return json.dumps(rides)


@lru_cache(maxsize=16)
def read_rides(text: str) -> Mapping[str, Ride]:
    """Return what `rides_text` wrote."""
    return {
        body: Ride(bone, np.array(position), np.array(orientation))
        for body, (bone, position, orientation) in json.loads(text).items()
    }


@lru_cache(maxsize=16)
def read_character(text: str) -> Character:
    """Return the character of a file's text; kept, since a viewport draws often."""
    return storage.parse(text.encode(), "the armature's character")


def character_lines(character: Character, place: Mapping[str, tuple[Array, Array]]) -> Lines:
    """Return the lines of a character whose bodies' frames stand at these (position, orientation)."""
    origins = np.array([place[body.name][0] for body in character.bodies])
    axis_length = AXIS_LENGTH * max(float(np.linalg.norm(np.ptp(origins, axis=0))), 0.1)
    segments: list[tuple[Array, Color]] = []
    weighted = np.zeros(3)
    for body in character.bodies:
        position, orientation = place[body.name]
        weighted += body.mass * (position + quaternions.rotate(orientation, np.array(body.center_of_mass)))
        segments += [(position + quaternions.rotate(orientation, line), BODY) for line in ellipsoid(body)]
        for axis in body.joint.axes or ((X, Y, Z) if body.joint.kind == "ball" else ()):
            along = axis_length * quaternions.rotate(orientation, np.asarray(axis))
            segments.append((np.array([position - along, position + along]), AXIS))
    segments += [(line, FOOT) for line in contact_lines(character, place)]
    center = weighted / character.total_mass
    for axis in (X, Y, Z):
        segments.append((np.array([center - axis_length * axis, center + axis_length * axis]), CENTER))
    segments.append((np.array([center, center * [1.0, 1.0, 0.0]]), CENTER))
    return joined(segments)


def ellipsoid(body: Body) -> list[Array]:
    """Return three circles (n, 3) of the solid ellipsoid with the body's mass and inertia, in its frame.

    A solid ellipsoid of half axes a, b, c has the moments m (b^2 + c^2) / 5 and so on.
    """
    moments, axes = np.linalg.eigh(np.array(body.inertia))
    squares = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
    half = np.sqrt(np.maximum(squares, 1e-8))
    angle = np.linspace(0.0, 2.0 * np.pi, CIRCLE + 1)
    circles: list[Array] = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        points = np.outer(half[i] * np.cos(angle), axes[:, i]) + np.outer(half[j] * np.sin(angle), axes[:, j])
        circles.append(np.asarray(np.array(body.center_of_mass) + points, np.float64))
    return circles


def contact_lines(character: Character, place: Mapping[str, tuple[Array, Array]]) -> list[Array]:
    """Return a closed outline through each body's corners, crosses at its spheres, and its capsules' axes."""
    lines = []
    corners: dict[str, list[Array]] = {}
    for contact in character.contacts:
        position, orientation = place[contact.body]
        if isinstance(contact, Capsule):
            ends = np.array([contact.start, contact.end])
            lines.append(position + quaternions.rotate(orientation, ends))
            continue
        point = position + quaternions.rotate(orientation, np.array(contact.position))
        if isinstance(contact, Corner):
            corners.setdefault(contact.body, []).append(point)
        elif isinstance(contact, Sphere):
            lines += [np.array([point - contact.radius * axis, point + contact.radius * axis]) for axis in (X, Y, Z)]
    return lines + [outline(np.array(points)) for points in corners.values()]


def outline(points: Array) -> Array:
    """Return points (n, 3) of a sole in order around their middle, the first again at the end."""
    if len(points) < 3:
        return points
    away = points - points.mean(axis=0)
    across = np.linalg.svd(away)[2]
    order = np.argsort(np.arctan2(away @ across[1], away @ across[0]))
    return points[[*order, order[0]]]


def joined(segments: Sequence[tuple[Array, Color]]) -> Lines:
    """Cut polylines into segments and put all into one array."""
    if not segments:
        return Lines(np.zeros((0, 3)), np.zeros((0, 4)))
    ends = [np.repeat(np.asarray(points, dtype=np.float64).reshape(-1, 3), 2, axis=0)[1:-1] for points, _ in segments]
    colors = np.repeat(np.array([color for _, color in segments]), [len(each) for each in ends], axis=0)
    return Lines(np.concatenate(ends), colors)
