# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature and what it does to a physical character. Nothing is stored here; bad input is a ValueError."""

import contextlib
import json
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import bpy
import numpy as np

from ...core.character import JointKind, storage
from ...core.motion.body_plan import BodyPlan, is_unlike_a_person, make_body_plan, plausible_scale
from ...core.motion.clip import scaled
from ...core.motion.damage import Repair, repair
from ...core.motion.floor import estimate_floor
from ...core.motion.pegs import with_feet
from ...core.motion.quaternions import Array
from ...core.motion.rest_pose import find_rest_pose, moved_vertices
from ...core.motion.tempo import likely_rate
from ...core.motion.upright import Up, facing_of, up_of
from ...core.rig.role_names import Roles
from ..damage import damage_text
from ..overlay.data import rides_text
from ..properties.armature import HEFT_PG_armature
from ..properties.automatic import CHANGED_DEFAULT
from ..slices import AT_ONCE, Work, elsewhere, whole
from ..typed import settings_on
from ..writer import assigned_curves
from .finding import chosen_of, find_roles, known_of
from .mesh import Weights, vertices_of_bones
from .other_motion import check_other, moved_by, mover_of, sample_with_movers, sampling_with_movers
from .reading import Sampling, Staged, frame_numbers, is_even, stood

MOST_FRAMES = 500
"""More than enough to tell a joint's axis; a longer action is read at wider steps."""

FEWEST_VERTICES, FEWEST_BONES = 8, 8
"""Of so many bones a mesh must have so many vertices, or it says nothing of the masses."""

SEX: dict[str, Literal["male", "female"]] = {"MALE": "male", "FEMALE": "female"}
KINDS: dict[str, JointKind] = {"HINGE": "hinge", "UNIVERSAL": "universal", "BALL": "ball"}
DETAIL: dict[str, Literal["simple", "full"]] = {"SIMPLE": "simple", "FULL": "full"}


@dataclass(frozen=True)
class SetUp:
    """All that Set Up finds."""

    found: Roles
    chosen: dict[str, tuple[str, ...]]
    scale: float
    up: Up  # the world's axis that is up in the motion
    facing: str  # the world's axis that the figure faces in the first frame, as it was keyed
    plan: BodyPlan
    lines: tuple[str, ...]  # what was repaired in the motion
    floor: tuple[str, ...]  # what was found of its floor
    repairs: tuple[Repair, ...]

    @property
    def character(self) -> str:
        """The text of the character's file."""
        return json.dumps(storage.to_data(self.plan.character), allow_nan=False)


def set_up(context: bpy.types.Context, armature: bpy.types.Object, *, keep_choices: bool = True) -> SetUp:
    """Find the roles of an armature's bones and make its character.

    Roles that the user chose by hand are kept unless told otherwise; a scale other than one is.
    """
    return whole(setting_up(context, armature, keep_choices=keep_choices, at_once=math.inf))


