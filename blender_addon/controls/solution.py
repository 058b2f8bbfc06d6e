# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls whose deforming bones are where they are asked to be, checked on the rig as Blender evaluates it.

All frames are corrected at once, then evaluated again, until they are there or no longer get nearer. Tweaks, that an
animator rarely keys, come last and only where the other controls do not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import Channels, RestBone, rest_bones
from ..rig.reading import rotations_of
from ..slices import Work, elsewhere, within
from .combining import as_combined
from .drives import Drive, Map
from .least_squares import LeastSquares, offset_by, unknowns_of
from .mapping import placed
from .recording import PART_OF_MODE, Recorded
from .solving import degrees_between, displacement, next_channels
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
        chart: Map,
        recorded: Recorded,
        pose: Array,
        target: Array,
        metre: float,
        *,
        seen: Collection[str] = (),
        combined: bool = False,
    ) -> None:
        """Begin with a map, what was recorded at the frames, and the poses (nf, nb, 4, 4) that it gave.

        `target` are the poses to come to, in the armature's space; `metre` is the length of one there. Where bones that
        are `seen` stay off is told too, though no control may be known for them. What is to be
        `combined` with what was recorded has Blender's rounding in it.
        """
        self._combined, self._metre = combined, metre
        self._drives, self._others = drives_used(chart, recorded), chart.others
        self._is_tried = bool(chart.aims)
        self._latest = max((drive.after for drive in self._drives), default=0)
        every = {bone.name: bone for bone in rest_bones(armature)}
        aims = sorted({*chart.aims, *(drive.bone for drive in self._drives)})
        controls = {drive.control for drive in (*self._drives, *self._others)}
        self._led = np.isin(names := sorted({*aims, *seen}), aims)
        self._stand_in = StandIn(armature, {*names, *controls})
        self._bones = placed([every[name] for name in self._stand_in.names], list(every.values()))
        columns = [recorded.place[name] for name in self._stand_in.names]
        self._before = recorded.of(self._stand_in.names)
        self._now = self._before
        self._place = self._before.place
        self._pose = pose[:, columns]
        self._goal = {name: target[:, recorded.place[name]] for name in names}
        self._aims = [self._place[name] for name in names]
        self._goals = np.stack([self._goal[name] for name in names], axis=1)
        self._turns = np.zeros((*self._goals.shape[:2], 3, 3))
        self._metres, self._degrees = (np.zeros(self._goals.shape[:2]) for _ in range(2))
        self._keyed: dict[str, set[str]] = {}

    def steps(self) -> Work[None]:
        """Do it, and yield how much is done after every frame; ValueError where the armature is gone."""
        needed: set[str] = set()  # bones that the controls used first do not reach
        fraction = 0.0
        yield from elsewhere(self._measure_all)
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
                yield from self._correct(due(self._drives, number, needed), rows)
                share = (1.0 - fraction) / (1 + max(self._latest + 1 - number, 1))
                for done, row in enumerate(rows):
                    self._pose[row] = self._stand_in.played(self._now, int(row))
                    yield fraction + share * (done + 1) / len(rows)
                fraction += share
                yield from elsewhere(partial(self._measure, rows))
                distance = self._distance()
                gains = number <= self._latest or distance[rows].sum() < GAIN * least[rows].sum()
                stuck = 0 if gains else stuck + 1
                nearer = distance < least
                best[1][nearer], least[nearer] = self._pose[nearer], distance[nearer]
                best = ({part: chosen(nearer, self._now.parts[part], best[0][part]) for part in best[0]}, best[1])
                rows = self._far_rows()
            self._now, self._pose = replace(self._now, parts=best[0]), best[1]
            yield from elsewhere(self._measure_all)
            yield from within(self._search(), fraction, 1.0)
        finally:
            self.end()

    def _search(self) -> Work[None]:
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
                return self._stand_in.pose(offset_by(base, unknowns, x, self._metre), 0)

            def residuals(x: Array, row: int = int(row), posed: Callable[[Array], Array] = posed) -> Array:
                return self._residuals(posed(x), row)

            start = np.zeros(len(unknowns))
            was, least = self._pose[row].copy(), self._distance()[row]
            had += least
            if row == before + 1 and residuals(found) @ residuals(found) < residuals(start) @ residuals(start):
                start = found
            for x in problem.nearer(residuals, start):
                found = x
                yield done / len(rows)
            before = int(row)
            self._pose[row] = posed(found)
            self._measure(rows[done : done + 1])
            if self._distance()[row] > least:
                self._pose[row], found, left = was, start, left + least
                self._measure(rows[done : done + 1])
                continue
            here = offset_by(base, unknowns, found, self._metre)
            for part, values in here.parts.items():
                self._now.parts[part][row] = values[0]
            left += self._distance()[row]
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

    def _measure_all(self) -> None:
        self._turns = rotations_of(self._goals[..., :3, :3])
        self._measure(np.arange(len(self._pose)))

    def _measure(self, rows: NDArray[np.int64]) -> None:
        """Look how far bones are off at some frames."""
        pose = self._pose[rows][:, self._aims]
        self._metres[rows] = np.linalg.norm(self._goals[rows, :, :3, 3] - pose[..., :3, 3], axis=2) / self._metre
        self._degrees[rows] = degrees_between(rotations_of(pose[..., :3, :3]), self._turns[rows])

    def _far_rows(self) -> NDArray[np.int64]:
        """The frames at which any bone is not as good as there."""
        return np.flatnonzero(beyond((self._metres, self._degrees), NEAR)[:, self._led].any(axis=1))

    def _distance(self) -> Array:
        """How far all bones are off at each frame: what cannot be reached must not get further away."""
        return np.asarray((self._metres / NEAR[0] + self._degrees / NEAR[1])[:, self._led].sum(axis=1))

    def off(self) -> dict[str, tuple[Array, Array]]:
        """How far each bone is off at each frame, in metres and degrees."""
        return {name: (self._metres[:, i], self._degrees[:, i]) for i, name in enumerate(self._goal)}

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
        self._stand_in.remove()

    def _correct(self, drives: Sequence[Drive], rows: NDArray[np.int64]) -> Work[None]:
        """Set controls anew at some frames."""
        now = {
            drive.control: Channels(
                self._values(bone, "location"), self._values(bone, "rotation"), self._values(bone, "scale")
            )
            for drive in drives
            for bone in [self._bones[self._place[drive.control]]]
        }
        self._now = replace(self._now, parts={part: values.copy() for part, values in self._now.parts.items()})
        made = partial(next_channels, self._bones, drives, self._pose, self._goal, now)
        for control, parts in (yield from elsewhere(made)).items():
            bone = self._bones[self._place[control]]
            for part, values in parts.items():
                kind, place = part_of(bone, part), self._now.place[control]
                if self._combined and kind == "rotation_quaternion":
                    values = as_combined(self._before.parts[kind][:, place], values)  # noqa: PLW2901
                self._now.parts[kind][rows, place] = values[rows]
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
