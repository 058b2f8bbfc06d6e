# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys like an animator's: few, on extremes and contacts, smooth between, with hands and feet within a tolerance.

What a bone's curves may stray by follows from how far it is to the hands and feet that it moves. What comes of it is
looked at on a stand-in of the rig, frame by frame, and the tolerance of all curves made narrower or wider by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion import quaternions
from ...core.motion.key_fitting import Keys, extremes, fit_keys
from ...core.motion.quaternions import Array
from ..controls.recording import PART_OF_MODE, Recorded
from ..controls.solving import off_by
from ..controls.stand_in import StandIn
from ..slices import Work, elsewhere
from ..writer import UNMOVED, Channelled

ENDS = ("hand", "foot", "toe")
SHARE = 0.35  # of what the ends may stray by, that one bone may cause, at first
TURNED = 500.0  # degrees that ends may turn by per metre that they may move
NARROWEST = 1e-5  # rad, or metres
TRIES = 8
AIM = 0.92  # of the tolerance, that is used
LEAST_LEVER, LONGEST_LEVER = 0.05, 0.5  # of the rig's size
LEAST_BUSY = 0.3  # of the mean number of keys, as which a curve with fewer counts
EVENED = 1.5  # power: 1 for the fewest keys, more for as few on the busiest curve
TURN_BACK = 4.0  # tolerances that a curve goes there and back, to have a key at its extreme
TURNED_BACK = 0.1  # of the range of a bone's curves, that it goes too


@dataclass(frozen=True)
class Tolerance:
    """How far hands and feet may be from where they are with a key at every frame."""

    metres: float
    metre: float  # the length of one in the armature's space

    @property
    def degrees(self) -> float:
        """By which they may be turned."""
        return TURNED * self.metres


@dataclass(frozen=True)
class Sought:
    """What keys are sought for."""

    frames: Array
    channels: Channelled
    recorded: Recorded  # all else, at the frames
    ends: tuple[str, ...]  # bones that are looked at
    events: Mapping[str, NDArray[np.intp]]  # rows at which an end comes down or lifts
    repeats: bool
    combined: bool  # channels are differences, that Combine adds to what is recorded


def fewer_keys(armature: bpy.types.Object, sought: Sought, tolerance: Tolerance) -> Work[dict[str, dict[str, Keys]]]:
    """Return keys by bone and part; left half-way, nothing is left of it."""
    reaches = reaches_of(armature, sought)
    stand_in = StandIn(armature, {*sought.ends})
    place = [stand_in.names.index(name) for name in sought.ends]

    def seen(channels: Channelled) -> Work[Array]:
        recorded = with_channels(armature, sought.recorded, channels, combined=sought.combined)
        poses = np.empty((len(sought.frames), len(place), 4, 4))
        for row in range(len(poses)):
            poses[row] = stand_in.played(recorded, row)[place]
            yield row / len(poses)
        return poses

    try:
        asked = yield from seen(sought.channels)
        best: dict[str, dict[str, Keys]] = {}
        fewest, wide = np.inf, dict.fromkeys(sought.ends, 1.0)
        busy: dict[tuple[str, str], float] = {}
        for _ in range(TRIES):
            fits = yield from elsewhere(partial(fitted, sought, reaches, tolerance, wide, busy))
            busy = busy_of(fits)
            poses = yield from seen(values_at(sought, fits))
            off = {end: off_at(poses[:, i], asked[:, i], tolerance) for i, end in enumerate(sought.ends)}
            count = sum(len(keys.rows) for parts in fits.values() for keys in parts.values())
            if max(off.values(), default=0.0) <= 1.0 and count < fewest:
                best, fewest = fits, count
            wide = {end: wide[end] * float(np.clip(AIM / max(off[end], 1e-6), 0.3, 2.5)) for end in sought.ends}
        return best
    finally:
        stand_in.remove()