def setting_up(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    *,
    keep_choices: bool = True,
    staged: Staged = contextlib.nullcontext,
    at_once: float = AT_ONCE,
) -> Work[SetUp]:
    """Find them as `set_up` does, a little at a time."""
    settings: HEFT_PG_armature = settings_on(armature)
    with staged():
        check_usable(armature)
        frames = frames_of_motion(context.scene, armature)
    (sampling, theirs), *_ = yield from sampling_with_movers(
        context, [armature], frames, staged=staged, at_once=at_once
    )
    known = known_of(armature)
    found = yield from elsewhere(partial(find_roles, known, sampling.clip))
    by_hand = settings.by_hand() if keep_choices else {}
    chosen = chosen_of(found, by_hand)
    check_roles(armature, chosen)
    if theirs is not None:
        sampling, _ = moved_by(armature, sampling, theirs, chosen)
    up: Up = up_of(*with_feet(sampling.clip, chosen)) if settings.up == "AUTO" else settings.up
    if up != "Z":
        sampling = stood(sampling, up)
        found = yield from elsewhere(partial(find_roles, known, sampling.clip))
        chosen = chosen_of(found, by_hand)
        check_roles(armature, chosen)
    facing = facing_of(sampling.clip, chosen)
    clip, roles = with_feet(sampling.clip, chosen)
    if roles != chosen:
        others = tuple(line for line in found.unsure if "found for foot" not in line)
        told = f"{armature.name} has no feet: level ones were put at the ends of its shins."
        found = replace(found, unsure=(*others, told))
    factor = plausible_scale(clip, roles) if settings.scale == 1.0 else 1.0
    clip, repairs = yield from elsewhere(partial(repair, scaled(clip, factor), roles))
    vertices, by_mesh = mesh_of(armature, sampling, chosen, factor)
    rest = yield from elsewhere(partial(find_rest_pose, clip, roles, made=bool(vertices)))
    before = clip.skeleton
    if rest is not None:
        clip = replace(clip, skeleton=rest.skeleton)
        found = replace(found, unsure=tuple(line for line in found.unsure if line not in found.by_rest))
    played, made = clip.rate * clip.frames_per_sample, likely_rate(clip, roles)
    if made is not None:
        slow = f"{made / played:.2g} times as slow" if made > played else f"{played / made:.2g} times as quick"
        line = f"Its steps are about {slow} as a walker's: it may have been made at {made:g} frames per second."
        found = replace(found, unsure=(*found.unsure, f"{line} Set the scene's frame rate to that."))
    if not is_even(sampling.object_matrix[0]):
        uneven = f"{armature.name} is mirrored, sheared or scaled unevenly: apply its scale if it looks wrong."
        found = replace(found, unsure=(*found.unsure, uneven))
    make = partial(
        make_body_plan,
        clip.skeleton,
        roles,
        clip=clip,
        detail=DETAIL[settings.detail],
        sex=SEX[settings.sex],
        joints=chosen_joints(settings),
        total_mass=settings.total_mass if settings.use_total_mass else None,
        vertices=vertices if rest is None else moved_vertices(vertices, before, clip.skeleton),
        masses_from_mesh=by_mesh,
        on_floor=None if rest is None else False,
        name=armature.name,
    )
    plan = yield from elsewhere(make)
    lines = [one.text for one in repairs] + ([rest.line] if rest is not None and rest.line else [])
    floor = yield from elsewhere(partial(estimate_floor, plan, clip, settings.levelling()))
    return SetUp(found, chosen, factor * settings.scale, up, facing, plan, tuple(lines), floor.lines, tuple(repairs))


def store(armature: bpy.types.Object, done: SetUp) -> None:
    """Keep on the armature what was found."""
    settings: HEFT_PG_armature = settings_on(armature)
    settings.store_roles(done.found, done.chosen)
    settings.scale = done.scale
    settings.found_up = done.up
    settings.found_facing = done.facing
    if not settings.character:
        settings.layout = CHANGED_DEFAULT
    settings.found_floor = "\n".join(done.floor)
    settings.found_damage = damage_text(done.repairs)
    settings.character = done.character
    settings.rides = rides_text(done.plan, armature.data.bones.keys())
    settings.store_joints([joint.name for joint in done.plan.character.joints if joint.kind != "free"])


