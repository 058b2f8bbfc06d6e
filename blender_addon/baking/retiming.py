# SPDX-License-Identifier: GPL-3.0-or-later
"""An action that plays too fast or too slowly for gravity, at the pace at which it could happen: a copy of it."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ..rig.other_motion import mover_of
from ..typed import settings_on
from ..words import interface
from ..writer import check_stretch, stretch_action
from .layers import take_off
from .source import assign, play, slot_for, source_of

RETIMED = "retimed"  # in a report whose action has another pace by now


def wanted(report: dict[str, Any]) -> float | None:
    """Return how many times as long a report's action should last; None where its pace is right, or changed already."""
    found: float | None = None if report.get(RETIMED) else report.get("too_fast")
    return found


def label(times: float) -> str:
    """Return what a button says that changes the pace so."""
    text = interface("Slow Down {:.1f} Times") if times > 1.0 else interface("Speed Up {:.1f} Times")
    return text.format(max(times, 1.0 / times))


def retime(scene: bpy.types.Scene, armature: bpy.types.Object, times: float) -> bpy.types.Action:
    """Have an armature play a copy of its source that lasts so many times as long, and return that.

    The source stays as it is, and in the file. A custom range and the end of the scene go along. ValueError, in words
    for the user, where there is no action of its own, or one that cannot be stretched.
    """
    source = source_of(armature)
    action = source.action()
    if action is None or mover_of(armature) != armature:
        raise ValueError(f"{armature.name} has no action of its own: change the pace of what moves it.")
    check_stretch(action)
    if armature.animation_data is None:
        armature.animation_data_create()
    copy = action.copy()
    copy.name = f"{action.name} {'Slower' if times > 1.0 else 'Faster'}"
    if copy.asset_data is not None:
        copy.asset_clear()
    ended = float(action.curve_frame_range[1])
    take_off(armature)
    play(armature, source)
    assign(armature.animation_data, copy, slot_for(armature, copy, source.slot), source.layer)
    if action.users == 0:
        action.use_fake_user = True
    first, last = stretch_action(copy, times)
    settings = settings_on(armature)
    if settings.source_action == action:
        settings.source_action = copy
    settings.frame_start, settings.frame_end = (
        round(first + times * (frame - first)) for frame in (settings.frame_start, settings.frame_end)
    )
    if scene.frame_end >= math.floor(ended):
        scene.frame_end = max(scene.frame_end, math.ceil(last))
    return copy
