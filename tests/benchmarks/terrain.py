# SPDX-License-Identifier: GPL-3.0-or-later
"""Terrain: a mesh of a million triangles made ready, and one point asked of it; a step's detection on eight corners."""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from harness import Row, measure
from heft.core.character.parts import Corner
from heft.core.contact.detection import detect, make_contacts
from heft.core.contact.shapes import make_shapes
from heft.core.contact.terrain import Mesh, Plane, make_pose, make_terrain, nearest_on_surface

sys.path.append(str(Path(__file__).parents[1] / "core" / "contact"))
from meshes import sheet

SIDE = 708


def hills(x: float, y: float) -> float:
    return 0.1 * float(np.sin(3 * x) * np.cos(2 * y))


def rows() -> Iterator[Row]:
    vertices, triangles = sheet(hills, 20.0, SIDE)
    yield Row(f"mesh of {len(triangles)} triangles made ready", *measure(lambda: Mesh(vertices, triangles), 3.0))

    rng = np.random.default_rng(0)
    terrain = make_terrain([Mesh(vertices, triangles)])
    pose = make_pose(terrain)
    places = rng.uniform(-9, 9, (1000, 2))
    heights = [hills(x, y) + rng.uniform(-0.01, 0.03) for x, y in places]
    turn = itertools.cycle([(x, y, z) for (x, y), z in zip(places, heights, strict=True)])
    median, p99 = measure(lambda: nearest_on_surface(terrain, pose, 0, next(turn), 0.1))
    yield Row("nearest point of it, through Python", median, p99)

    corners = [Corner(f"{b}{x}{y}", b, (x, y, -0.05)) for b in "ab" for x in (-0.1, 0.1) for y in (-0.04, 0.04)]
    shapes = make_shapes(corners, {"a": 0, "b": 1})
    quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    contacts = make_contacts(64)
    for name, ground in (("plane", make_terrain([Plane()])), ("that mesh", terrain)):
        poses = make_pose(ground)
        position = np.array([[0.0, 0.1, 0.05], [0.3, -0.1, 0.05]])
        if name == "that mesh":
            position[:, 2] += [hills(x, y) for x, y, _ in position]
        arguments = (shapes, ground, poses, position, quaternion, 0.03, 0.1, contacts)
        median, p99 = measure(lambda arguments=arguments: detect(*arguments))
        yield Row(f"eight corners against {name}, through Python", median, p99)
