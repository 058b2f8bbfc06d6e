# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls whose deforming bones are where they are asked to be, checked on the rig as Blender evaluates it.

All frames are corrected at once, then evaluated again, until they are there or no longer get nearer. Tweaks, that an
animator rarely keys, come last and only where the other controls do not reach.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import Channels, RestBone, rest_bones
from . import rigify
from .combining import as_combined
from .drives import Drive, Map
from .recording import PART_OF_MODE, Recorded
from .solving import next_channels, off_by
from .stand_in import StandIn

NEAR = 2e-4, 0.1  # metres and degrees: as good as there
REACHED = 1e-3, 0.5  # what is further off is told
HALF_REACHED = 5e-4, 0.25
UNCHANGED = 1e-4  # metres, or hundredths of a degree: rounding
QUATERNION = 4
ROUNDS = 6  # of corrections at most
MAPS = (rigify.map_of,)


@dataclass(frozen=True)
class Miss:
    """How far a deforming bone stays from where it is to be, at worst, and at which frame."""

    bone: str
    metres: float
    degrees: float
    frame: float


@dataclass(frozen=True)
class Solution:
    """What controls are keyed with, and where deforming bones stay off."""

    channels: dict[str, dict[str, Array]]  # by control: location (nf, 3), rotation (nf, width)
    misses: tuple[Miss, ...]  # beyond what counts as reached, the worst first


def map_for(armature: bpy.types.Object) -> Map | None:
    """Return the map of the armature's family; None where it is not known."""
    names = armature.data.bones.keys()
    return next((found for make in MAPS if (found := make(names)) is not None), None)


class Solving:
    """The correction of one armature's controls. The armature may be gone meanwhile, or its stand-in undone."""

    def __init__(
        self,
        armature: bpy.types.Object,
        recorded: Recorded,
        pose: Array,
        target: Array,
        metre: float,
        *,
        combined: bool = False,
    ) -> None:
        """Begin with what was recorded at the frames, and the poses (nf, nb, 4, 4) that it gave.

        `target` are the poses to come to, in the armature's space; `metre` is the length of one there. What is to be
        `combined` with what was recorded has Blender's rounding in it.
        """
        self._combined = combined
        chart = map_for(armature)
        if chart is None:
            raise ValueError(f"The controls of {armature.name} are of no rig that Heft knows: choose another Output.")
        self._uid, self._metre = armature.session_uid, metre
        self._drives = drives_used(chart, recorded)
        every = {bone.name: bone for bone in rest_bones(armature)}
        aims = sorted({drive.bone for drive in self._drives})
        controls = {drive.control for drive in self._drives}
        self._stand_in: StandIn | None = StandIn(armature, {*aims, *controls})
        self._bones = placed([every[name] for name in self._stand_in.names], list(every.values()))
        columns = [recorded.place[name] for name in self._stand_in.names]
        self._place = {name: index for index, name in enumerate(self._stand_in.names)}
        self._pose = pose[:, columns]
        self._goal = {name: target[:, recorded.place[name]] for name in aims}
        self._before = recorded
        self._now = recorded.at(np.arange(len(recorded.frames)))
        self._keyed: dict[str, set[str]] = {}

    def steps(self) -> Iterator[float]:
        """Do it, and yield how much is done after every frame; ValueError where the armature is gone."""
        count = len(self._pose)
        needed: set[str] = set()  # bones that the controls used first do not reach
        best = (self._distance(), self._now.parts, self._pose)
        try:
            for number in range(ROUNDS):
                off = self.off()
                if not any(is_far(one, NEAR) for one in off.values()):
                    break
                if number:
                    needed |= {name for name, one in off.items() if is_far(one, HALF_REACHED)}
                self._correct(due(self._drives, number, needed))
                self._pose = np.empty_like(self._pose)
                for row in range(count):
                    self._pose[row] = self._evaluated(row)
                    yield (number + (row + 1) / count) / ROUNDS
                if self._distance() < best[0]:
                    best = (self._distance(), self._now.parts, self._pose)
        finally:
            self.end()
        self._now, self._pose = replace(self._now, parts=best[1]), best[2]

    def _distance(self) -> float:
        """How far all bones are off, each at worst: what cannot be reached must not get further away."""
        return float(sum(metres.max() / NEAR[0] + degrees.max() / NEAR[1] for metres, degrees in self.off().values()))

    def off(self) -> dict[str, tuple[Array, Array]]:
        """How far each bone is off at each frame, in metres and degrees."""
        found = {}
        for name, goal in self._goal.items():
            length, angle = off_by(self._pose[:, self._place[name]], goal)
            found[name] = (length / self._metre, angle)
        return found

    def solution(self) -> Solution:
        """What came of it."""
        channels: dict[str, dict[str, Array]] = {}
        for control, parts in self._keyed.items():
            bone = self._bones[self._place[control]]
            found = {part: self._values(bone, part) for part in sorted(parts)}
            before = {part: self._before.parts[part_of(bone, part)][:, self._now.place[control]] for part in found}
            changed = {part: values for part, values in found.items() if is_changed(values, before[part], self._metre)}
            if changed:
                channels[control] = changed
        misses = []
        for name, (metres, degrees) in self.off().items():
            if is_far((metres, degrees), REACHED):
                row = int(np.argmax(metres / REACHED[0] + degrees / REACHED[1]))
                misses.append(Miss(name, metres.max(), degrees.max(), self._now.frames[row]))
        misses.sort(key=lambda miss: -miss.metres / REACHED[0] - miss.degrees / REACHED[1])
        return Solution(channels, tuple(misses))

    def end(self) -> None:
        """Take the stand-in away."""
        if self._stand_in is not None:
            self._stand_in.remove()
            self._stand_in = None

    def _evaluated(self, row: int) -> Array:
        if self._stand_in is None or not self._stand_in.is_there():
            armature = next((found for found in bpy.data.objects if found.session_uid == self._uid), None)
            if armature is None:
                raise ValueError("It was deleted during the bake.")
            self._stand_in = StandIn(armature, self._place)
        return self._stand_in.pose(self._now, row)

    def _correct(self, drives: Sequence[Drive]) -> None:
        now = {
            drive.control: Channels(
                self._values(bone, "location"), self._values(bone, "rotation"), self._values(bone, "scale")
            )
            for drive in drives
            for bone in [self._bones[self._place[drive.control]]]
        }
        self._now = replace(self._now, parts={part: values.copy() for part, values in self._now.parts.items()})
        for control, parts in next_channels(self._bones, drives, self._pose, self._goal, now).items():
            bone = self._bones[self._place[control]]
            for part, values in parts.items():
                kind, place = part_of(bone, part), self._now.place[control]
                made = values
                if self._combined and kind == "rotation_quaternion":
                    made = as_combined(self._before.parts[kind][:, place], values)
                self._now.parts[kind][:, place] = made
                self._keyed.setdefault(control, set()).add(part)

    def _values(self, bone: RestBone, part: str) -> Array:
        return np.asarray(self._now.parts[part_of(bone, part)][:, self._now.place[bone.name]])