def offer_roles(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Show what was found of an armature that cannot be set up yet, so that the rest can be chosen by hand."""
    settings: HEFT_PG_armature = settings_on(armature)
    if len(settings.roles) or armature.library is not None or not len(armature.data.bones):
        return
    found = Roles({}, {})
    with contextlib.suppress(ValueError):
        frames = frames_of_motion(context.scene, armature)
        (sampling, _), *_ = sample_with_movers(context, [armature], frames)
        found = find_roles(known_of(armature), sampling.clip)
    settings.store_roles(found, dict(found.bones))


def mesh_of(
    armature: bpy.types.Object,
    sampling: Sampling,
    chosen: dict[str, tuple[str, ...]],
    factor: float = 1.0,
    weights: Weights | None = None,
) -> tuple[dict[str, Array], bool]:
    """Return the vertices (n, 3) of bones that are needed, and whether masses come from them."""
    masses_from = settings_on(armature).masses_from
    unit, place = factor * sampling.unit, sampling.object_matrix[0]
    if masses_from == "MESH" or (masses_from == "AUTO" and is_unlike_a_person(sampling.clip, chosen)):
        vertices = vertices_of_bones(armature, sampling.clip.skeleton.names, unit, place, weights)
        if masses_from == "MESH" or sum(len(cloud) >= FEWEST_VERTICES for cloud in vertices.values()) >= FEWEST_BONES:
            return vertices, True
    return vertices_of_bones(armature, bones_of_feet(chosen), unit, place, weights), False


def bones_of_feet(chosen: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the bones whose mesh tells where the soles are."""
    return [name for role, names in chosen.items() if role.startswith(("foot", "toe")) for name in names]


def chosen_joints(settings: HEFT_PG_armature) -> dict[str, JointKind]:
    """Return the kinds of joints that the user chose."""
    return {joint.name: KINDS[joint.kind] for joint in settings.joints if joint.kind in KINDS}


def check_usable(armature: bpy.types.Object) -> None:
    """Refuse what Set Up cannot work on, in words for the user."""
    if armature.library is not None:
        raise ValueError(f"{armature.name} is linked from another file: make a library override of it first.")
    if len(armature.data.bones) < 2:
        raise ValueError(f"{armature.name} has too few bones for a character: it needs two legs at least.")
    if armature.data.pose_position == "REST":
        raise ValueError(f"{armature.name} is in Rest Position: switch it to Pose Position first.")
    mover = mover_of(armature)
    if mover != armature:
        check_other(armature, mover)
    if not has_motion(mover):
        raise ValueError(f"{mover.name} has no action: assign the one to simulate.")


def has_motion(armature: bpy.types.Object) -> bool:
    """Whether an action, the NLA, drivers or constraints move the armature."""
    animation = armature.animation_data
    if animation is not None:
        if animation.action is not None:
            if animation.action_slot is None:
                raise ValueError(
                    f"{armature.name} uses the action {animation.action.name} without a slot: choose a slot."
                )
            return True
        if any(not track.mute and track.strips for track in animation.nla_tracks) or animation.drivers:
            return True
    return any(not constraint.mute for bone in armature.pose.bones for constraint in bone.constraints)


def check_roles(armature: bpy.types.Object, chosen: dict[str, tuple[str, ...]]) -> None:
    """Refuse a rig without legs before the core does, and by the rig's name."""
    if not any(role.startswith(("thigh", "shin")) for role in chosen):
        raise ValueError(f"{armature.name} has no legs: choose its thighs, shins and feet under Roles.")
    there = {bone.name for bone in armature.data.bones}
    gone = [name for names in chosen.values() for name in names if name not in there]
    if gone:
        raise ValueError(f"{armature.name} no longer has the bone '{gone[0]}': choose another under Roles.")


def frames_of_motion(scene: bpy.types.Scene, armature: bpy.types.Object) -> Array:
    """Return the frames from the first to the last key of the assigned slot, else of the NLA, else of the scene.

    The keys are those of the armature whose motion it is.
    """
    armature = mover_of(armature)
    animation = armature.animation_data
    ranges: list[tuple[float, float]] = []
    if animation is not None and animation.action is not None:
        curves = assigned_curves(armature, animation.action)
        spans = [curve.range() for curve in curves if not curve.data_path.startswith("heft.")]
        ranges = [(span.x, span.y) for span in spans]
    elif animation is not None:
        ranges = [
            (strip.frame_start, strip.frame_end)
            for track in animation.nla_tracks
            if not track.mute
            for strip in track.strips
        ]
    start = min((low for low, _ in ranges), default=scene.frame_start)
    end = max((high for _, high in ranges), default=scene.frame_end)
    step = max(1.0, float(np.ceil((end - start) / MOST_FRAMES)))
    return frame_numbers(float(np.floor(start)), float(np.ceil(end)), step)
