# SPDX-License-Identifier: GPL-3.0-or-later
"""The method Automatic: what an armature's keys and what belongs to it show, without a frame being evaluated.

It is asked for whenever a panel is drawn, so a curve with more keys than key poses have ends the count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.control.method import DEFAULT
from ...core.job.choosing import Chosen, Signs, choose
from ..baking.source import slot_for
from ..rig.other_motion import mover_of
from ..typed import notes_on, settings_on

FEW = 2.0  # keys a second of key poses, at most
FAR = 0.4  # of the rig's height: who is keyed further away takes steps, which need planning
SAME = 1e-6
CHANGED_DEFAULT = 1  # the layout since which the method is Automatic unless it is chosen


def chosen_for(armature: bpy.types.Object) -> Chosen:
    """Return the method that suits an armature as it stands, and why."""
    return choose(signs_of(armature))


def signs_of(armature: bpy.types.Object) -> Signs:
    """Return what it shows."""
    settings, mover = settings_on(armature), mover_of(armature)
    paths = {curve.data_path for curve in source_curves(armature) if curve.data_path.startswith("heft.")}
    keyed = [curve for curve in source_curves(mover) if len(curve.keyframe_points)]
    body = [curve for curve in keyed if not curve.data_path.startswith("heft.")]
    still = bool(body) and not any(moves(curve) for curve in body)
    empties = [other for other in bpy.context.view_layer.objects if other.type == "EMPTY"]
    around = [settings_on(other) for other in empties if other.visible_get()]
    carried = set() if settings.props is None else set(settings.props.all_objects)
    targets = (other.grab.target for other in around if other.grab.armature == armature)
    held = [target for target in targets if target not in carried]
    return Signs(
        several=any(entry.action is not None for entry in settings.others),
        switched=settings.loop and "heft.motion" in paths,
        still=still,
        led=any(path.startswith("heft.course.") for path in paths),
        path=settings.path is not None or settings.target is not None,
        waits=waits(armature),
        holds=bool(held) and not any(is_animated(target) for target in held),
        few_poses=bool(body) and not still and are_few(body) and not is_far(mover, body),
        retimed=settings.playback.speed != 1.0 or any(path.startswith("heft.playback.") for path in paths),
        footholds=any(other.foothold.armature == armature for other in around),
        props=bool(carried),
        carried=settings.help == "AS_KEYED",
    )


def is_animated(held: bpy.types.Object | None) -> bool:
    """Whether something that is held moves by its own keys, or what it hangs from does."""
    above = held
    while above is not None:
        animation = above.animation_data
        if animation is not None and (animation.action is not None or animation.nla_tracks or animation.drivers):
            return True
        above = above.parent
    return False


def waits(armature: bpy.types.Object) -> bool:
    """Whether somebody is to stand on the way, or a target is to be followed over level ground."""
    settings = settings_on(armature)
    if settings.path is not None:
        return settings.path_wait > 0.0 and len(settings.path.data.splines) > 1
    return settings.target is not None and settings.terrain is None


def source_curves(armature: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Return the curves of the action that a bake would simulate; none where something else moves the armature."""
    animation = armature.animation_data
    assigned = animation.action if animation else None
    baked = notes_on(assigned) if assigned is not None and notes_on(assigned).report else None
    action = settings_on(armature).source_action or (baked.source if baked is not None else assigned)
    if action is None:
        return []
    if action == assigned and animation.action_slot is not None:
        slot = animation.action_slot
    else:
        try:
            slot = slot_for(armature, action, baked.source_slot if baked is not None else "")
        except ValueError:  # which slot is meant will be asked when it is baked
            return []
    bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips if strip.type == "KEYFRAME"]
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def moves(curve: bpy.types.FCurve) -> bool:
    """Whether a curve has more than one value."""
    points = curve.keyframe_points
    first = points[0].co.y
    noisy = any(one.type not in {"CYCLES", "LIMITS"} and not one.mute for one in curve.modifiers)
    return noisy or any(abs(point.co.y - first) > SAME for point in points)


def are_few(curves: Sequence[bpy.types.FCurve]) -> bool:
    """Whether poses are keyed at so few frames that they are key poses."""
    render = bpy.context.scene.render
    ranges = np.array([curve.range() for curve in curves])
    seconds = float(ranges[:, 1].max() - ranges[:, 0].min()) * render.fps_base / render.fps
    most = 1.0 + FEW * seconds
    frames: set[float] = set()
    for curve in curves:
        if len(curve.keyframe_points) > most or curve.modifiers:
            return False
        frames.update(round(point.co.x, 3) for point in curve.keyframe_points)
    return len(frames) <= most


def is_far(armature: bpy.types.Object, curves: Sequence[bpy.types.FCurve]) -> bool:
    """Whether anything is keyed as far away as a walk leads."""
    bones = armature.data.bones
    heights = [end.z for bone in bones for end in (bone.head_local, bone.tail_local)]
    most = FAR * (max(heights, default=0.0) - min(heights, default=0.0))
    places = [curve for curve in curves if curve.data_path.endswith("location")]
    keyed = [[point.co.y for point in curve.keyframe_points] for curve in places]
    return any(max(values) - min(values) > most for values in keyed)


@persistent  # type: ignore[untyped-decorator]
def keep_method(*_arguments: Any) -> None:
    """Keep the method of characters that were set up when Automatic was not there yet: then it was the usual one."""
    for owner in bpy.data.objects:
        if owner.type != "ARMATURE" or owner.library is not None:
            continue
        settings = settings_on(owner)
        if settings.character and settings.layout < CHANGED_DEFAULT:
            if not settings.is_property_set("controller"):
                settings.controller = DEFAULT.upper()
            settings.layout = CHANGED_DEFAULT


def register() -> None:
    """Be called after files are loaded."""
    bpy.app.handlers.load_post.append(keep_method)


def unregister() -> None:
    """Be called no more."""
    bpy.app.handlers.load_post.remove(keep_method)
