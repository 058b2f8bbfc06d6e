# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that repeat, by Cycles modifiers or marked as Cyclic, and bakes that repeat like them.

Three periods in a row are simulated: the first comes from a standstill in time, the last ends. The second one, blended
from beginning to end out of what follows it, begins as it goes on: that is the loop.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.motion.quaternions import Array
from ..typed import as_kind
from ..writer import assigned_curves
from .mixing import mix, smooth

PERIODS = 3  # that are simulated
REPEATING = {"REPEAT", "REPEAT_OFFSET"}
WHOLE = 1e-3  # frames
ASTRAY = 0.05  # metres by which a bake that does not repeat leaves the keyed way, more in one period than in the last
CLOSED = 1e-3  # metres, or about a tenth of a degree, by which a curve may end elsewhere and yet not move on


class Loop(NamedTuple):
    """A period of whole frames, and whether it repeats before its first frame too."""

    first: float
    period: int
    before: bool


def loop_of(armature: bpy.types.Object) -> Loop | None:
    """Return how the action that is playing repeats; None where not all that moves does, or not at the same frames."""
    animation = armature.animation_data
    if animation is None or animation.action is None:
        return None
    curves = [
        curve
        for curve in assigned_curves(armature, animation.action)
        if len(curve.keyframe_points) > 1 and not curve.data_path.startswith("heft.")
    ]
    ranges = np.array([curve.range() for curve in curves]).reshape(-1, 2)
    cycles = [cycles_of(curve) for curve in curves]
    if not curves or None in cycles or np.ptp(ranges, axis=0).max() > WHOLE:
        return None
    first, last = ranges[0].tolist()
    period = round(last - first)
    if period < 2 or abs(last - first - period) > WHOLE or abs(first - round(first)) > WHOLE:
        return None
    return Loop(float(round(first)), period, all(one.mode_before in REPEATING for one in cycles))


@contextlib.contextmanager
def repeating(armature: bpy.types.Object) -> Iterator[None]:
    """Have an action that is marked as Cyclic repeat while it is read, by a copy of it that is gone afterwards."""
    animation = armature.animation_data
    action = animation.action if animation is not None else None
    marked = action is not None and action.use_frame_range and action.use_cyclic
    if action is None or not marked or animation.use_tweak_mode or loop_of(armature) is not None:
        yield
        return
    slot = animation.action_slot
    copy = action.copy()
    try:
        animation.action = copy
        animation.action_slot = copy.slots[slot.identifier]
        for curve in assigned_curves(armature, copy):
            add_cycles(curve, before=True)
        found = loop_of(armature)
        if found is None or (found.first, found.first + found.period) != (action.frame_start, action.frame_end):
            animation.action, animation.action_slot = action, slot  # its curves have ranges of their own
        yield
    finally:
        animation.action, animation.action_slot = action, slot
        bpy.data.actions.remove(copy)


def cycles_of(curve: bpy.types.FCurve) -> bpy.types.FModifierCycles | None:
    """Return the modifier that repeats a curve for ever after its end."""
    return next(
        (
            one
            for one in curve.modifiers
            if isinstance(one, bpy.types.FModifierCycles)
            and not one.mute
            and not one.use_restricted_range
            and one.mode_after in REPEATING
            and one.cycles_after == 0
        ),
        None,
    )


def stays_on_its_way(keyed: Array, simulated: Array, period: int) -> bool:
    """Return whether bones (nf, nb, 3), in metres, go the keyed way. On stairs they leave it, and cannot repeat.

    What they get off it by from one period to the next is blended in, so little of that may add up.
    """
    off = (simulated - keyed).mean(axis=1)
    return bool(np.abs(off[period:] - off[:-period]).max() < ASTRAY)


def one_period(keyed: Array, simulated: Array, parent: NDArray[np.int64], period: int) -> Array:
    """Return poses (period + 1, nb, 4, 4) that repeat as the keyed ones do, out of three simulated periods.

    Both are (3 period + 1, nb, 4, 4). What is taken from a later period is brought back as the keyed motion moves on,
    bone by bone of those without a parent, and all that hangs from it.
    """
    roots = np.arange(len(parent))
    for bone, above in enumerate(parent):  # parents come first
        if above >= 0:
            roots[bone] = roots[above]
    rows = np.arange(period + 1)

    def brought_back(periods: int) -> Array:
        later = rows + periods * period
        back = keyed[rows] @ np.linalg.inv(keyed[later])
        return np.asarray(back[:, roots] @ simulated[later])

    weight = np.repeat(smooth(rows / period)[:, None], len(parent), axis=1)
    return mix(brought_back(2), brought_back(1), weight, parent)


def repeat(bag: bpy.types.ActionChannelbag, loop: Loop) -> None:
    """Have all curves repeat that do not yet; those that end elsewhere than they begin move on by as much."""
    for curve in bag.fcurves:
        add_cycles(curve, before=loop.before)


def add_cycles(curve: bpy.types.FCurve, *, before: bool) -> None:
    """Have a curve repeat, unless it does."""
    points = curve.keyframe_points
    if len(points) < 2 or any(one.type == "CYCLES" for one in curve.modifiers):
        return
    is_open = abs(points[-1].co.y - points[0].co.y) > CLOSED
    kind: Literal["REPEAT", "REPEAT_OFFSET"] = "REPEAT_OFFSET" if is_open else "REPEAT"
    cycles = as_kind(curve.modifiers.new("CYCLES"), bpy.types.FModifierCycles)
    cycles.mode_after, cycles.mode_before = kind, kind if before else "NONE"


def mark(action: bpy.types.Action, loop: Loop) -> None:
    """Say that an action is a loop, as Blender says it."""
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = loop.first, loop.first + loop.period
