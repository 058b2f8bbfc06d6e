# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabs: empties that mark where a hand holds on, with a keyed switch. What is held stays, or moves by its keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from ...core.contact.terrain import RigidMotion
from ...core.motion import quaternions
from ...core.motion.clip import Clip
from ...core.motion.quaternions import Array
from ...core.motion.schedule import runs
from ...core.simulation import Grab
from ...core.simulation.grabs import GrabKind
from ..rig.reading import rotations_of
from ..typed import settings_on
from .attachment import attach, place_of

MOVES = 1e-3  # m: a held object that goes or turns no further than this at arm's length stays
ARM = 1.0  # m
FINER = 5  # times as many samples as frames


@dataclass(frozen=True, eq=False)
class Reach:
    """A grab of another character: of whatever of it is near when it begins."""

    grab: Grab  # times from the job's first frame on
    uid: int  # session number of the other armature
    place: Array  # (3,) of the hand in the world when it takes hold, m

    def grab_later(self, seconds: float) -> Grab:
        """Return the grab with times counted from so much earlier."""
        return replace(self.grab, start=self.grab.start + seconds, end=self.grab.end + seconds)


@dataclass
class Grip:
    """One grab, while the frames go by."""

    empty: bpy.types.Object
    matrix: Array  # (nf, 4, 4) in the world
    target: Array  # (nf, 4, 4) of the held object, in the world
    holding: NDArray[np.bool_]  # (nf,)

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        evaluated = self.empty.evaluated_get(graph)
        self.matrix[row] = np.array(evaluated.matrix_world)
        self.holding[row] = settings_on(evaluated).grab.holding
        held = settings_on(self.empty).grab.target
        if held is not None:
            self.target[row] = np.array(held.evaluated_get(graph).matrix_world)


def find_grips(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object, frames: int) -> list[Grip]:
    """Return the grabs of a character that are shown."""
    return [
        Grip(other, np.zeros((frames, 4, 4)), np.zeros((frames, 4, 4)), np.zeros(frames, dtype=np.bool_))
        for other in view_layer.objects
        if other.type == "EMPTY"
        and settings_on(other).grab.armature == armature
        and other.visible_get(view_layer=view_layer)
    ]


def grabs_of(
    grip: Grip,
    armature: bpy.types.Object,
    clip: Clip,
    unit: float,
    start: int,
    props: Mapping[str, str],
    partners: Collection[int] = (),
) -> list[Grab | Reach]:
    """Return a grab for every stretch of frames in which the switch is on, whose time begins at row `start`.

    `props` are the props' names by object, `partners` the characters that are baked in one world with this one.
    """
    if not grip.holding.any():
        return []
    settings, name = settings_on(grip.empty).grab, grip.empty.name
    attachment = attach(armature, settings.bone, clip, name)
    other = props.get(settings.target.name_full) if settings.target is not None else None
    partner = settings.target.session_uid if settings.target is not None else None
    reaches = partner in partners and settings.target != armature
    found: list[Grab | Reach] = []
    for first, stop in runs(grip.holding):
        free = other is None and not reaches and settings.target is not None
        motion = (
            motion_of(grip.target, unit, clip.rate, start) if free and moves(grip.target[first:stop], unit) else None
        )
        place = place_of(grip.matrix[first], unit)
        x, y, z = attachment.local(clip, first, place).tolist()
        kind: GrabKind = "full" if settings.kind == "FULL" else "point"
        end = np.inf if stop == len(grip.holding) else (stop - start) / clip.rate
        grab = Grab(attachment.body, (x, y, z), kind, (first - start) / clip.rate, end, other, motion=motion)
        found.append(Reach(grab, partner, place) if reaches else grab)
    return found


def moves(matrices: Array, unit: float) -> bool:
    """Return whether an object (n, 4, 4) goes anywhere, or turns."""
    way = unit * np.linalg.norm(matrices[:, :3, 3] - matrices[0, :3, 3], axis=1).max()
    turns = rotations_of(matrices[:, :3, :3])
    return bool(way > MOVES or ARM * np.abs(turns - turns[0]).max() > MOVES)


def motion_of(matrices: Array, unit: float, rate: float, start: int) -> RigidMotion:
    """Return how an object moves, whose time begins at row `start`; in between smoothly, as keys have it."""
    turns = Rotation.from_matrix(rotations_of(matrices[:, :3, :3]))
    rows = np.linspace(0.0, len(matrices) - 1.0, FINER * (len(matrices) - 1) + 1)
    known = np.arange(len(matrices))
    x, y, z, w = RotationSpline(known, turns)(rows).as_quat().T
    places = CubicSpline(known, unit * matrices[:, :3, 3])(rows)
    return RigidMotion(places, quaternions.continuous(np.stack([w, x, y, z], axis=1)), FINER * rate, -start / rate)