def fitted(
    sought: Sought,
    reaches: Mapping[str, Reach],
    tolerance: Tolerance,
    wide: Mapping[str, float],
    busy: Mapping[tuple[str, str], float],
) -> dict[str, dict[str, Keys]]:
    """Return keys of all curves with tolerances as wide as their ends and they themselves may have them."""
    found: dict[str, dict[str, Keys]] = {}
    for bone, parts in sought.channels.items():
        reach = reaches[bone]
        share = SHARE * min((wide[end] for end in reach.moved), default=1.0)
        length = share * tolerance.metres * tolerance.metre
        turn = min(length / reach.lever, share * np.radians(tolerance.degrees))
        events = sought.events.get(reach.nearest, np.zeros(0, dtype=np.intp))
        for part, values in parts.items():
            if np.ptp(values, axis=0).max() <= UNMOVED:
                continue
            may = {"location": length, "scale": length}.get(part, 0.5 * turn) * busy.get((bone, part), 1.0)
            may = max(may, NARROWEST)
            each = np.full(values.shape[1], may)
            back = np.maximum(TURN_BACK * each, TURNED_BACK * np.ptp(values, axis=0).max())
            wanted = np.union1d(events, extremes(values, back))
            found.setdefault(bone, {})[part] = fit_keys(sought.frames, values, each, wanted, repeats=sought.repeats)
    return found


def busy_of(fits: Mapping[str, Mapping[str, Keys]]) -> dict[tuple[str, str], float]:
    """Return by how much more than others each part's curves may stray.

    The number of keys goes with the fourth root of a tolerance, so all together are fewest where tolerances are as the
    numbers are; more than so, no curve has many more than others.
    """
    counts = {(bone, part): len(keys.rows) for bone, parts in fits.items() for part, keys in parts.items()}
    mean = float(np.mean(list(counts.values()))) if counts else 1.0
    return {each: max(count / mean, LEAST_BUSY) ** EVENED for each, count in counts.items()}


def values_at(sought: Sought, fits: Mapping[str, Mapping[str, Keys]]) -> dict[str, dict[str, Array]]:
    """Return the channels at all frames as the keys give them."""
    return {
        bone: {
            part: fits[bone][part].at(sought.frames, values) if part in fits.get(bone, {}) else values
            for part, values in parts.items()
        }
        for bone, parts in sought.channels.items()
    }


def with_channels(armature: bpy.types.Object, recorded: Recorded, channels: Channelled, *, combined: bool) -> Recorded:
    """Return a recording with some bones' channels put in, or combined with what is there."""
    parts = {part: values.copy() for part, values in recorded.parts.items()}
    for bone, own in channels.items():
        mode = armature.pose.bones[bone].rotation_mode
        for part, values in own.items():
            kind = PART_OF_MODE.get(mode, "rotation_euler") if part == "rotation" else part
            base, column = recorded.parts[kind], recorded.place[bone]
            if not combined:
                parts[kind][:, column] = values
            elif kind == "rotation_quaternion":
                parts[kind][:, column] = quaternions.multiply(quaternions.normalize(base[:, column]), values)
            elif kind == "scale":
                parts[kind][:, column] = base[:, column] * values
            else:
                parts[kind][:, column] = base[:, column] + values
    return replace(recorded, parts=parts)


def off_at(poses: Array, asked: Array, tolerance: Tolerance) -> float:
    """Return how far an end (nf, 4, 4) is off at worst, in tolerances."""
    metres, degrees = off_by(poses, asked)
    return float(max(metres.max() / (tolerance.metres * tolerance.metre), degrees.max() / tolerance.degrees))


class Reach(NamedTuple):
    """Which ends a bone moves, and how much its turns do so."""

    moved: tuple[str, ...]
    nearest: str
    lever: float


def reaches_of(armature: bpy.types.Object, sought: Sought) -> dict[str, Reach]:
    """Return the reach of each bone that has channels.

    A control that no end hangs from is followed by the nearest one, by a constraint. The lever is a mean of how far the
    end is and how far the farthest of all is: what is near the ends has less to do, and leaves more to the others.
    """
    bones = armature.data.bones
    heads = {bone.name: np.array(bone.head_local) for bone in bones}
    size = float(np.linalg.norm(np.ptp(list(heads.values()), axis=0)))
    found = {}
    for name in sought.channels:
        far = {end: float(np.linalg.norm(heads[end] - heads[name])) for end in sought.ends}
        below = {name, *(bone.name for bone in bones[name].children_recursive)}
        ends = [end for end in sought.ends if end in below]
        nearest = min(ends or far, key=lambda end: far[end], default="")
        moved = tuple(ends) or ((nearest,) if nearest else ())
        lever = max((far[end] for end in moved), default=size)
        found[name] = Reach(moved, nearest, float(np.sqrt(max(lever, LEAST_LEVER * size) * LONGEST_LEVER * size)))
    return found
