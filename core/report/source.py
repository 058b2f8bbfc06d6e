# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances to the source action, and how both touch the ground: figures as the literature on tracking reports them.

The mean joint position error and the acceleration error are those of trackers (Luo et al. 2023, section 4), over all
bones that the character's bodies carry, in the world and not aligned. Penetration, float and skate are PhysDiff's (Yuan
et al. 2023, section 4): how deep the lowest point is under the ground, how high it is over it, and how far points that
touch in two frames in a row move along it; within a tolerance, as there, a point counts as on the ground. Float is
that of all frames there, so that every jump floats; beside it stands the same without flights, frames in which the
baked body has no more than its weight on it. Those of the source are then left out, too.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..contact.terrain import Terrain
from ..dynamics import body_poses
from ..dynamics.kinematics import difference_positions
from ..motion.schedule import contact_points
from ..motion.tracks import ground_under, point_places

Array = NDArray[np.float64]

TOLERANCE = 0.005  # m, within which the lowest point is on the ground
ACCELERATED = 1.0 / 30.0  # s over which an acceleration is taken, on either side: trackers run at 30 frames a second
MILLIMETRES = 1e3

DISTANCES = ("source_error_mm", "source_joint_rms_deg", "acceleration_error")
GROUNDED = ("skate_mm_per_frame", "float_mm", "float_outside_flights_mm", "penetration_mm")
NUMBERS = (*DISTANCES, *GROUNDED, *(f"source_{name}" for name in GROUNDED), "source_foot_slide_m")

NEAR = 30.0  # mm of mean joint position error, up to which it is the action that was keyed
STANDS = 0.005  # m: a foot that slides by less in a stance stands
SLIDES = 0.02  # m more than the source moves that foot meanwhile
SKATES = 1.0  # mm a frame more than the source: from there on feet glide that did not
SINKS = 0.005  # m
DEEP = 0.01  # m: seen by everyone, whatever was keyed

Fault = Literal["far", "slides", "sinks"]


def nothing() -> dict[str, Any]:
    """The figures of what was cancelled before it began."""
    return {**dict.fromkeys(NUMBERS, 0.0), "good": False}


def compare(
    character: Character,
    q: Array,
    wanted: Array,
    bones: tuple[Array, Array],
    terrain: Terrain,
    flies: NDArray[np.bool_],
    fps: float,
) -> dict[str, float]:
    """All figures of positions (nf, nq) against those of the source, and of their bones' places (nf, nb, 3).

    The body `flies` (nf,) where nothing holds it up.
    """
    baked, source = bones
    figures = {
        "source_error_mm": MILLIMETRES * float(np.linalg.norm(baked - source, axis=2).mean()),
        "source_joint_rms_deg": joint_rms(character, q, wanted),
        "acceleration_error": acceleration_error(baked, source, fps),
        "source_foot_slide_m": 0.0,
    }
    figures |= on_ground(character, q, terrain, flies, fps)
    before = on_ground(character, wanted, terrain, flies, fps)
    return figures | {f"source_{name}": value for name, value in before.items()}


def foot_way(character: Character, q: Array, body: int, first: int, last: int) -> float:
    """How far a body moves along the ground between two of the frames q (nf, nq), m."""
    rows = np.clip([first, last], 0, len(q) - 1)
    places = np.array([body_poses(character, np.ascontiguousarray(row))[0][body] for row in q[rows]])
    return float(np.linalg.norm(places[1, :2] - places[0, :2]))


def joint_rms(character: Character, q: Array, wanted: Array) -> float:
    """RMS over frames and joint coordinates but a free root's, degrees."""
    first = 6 if character.bodies[0].joint.kind == "free" else 0
    change = np.zeros((len(q), character.nv))
    for way, own, other in zip(change, q, wanted, strict=True):
        difference_positions(character.tree, np.ascontiguousarray(other), np.ascontiguousarray(own), way)
    angles = change[:, first:]
    return float(np.degrees(np.sqrt(np.mean(angles**2)))) if angles.size else 0.0


def acceleration_error(places: Array, source: Array, fps: float) -> float:
    """Mean distance of the points' (nf, nb, 3) accelerations from the source's, m/s²."""
    reach = max(1, round(ACCELERATED * fps))
    away = places - source
    if len(away) <= 2 * reach:
        return 0.0
    second = (away[2 * reach :] - 2.0 * away[reach:-reach] + away[: -2 * reach]) * (fps / reach) ** 2
    return float(np.linalg.norm(second, axis=2).mean())


def on_ground(
    character: Character, q: Array, terrain: Terrain, flies: NDArray[np.bool_], fps: float
) -> dict[str, float]:
    """Skate, float and penetration of positions (nf, nq), means over frames."""
    points = contact_points(character)
    if not points or len(q) == 0:
        return dict.fromkeys(GROUNDED, 0.0)
    radius = np.array([point.radius for point in points])
    places = point_places(character, np.ascontiguousarray(q), points)
    ground = ground_under(terrain, places, radius, fps)
    lowest = ground.height.min(axis=1)
    feet = np.array([point.foot for point in points], dtype=np.bool_)
    touching = ground.height[:, feet] < TOLERANCE
    both = touching[1:] & touching[:-1]
    moves = np.diff(places[:, feet], axis=0) - ground.velocity[1:, feet] / fps
    moves -= (moves * ground.normal[1:, feet]).sum(axis=2, keepdims=True) * ground.normal[1:, feet]
    ways = np.linalg.norm(moves, axis=2)[both]
    floats = np.where(lowest > TOLERANCE, lowest, 0.0)
    return {
        "skate_mm_per_frame": MILLIMETRES * float(ways.mean()) if ways.size else 0.0,
        "float_mm": MILLIMETRES * float(floats.mean()),
        "float_outside_flights_mm": MILLIMETRES * float(floats[~flies].mean()) if not flies.all() else 0.0,
        "penetration_mm": MILLIMETRES * float(np.where(lowest < -TOLERANCE, -lowest, 0.0).mean()),
    }


def faults(figures: dict[str, Any]) -> tuple[Fault, ...]:
    """What keeps a bake that was completed from being good.

    It is far from what was keyed, unless it follows none of it; a foot slides that does not in it, or something sinks
    deeper than it does there, or so deep that it shows.
    """
    slid = figures["max_foot_slide_m"]
    more = figures["skate_mm_per_frame"] > figures["source_skate_mm_per_frame"] + SKATES
    slides = slid > (STANDS if more else SLIDES + figures["source_foot_slide_m"])
    deeper = figures["penetration_mm"] > figures["source_penetration_mm"]
    sinks = figures["max_penetration_m"] > (SINKS if deeper else DEEP)
    far = figures.get("follows", True) and figures["source_error_mm"] > NEAR
    found: dict[Fault, bool] = {"far": far, "slides": slides, "sinks": sinks}
    return tuple(fault for fault, there in found.items() if there)


def is_good(figures: dict[str, Any]) -> bool:
    """What the tick means: completed, near to what was keyed, no foot sliding that does not in it, and not sinking."""
    return figures["outcome"] == "completed" and not faults(figures)
