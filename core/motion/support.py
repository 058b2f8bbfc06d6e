# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion rests on, as plain data, and where there is room for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from ..character import Character
from ..contact.terrain import Mesh, Terrain
from .boxes import Box, clear
from .fit import Trajectory
from .footholds import heights_below
from .labels import Grab
from .quaternions import Array
from .schedule import contact_points
from .tracks import ground_under, point_places

Kind = Literal["ground", "seat", "ledge", "wall", "bar"]
Vector = tuple[float, float, float]
SOLID: tuple[Kind, ...] = ("seat", "ledge", "wall")
STILL = 0.25  # m/s, of hips that sit and hands that hold
SHORTEST = 0.3  # s, for which they do
MOSTLY = 0.5  # of those frames something is lacking
FLOOR = "Floor"  # the name of ground under all else
EVEN = 0.03  # m, by which the rises of a flight of steps differ
LOW = 5.0  # percentile of the soles' heights
SLAB = 0.05  # m thick
SHARES = (1.0, 0.7, 0.5, 0.3)  # of how far a seat would reach ahead, as there is room
THERE = 0.05  # m: ground so near is what carries
BEYOND = 0.3  # m of a bar or a wall beyond the hands


@dataclass(frozen=True, eq=False)
class Support:
    """Something that a motion rests on, over the motion's own floor."""

    kind: Kind
    frames: tuple[float, float]  # first and last, by the source's numbers
    height: float  # m over what is below it
    objects: tuple[Box, ...]  # what the scene lacks; none where it is there
    rests: tuple[Grab, ...] = ()  # points that lie on it or hold on to it, besides those that touch any ground
    held: tuple[Vector, ...] = ()  # m, where in the world each of those that hold on does

    @property
    def line(self) -> str:
        """For the report."""
        first, last = self.frames
        return f"It rests on what the scene lacks, {self.text}, in frames {first:.0f} to {last:.0f}: it was put there."

    @property
    def text(self) -> str:
        """What it is, in words."""
        height = f"{100.0 * self.height:.0f} cm"
        words = {
            "seat": f"a seat {height} high under the hips",
            "ledge": f"a ledge {height} high under a hand",
            "wall": "a wall in front of a hand",
            "bar": f"a bar {height} high in the hands",
        }
        return words.get(self.kind) or _told_of_steps(
            [box.top - box.bottom for box in self.objects if box.name != FLOOR]
        )

    @property
    def solid(self) -> tuple[Mesh, ...]:
        """What of it a body meets beside the ground: a bar is inside the hands that hold it."""
        return tuple(box.mesh() for box in self.objects) if self.kind in SOLID else ()

    def lifted(self, height: float) -> "Support":
        """The same so much higher."""
        objects = tuple(box._replace(bottom=box.bottom + height, top=box.top + height) for box in self.objects)
        return replace(self, objects=objects, held=tuple((x, y, z + height) for x, y, z in self.held))


def _told_of_steps(tops: Sequence[float]) -> str:
    """Ground in words, by how high its objects are."""
    heights = sorted({round(top, 2) for top in tops})
    rises = [after - before for before, after in pairwise([0.0, *heights])]
    if len(heights) > 1 and max(rises) - min(rises) < EVEN:
        return f"{len(heights)} steps of {100.0 * float(np.mean(rises)):.0f} cm"
    *more, last = (f"{100.0 * height:.0f}" for height in heights)
    return f"ground {', '.join(more)}{' and ' if more else ''}{last} cm off the floor"


def put(character: Character, trajectory: Trajectory, terrain: Terrain, box: Box) -> Box | None:
    """As much of a box as there is room for; None for none.

    It stands on what is below it, or where the body is in the way, is as thin as a board, and smaller.
    """
    flesh = (character.bodies[0].name, "left_thigh", "right_thigh")
    block = box._replace(bottom=floor_below(terrain, box))
    board = box._replace(bottom=box.top - SLAB)
    sizes = [
        kind._replace(front=ahead * box.front, back=share * box.back, right=share * box.right, left=share * box.left)
        for kind in (block, board)
        for ahead in SHARES
        for share in (1.0, 0.7, 0.5)
    ]
    return clear(character, trajectory, (one for one in sizes if one.bottom < one.top), flesh)


def is_there(terrain: Terrain, rate: float, box: Box, upright: bool = False) -> bool:
    """Whether there is ground at a box's top, or at its face if it is `upright`."""
    height = box.top - BEYOND if upright else box.top
    place = np.array([[[*box.place, height]]])
    return abs(float(ground_under(terrain, place, np.zeros(1), rate).height[0, 0])) < THERE


def soles_height(character: Character, trajectory: Trajectory) -> Array:
    """Height (nf,) of the lowest point of the feet."""
    feet = [point for point in contact_points(character) if point.foot]
    if not feet:
        return np.full(len(trajectory.q), -np.inf)
    low: Array = point_places(character, trajectory.q, feet)[..., 2].min(axis=1)
    return low


def floor_below(terrain: Terrain, box: Box) -> float:
    """Height of the ground under it."""
    return ground_at(terrain, np.array([*box.place, box.top]))


def ground_at(terrain: Terrain, place: Array) -> float:
    """Height of the ground below a place; z = 0 where there is none."""
    found = float(heights_below(terrain, place[None])[0])
    return found if np.isfinite(found) else 0.0


def unit(way: Array) -> tuple[float, float]:
    """Its direction along the ground, X where it has none."""
    length = float(np.linalg.norm(way))
    return (1.0, 0.0) if length < 1e-6 else (float(way[0]) / length, float(way[1]) / length)