def is_changed(values: Array, before: Array, metre: float) -> bool:
    """Whether locations or rotations are others than before; a quaternion's length and sign are none of it."""
    if values.shape[1] == QUATERNION:
        values, before = quaternions.normalize(values), quaternions.normalize(before)
        off = np.minimum(np.abs(values - before).max(axis=1), np.abs(values + before).max(axis=1))
    else:
        off = np.abs(values - before)
    return bool(off.max() > UNCHANGED * max(metre, 1.0))


def part_of(bone: RestBone, part: str) -> str:
    """Return the name that Blender has for a part of a bone's channels."""
    return PART_OF_MODE.get(bone.rotation_mode, "rotation_euler") if part == "rotation" else part


def placed(bones: Sequence[RestBone], of: Sequence[RestBone]) -> list[RestBone]:
    """Return some of an armature's bones, parents included, that know their parents' places among themselves."""
    place = {bone.name: index for index, bone in enumerate(bones)}
    return [replace(bone, parent=place[of[bone.parent].name] if bone.parent >= 0 else -1) for bone in bones]


def drives_used(chart: Map, recorded: Recorded) -> tuple[Drive, ...]:
    """Return the controls of trunk and limbs, as the limbs' switches are; all of a limb whose switch is keyed."""
    result = list(chart.trunk)
    for limb in chart.limbs:
        switch, pole = (recorded.properties.get(key, np.zeros(1)) for key in (limb.switch, limb.pole_switch))
        if switch.max() > 0.0:
            result += limb.fk
        if switch.min() < 1.0:
            left_out = {"ROLL"} if pole.min() >= 1.0 else {"POLE"} if pole.max() <= 0.0 else set()
            result += [drive for drive in limb.ik if drive.does not in left_out]
    return tuple(result)


def due(drives: Sequence[Drive], number: int, needed: Collection[str]) -> list[Drive]:
    """Return the controls of a round. Where one comes later for a bone that needs it, the one before rests then.

    Only those of limbs go on beside their tweaks: what moves them moves the tweaks by as much.
    """
    late = {drive.bone for drive in drives if drive.bone in needed and 1 < drive.after <= number}
    return [
        drive
        for drive in drives
        if (drive.after == 0 and drive.bone not in late) or (0 < drive.after <= number and drive.bone in needed)
    ]


def is_far(off: tuple[Array, Array], limits: tuple[float, float]) -> bool:
    """Whether metres or degrees are over their limits at any frame."""
    return bool(off[0].max() > limits[0] or off[1].max() > limits[1])
