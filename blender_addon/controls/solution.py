# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls whose deforming bones are where they are asked to be, checked on the rig as Blender evaluates it.

All frames are corrected at once, then evaluated again, until they are there or no longer get nearer. Tweaks, that an
animator rarely keys, come last and only where the other controls do not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import Channels, RestBone, rest_bones
from .combining import as_combined
from .drives import Drive, Map
from .least_squares import LeastSquares, offset_by, unknowns_of
from .mapping import map_for, placed
from .recording import PART_OF_MODE, Recorded
from .solving import displacement, next_channels, off_by
from .stand_in import StandIn

NEAR = 2e-4, 0.1  # metres and degrees: as good as there
REACHED = 1e-3, 0.5  # what is further off is told
HALF_REACHED = 5e-4, 0.25
UNCHANGED = 1e-4  # metres, or hundredths of a degree: rounding
QUATERNION = 4
ROUNDS = 14  # of corrections at most
MOST_UNKNOWNS = 60  # that least squares look for at a frame
TRIED = 5  # frames, after which they end
HELPS = 0.7  # of the distance, that is left if they do not help
PATIENCE = 2  # rounds in a row that gain little
GAIN = 0.9  # of a distance, that is left by a round that gains more than that


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
        chart = map_for(armature, recorded)
        self._uid, self._metre = armature.session_uid, metre
        self._drives, self._others = drives_used(chart, recorded), chart.others
        self._is_tried = bool(chart.aims)
        self._latest = max((drive.after for drive in self._drives), default=0)
        every = {bone.name: bone for bone in rest_bones(armature)}
        aims = sorted({*chart.aims, *(drive.bone for drive in self._drives)})
        controls = {drive.control for drive in (*self._drives, *self._others)}
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
        needed: set[str] = set()  # bones that the controls used first do not reach
        least = self._distance()  # of each frame
        best = self._now.parts, self._pose.copy()
        rows = self._far_rows()
        stuck = 0
        try:
            for number in range(ROUNDS):
                if len(rows) == 0 or stuck == PATIENCE:
                    break
                if number:
                    needed |= {name for name, one in self.off().items() if is_far(one, HALF_REACHED)}
                self._correct(due(self._drives, number, needed), rows)
                for done, row in enumerate(rows):
                    self._pose[row] = self._evaluated(int(row))
                    yield (number + (done + 1) / len(rows)) / ROUNDS
                distance = self._distance()
                gains = number <= self._latest or distance[rows].sum() < GAIN * least[rows].sum()
                stuck = 0 if gains else stuck + 1
                nearer = distance < least
                best[1][nearer], least[nearer] = self._pose[nearer], distance[nearer]
                best = ({part: chosen(nearer, self._now.parts[part], best[0][part]) for part in best[0]}, best[1])
                rows = self._far_rows()
            self._now, self._pose = replace(self._now, parts=best[0]), best[1]
            yield from self._search()
        finally:
            self.end()

    def _search(self) -> Iterator[float]:
        """Have least squares find what is left, at frames and with controls of bones that are still far."""
        far = {name: beyond(one, REACHED) for name, one in self.off().items()}
        drives = [drive for drive in (*self._drives, *self._others) if far[drive.bone].any()] if self._is_tried else []
        rows = np.flatnonzero(np.any(list(far.values()), axis=0) if drives else [])
        unknowns = unknowns_of(drives, {bone.name: bone for bone in self._bones})
        if len(unknowns) > MOST_UNKNOWNS:
            rows = rows[:0]
        problem, left, had = LeastSquares(len(unknowns)), 0.0, 0.0
        found, before = np.zeros(len(unknowns)), -1
        for done, row in enumerate(rows):
            base = self._now.at(np.array([row]))

            def posed(x: Array, base: Recorded = base) -> Array:
                return self._evaluated(0, offset_by(base, unknowns, x, self._metre))

            def residuals(x: Array, row: int = int(row), posed: Callable[[Array], Array] = posed) -> Array:
                return self._residuals(posed(x), row)

            start = np.zeros(len(unknowns))
            had += float(self._distance()[row])
            was, least = self._pose[row].copy(), float(self._distance()[row])
            if row == before + 1 and residuals(found) @ residuals(found) < residuals(start) @ residuals(start):
                start = found
            for x in problem.nearer(residuals, start):
                found = x
                yield (ROUNDS - 1 + done / len(rows)) / ROUNDS
            before = int(row)
            self._pose[row] = posed(found)
            if self._distance()[row] > least:
                self._pose[row], found, left = was, start, left + least
                continue
            here = offset_by(base, unknowns, found, self._metre)
            for part, values in here.parts.items():
                self._now.parts[part][row] = values[0]
            left += float(self._distance()[row])
            if done + 1 == TRIED and left > HELPS * had:
                break
        if len(rows):
            for unknown in unknowns:
                self._keyed.setdefault(unknown.bone.name, set()).add(unknown.part)

    def _residuals(self, pose: Array, row: int) -> Array:
        """How far bones are off, in shares of what counts as reached."""
        parts = []
        for name, goal in self._goal.items():
            here, there = pose[self._place[name]], goal[row]
            turn = displacement(here[None], there[None])[0, :3, :3]
            parts.append((there[:3, 3] - here[:3, 3]) / (self._metre * HALF_REACHED[0]))
            parts.append(quaternions.log(quaternions.from_matrix(turn)) / np.radians(HALF_REACHED[1]))
        result: Array = -np.concatenate(parts)
        return result

    def _far_rows(self) -> NDArray[np.int64]:
        """The frames at which any bone is not as good as there."""
        far = [(metres > NEAR[0]) | (degrees > NEAR[1]) for metres, degrees in self.off().values()]
        return np.flatnonzero(np.any(far, axis=0)) if far else np.zeros(0, dtype=np.int64)

    def _distance(self) -> Array:
        """How far all bones are off at each frame: what cannot be reached must not get further away."""
        found = np.zeros(len(self._pose))
        for metres, degrees in self.off().values():
            found += metres / NEAR[0] + degrees / NEAR[1]
        return found

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

    def _evaluated(self, row: int, recorded: Recorded | None = None) -> Array:
        if self._stand_in is None or not self._stand_in.is_there():
            armature = next((found for found in bpy.data.objects if found.session_uid == self._uid), None)
            if armature is None:
                raise ValueError("It was deleted during the bake.")
            self._stand_in = StandIn(armature, self._place)
        return self._stand_in.pose(self._now if recorded is None else recorded, row)

    def _correct(self, drives: Sequence[Drive], rows: NDArray[np.int64]) -> None:
        """Set controls anew at some frames."""
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
                self._now.parts[kind][rows, place] = made[rows]
                self._keyed.setdefault(control, set()).add(part)

    def _values(self, bone: RestBone, part: str) -> Array:
        return np.asarray(self._now.parts[part_of(bone, part)][:, self._now.place[bone.name]])


def chosen(rows: NDArray[np.bool_], new: Array, old: Array) -> Array:
    """Return what is new in some rows, and old in the others."""
    result: Array = np.where(rows.reshape(-1, *[1] * (new.ndim - 1)), new, old)
    return result


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


def beyond(off: tuple[Array, Array], limits: tuple[float, float]) -> NDArray[np.bool_]:
    """Return at which frames metres or degrees are over their limits."""
    return np.asarray((off[0] > limits[0]) | (off[1] > limits[1]))


def is_far(off: tuple[Array, Array], limits: tuple[float, float]) -> bool:
    """Whether metres or degrees are over their limits at any frame."""
    return bool(beyond(off, limits).any())
