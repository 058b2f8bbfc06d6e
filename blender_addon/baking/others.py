# SPDX-License-Identifier: GPL-3.0-or-later
"""The other actions that an armature combines with its source or goes to, and what is keyed about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import bpy
import numpy as np

from ...core.job import MotionChoice
from ...core.motion.clip import Clip
from ...core.motion.pegs import with_feet
from ...core.simulation import Slider
from ..rig import setting_up
from ..rig.reading import Staged, frame_numbers, sampling_armatures, visiting
from ..rig.viewing import View
from ..slices import Work
from ..typed import settings_on
from ..writer import assigned_curves
from .looping import PERIODS, loop_of
from .source import Source, playing, slot_for

CHOICE = "heft.motion"


def other_clips(
    context: bpy.types.Context, armature: bpy.types.Object, source: Source, view: View, at_once: float
) -> Work[tuple[Clip, ...]]:
    """Return the other actions' motions, as seen in a view, in the list's order.

    ValueError, in words, if one cannot be read.
    """
    found = []
    for action in other_actions(armature):
        if action.session_uid == source.uid:
            raise ValueError(f"{action.name} is the source: choose other actions to combine with it.")
        found.append((yield from clip_of(context, armature, action, source, view, at_once)))
    return tuple(found)


def clip_of(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    source: Source,
    view: View,
    at_once: float,
) -> Work[Clip]:
    """Return the motion of an action that is played in the source's place; ValueError, in words, if there is none."""
    slot = slot_for(armature, action).identifier
    other = replace(source, uid=action.session_uid, name=action.name, slot=slot)
    with playing(armature, other):
        frames = frame_numbers(*range_of_action(context.scene, armature))
    scales, ups = [settings_on(armature).scale], [settings_on(armature).up_in_motion()]
    (sampling,) = yield from sampling_armatures(
        context.scene,
        view,
        [armature],
        frames,
        scales,
        ups=ups,
        staged=partial(playing, armature, other),
        at_once=at_once,
    )
    return with_feet(sampling.clip, settings_on(armature).chosen_roles())[0]


def other_actions(armature: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """Return those that are chosen; empty entries are left out."""
    return (entry.action for entry in settings_on(armature).others if entry.action is not None)


def range_of_action(scene: bpy.types.Scene, armature: bpy.types.Object) -> tuple[float, float]:
    """Return the first and last frame of what is playing: its keys, and some periods of what repeats."""
    loop = loop_of(armature)
    if loop is not None:
        return loop.first, loop.first + PERIODS * loop.period
    keyed = setting_up.frames_of_motion(scene, armature)
    return float(keyed[0]), float(max(keyed[-1], keyed[0] + 1.0))


def read_slider(
    armature: bpy.types.Object,
    first: float,
    seconds: float,
    rate: float,
    view: View,
    staged: Staged,
    at_once: float,
) -> Work[Slider]:
    """Return the slider as a view evaluates it from the first simulated frame on; `staged`, the source is playing."""
    count = int(np.ceil(seconds * rate)) + 1
    place = np.zeros(count)

    def see(row: int, graph: bpy.types.Depsgraph) -> None:
        place[row] = settings_on(armature.evaluated_get(graph)).slider

    yield from visiting(view, int(first) + np.arange(count, dtype=np.float64), see, staged=staged, at_once=at_once)
    return Slider(np.arange(count) / rate, np.clip(place, 0.0, 1.0))


def read_choices(armature: bpy.types.Object, first: float, rate: float) -> tuple[MotionChoice, ...]:
    """Return what the keys of the source, which is playing, choose, by seconds from the first simulated frame on.

    Each key counts from its frame on, however the curve goes from one to the next.
    """
    animation = armature.animation_data
    curves = assigned_curves(armature, animation.action) if animation is not None and animation.action else []
    keys = [key.co for curve in curves if curve.data_path == CHOICE and not curve.mute for key in curve.keyframe_points]
    if not keys:
        return (MotionChoice(0.0, settings_on(armature).motion),)
    chosen = sorted((key.x, key.y) for key in keys)
    return tuple(MotionChoice((frame - first) / rate, round(number)) for frame, number in chosen)
