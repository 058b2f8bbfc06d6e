# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of another armature, in place of an armature's own.

Both are read as the viewport shows them. The other's motion is taken over in the space of the objects: where it begins
two metres ahead of its own object's origin, so it does here, times the ratio of the legs.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import bpy
import numpy as np

from ...core.motion import quaternions
from ...core.motion.clip import shifted, turned
from ...core.motion.quaternions import Array
from ...core.motion.retarget import Retargeted, retarget
from ...core.motion.roles import checked
from ...core.motion.upright import Up, stood_up, up_of
from ..slices import AT_ONCE, Work, whole
from ..typed import settings_on
from .finding import chosen_of, find_roles, known_of
from .pose_space import pose_matrices
from .reading import Look, Sampling, Staged, sampling_armatures
from .viewing import View, in_place

UNSCALED = 1e-4


def mover_of(armature: bpy.types.Object) -> bpy.types.Object:
    """Return the armature whose motion an armature is given: itself, unless another is chosen."""
    other: bpy.types.Object | None = settings_on(armature).motion_from
    return armature if other is None else other


def check_other(armature: bpy.types.Object, mover: bpy.types.Object) -> None:
    """ValueError, in words for the user, where another armature's motion cannot be read."""
    layer = bpy.context.view_layer
    if mover.type != "ARMATURE" or mover.name not in layer.objects or mover.hide_viewport:
        raise ValueError(
            f"{mover.name}, whose motion {armature.name} is to have, is not shown in this view layer: enable it, or "
            "choose another under Motion From."
        )
    if mover.data.pose_position == "REST":
        raise ValueError(f"{mover.name} is in Rest Position: switch it to Pose Position first.")


def sample_with_movers(
    context: bpy.types.Context, armatures: Sequence[bpy.types.Object], frames: Array
) -> list[tuple[Sampling, Sampling | None]]:
    """Read armatures at all frames, each with the one whose motion it is given, if that is another."""
    return whole(sampling_with_movers(context, armatures, frames, at_once=math.inf))


def sampling_with_movers(
    context: bpy.types.Context,
    armatures: Sequence[bpy.types.Object],
    frames: Array,
    look: Look | None = None,
    *,
    stand: bool = False,
    view: View | None = None,
    staged: Staged = contextlib.nullcontext,
    at_once: float = AT_ONCE,
) -> Work[list[tuple[Sampling, Sampling | None]]]:
    """Read them as `sample_with_movers` does, a little at a time; in the scene itself, unless in another view.

    They `stand` as Set Up has found the axis that is up.
    """
    view = view or partial(in_place, context.scene, context.view_layer)
    movers = list(dict.fromkeys(mover for one in armatures if (mover := mover_of(one)) != one))
    every = [*armatures, *movers]
    scales = [settings_on(one).scale for one in every]
    ups: list[Up] | None = [settings_on(one).up_in_motion() for one in armatures] if stand else None
    found = yield from sampling_armatures(
        context.scene, view, every, frames, scales, look, ups, staged=staged, at_once=at_once
    )
    theirs = dict(zip(movers, found[len(armatures) :], strict=True))
    return [(mine, theirs.get(mover_of(one))) for one, mine in zip(armatures, found, strict=False)]


def moved_by(
    armature: bpy.types.Object, own: Sampling, theirs: Sampling, roles: dict[str, tuple[str, ...]]
) -> tuple[Sampling, Retargeted]:
    """Return what would be read of an armature if it moved as the other does, and what was done for it."""
    mover = mover_of(armature)
    settings = settings_on(mover)
    chosen = settings.chosen_roles() if settings.character else {}
    if not chosen:
        chosen = chosen_of(find_roles(known_of(mover), theirs.clip), settings.by_hand())
    try:
        checked(chosen, theirs.clip.skeleton)
    except ValueError as error:
        raise ValueError(f"{mover.name}, whose motion {armature.name} is to have: {error}") from None
    up = up_of(theirs.clip, chosen) if settings.up == "AUTO" else settings.up
    from_place, to_place = (one.unit * one.object_matrix[0, :3, 3] for one in (theirs, own))
    turn = quaternions.exp(np.array([0.0, 0.0, heading_of(own) - heading_of(theirs)]))
    moving = turned(stood_up(shifted(theirs.clip, -from_place), up), turn)
    done = retarget(moving, chosen, shifted(own.clip, -to_place), roles)
    done = replace(done, clip=shifted(done.clip, to_place))
    pose = pose_matrices(done.clip.position, done.clip.orientation, own.object_matrix, own.unit)
    scale = np.linalg.norm(own.pose[:, :, :3, :3], axis=-2)
    if np.abs(scale - 1.0).max() > UNSCALED:
        pose[..., :3, :3] *= scale[..., None, :]
    return replace(own, clip=done.clip, pose=pose, own=own.pose), done


def heading_of(sampling: Sampling) -> float:
    """Return the angle about Z by which the armature object is turned at first."""
    return float(np.arctan2(sampling.object_matrix[0, 1, 0], sampling.object_matrix[0, 0, 0]))
