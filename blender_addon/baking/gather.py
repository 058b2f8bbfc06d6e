# SPDX-License-Identifier: GPL-3.0-or-later
"""From armatures as they stand in the scene to jobs: poses, surroundings and settings, read in one pass."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.job import BakeJob, BodySettings, ContactInterval
from ...core.motion.clip import Clip
from ...core.motion.playback import Playback
from ..contacts import Samples, edited_contacts
from ..properties.armature import HEFT_PG_armature
from ..properties.bake import COMBINES, FOLLOW_KEYS, GOES_BETWEEN, LEAST_RATE, WALKS_ITSELF
from ..rig import setting_up
from ..rig.mesh import vertices_of_bones
from ..rig.reading import Sampling, frame_numbers, sample_armatures
from ..scene.props import SceneProp
from ..scene.reading import Watch, is_acted_on
from .looping import PERIODS, Loop, loop_of
from .others import other_actions, other_clips, read_choices, read_slider
from .source import Source, playing, source_of

MOST_FRAMES = 100_000


@dataclass(frozen=True)
class Gathered:
    """What a bake of one armature needs, from the job to what is written at the end."""

    job: BakeJob
    source: Source
    sampling: Sampling  # of all of the source's frames
    props: tuple[SceneProp, ...]
    notes: tuple[str, ...]
    loop: Loop | None = None  # as which the bake is to repeat


def gather(context: bpy.types.Context, armatures: Sequence[bpy.types.Object]) -> list[Gathered]:
    """Read all armatures; ValueError, in words for the user, if one cannot be baked.

    Armatures that were not set up are set up first.
    """
    render = context.scene.render
    if render.frame_map_old != render.frame_map_new:
        raise ValueError("The scene's Time Stretching is on, which would stretch the bake once more: set Old as New.")
    with contextlib.ExitStack() as stack:
        sources = []
        for armature in armatures:
            sources.append(source_of(armature))
            stack.enter_context(playing(armature, sources[-1]))
        for armature in armatures:
            setting_up.check_usable(armature)
            if not armature.heft.character:
                setting_up.store(armature, setting_up.set_up(context, armature))
            setting_up.check_roles(armature, armature.heft.chosen_roles())
            check_choice(armature)
        loops = [wanted_loop(context.view_layer, armature) for armature in armatures]
        keyed = [frames_of(context.scene, *each) for each in zip(armatures, loops, strict=True)]
        frames = frame_numbers(min(first for first, _ in keyed), max(last for _, last in keyed))
        if len(frames) > MOST_FRAMES:
            raise ValueError(f"{len(frames)} frames are too many to bake: choose a range of {MOST_FRAMES} at most.")
        offsets = [int(first - frames[0]) for first, _ in keyed]
        counts = [int(last - first) + 1 for first, last in keyed]
        starts = [
            int(range_of(armature.heft, both)[0] - both[0]) for armature, both in zip(armatures, keyed, strict=True)
        ]
        watches = [Watch(context, *each) for each in zip(armatures, counts, starts, strict=True)]

        def look(row: int, graph: bpy.types.Depsgraph) -> None:
            for watch, offset, count in zip(watches, offsets, counts, strict=True):
                if 0 <= row - offset < count:
                    watch.look(row - offset, graph)

        scales = [armature.heft.scale for armature in armatures]
        samplings = sample_armatures(context.scene, context.view_layer, armatures, frames, scales, look)
        return [
            with_others(
                context, armature, gathered(armature, source, cut(sampling, offset, offset + count), watch, loop)
            )
            for armature, source, sampling, watch, loop, offset, count in zip(
                armatures, sources, samplings, watches, loops, offsets, counts, strict=True
            )
        ]


def gathered(
    armature: bpy.types.Object, source: Source, sampling: Sampling, watch: Watch, loop: Loop | None
) -> Gathered:
    """Return what one armature's bake needs."""
    settings: HEFT_PG_armature = armature.heft
    clip = sampling.clip
    around = watch.surroundings(clip)
    first, last = range_of(settings, (float(sampling.frames[0]), float(sampling.frames[-1])))
    rate = max(settings.rate, LEAST_RATE.get(settings.controller, 0))
    job = BakeJob(
        clip=clip,
        roles=settings.chosen_roles(),
        name=armature.name,
        body=body_settings(armature, sampling),
        scene=around.scene,
        contacts=contacts_of(armature, first, last, clip.rate * clip.frames_per_sample / rate),
        method=settings.controller.lower(),
        settings=method_settings(settings),
        optimise=optimises(settings),
        help=settings.help.lower(),
        playback=around.playback if settings.controller in FOLLOW_KEYS else Playback(),
        rate=float(rate),
        frame_start=first,
        frame_end=last,
        loop=settings.loop,
        seconds=plain(settings.loop_seconds) if settings.loop else None,
    )
    notes = around.notes
    if job.playback.transitions and settings.replanning.transition == 0.0:
        notes += ("Go Over is keyed on, but a Transition of 0 seconds pulls the body into the action at once.",)
    return Gathered(job, source, sampling, around.props, notes, loop)


def with_others(context: bpy.types.Context, armature: bpy.types.Object, found: Gathered) -> Gathered:
    """Return the same with what is to be combined with it or gone to, for methods that do; others as they are."""
    job, settings = found.job, armature.heft
    if settings.controller in GOES_BETWEEN and settings.loop and any(other_actions(armature)):
        if not all(entry.action is not None for entry in settings.others):
            raise ValueError(f"There is a place without an action among those that {armature.name} goes to: remove it.")
        others = other_clips(context, armature, found.source)
        return replace(found, job=replace(job, others=others, choices=read_choices(armature, job.frames[0], job.fps)))
    if settings.controller not in COMBINES:
        return found
    others = other_clips(context, armature, found.source)
    if not others:
        raise ValueError(
            f"{armature.name} has no other action to combine with {found.source.name}: add one under Controller."
        )
    longest = max(job.duration, *((len(clip.position) - 1) / clip.rate for clip in others))
    seconds = job.duration if job.loop else longest
    slider = read_slider(context, armature, job.frames[0], seconds, job.fps)
    scene = replace(job.scene, slider=slider)
    return replace(found, job=replace(job, others=others, seconds=seconds, scene=scene))


def optimises(settings: HEFT_PG_armature) -> bool:
    """Return whether the motion is made possible before it is simulated."""
    return settings.controller not in WALKS_ITSELF and (settings.optimise or settings.controller not in FOLLOW_KEYS)


def check_choice(armature: bpy.types.Object) -> None:
    """Refuse a choice of bones with none in it: nothing of the simulation would be taken, or all of it."""
    settings: HEFT_PG_armature = armature.heft
    if settings.bones != "ALL" and not any(one.name in armature.data.bones for one in settings.chosen_bones):
        raise ValueError(f"No bones of {armature.name} are chosen: select some in Pose Mode and press Take Selected.")


def contacts_of(
    armature: bpy.types.Object, first: float, last: float, step: float
) -> tuple[ContactInterval, ...] | None:
    """Return the contacts that were edited by hand, None where they are to be found."""
    edited = edited_contacts(armature, Samples(first, last, step))
    return None if edited is None else tuple(edited)


def wanted_loop(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> Loop | None:
    """Return how the bake is to repeat: as its source does, unless it leaves that, or a range is asked for."""
    settings: HEFT_PG_armature = armature.heft
    asked = settings.use_frame_range or settings.loop
    leaves = settings.controller in WALKS_ITSELF | COMBINES or is_acted_on(view_layer, armature)
    return None if asked or leaves else loop_of(armature)


def frames_of(scene: bpy.types.Scene, armature: bpy.types.Object, loop: Loop | None) -> tuple[float, float]:
    """Return the first and last frame to read: the whole motion, and the range to simulate if it reaches further."""
    if loop is not None:
        return loop.first, loop.first + PERIODS * loop.period
    keyed = setting_up.frames_of_motion(scene, armature)
    settings = armature.heft
    if not settings.use_frame_range:
        last = max(keyed[-1], keyed[0] + 1.0)
        if not settings.loop and loop_of(armature) is not None:  # what repeats goes on to the end of the scene
            last = max(last, scene.frame_end)
        return float(keyed[0]), float(last)
    if settings.frame_end <= settings.frame_start:
        raise ValueError(
            f"The range of {armature.name} is empty: it ends at frame {settings.frame_end} and starts at "
            f"{settings.frame_start}."
        )
    return float(min(keyed[0], settings.frame_start)), float(max(keyed[-1], settings.frame_end))


def range_of(settings: HEFT_PG_armature, keyed: tuple[float, float]) -> tuple[float, float]:
    """Return the first and last frame to simulate, out of those that are read."""
    if settings.use_frame_range:
        return float(settings.frame_start), float(settings.frame_end)
    return keyed


def cut(sampling: Sampling, start: int, stop: int) -> Sampling:
    """Return rows start to stop - 1."""
    clip = sampling.clip
    part = Clip(
        clip.skeleton,
        clip.rate,
        clip.position[start:stop],
        clip.orientation[start:stop],
        clip.first_frame + start * clip.frames_per_sample,
        clip.frames_per_sample,
    )
    return replace(
        sampling,
        clip=part,
        frames=sampling.frames[start:stop],
        object_matrix=sampling.object_matrix[start:stop],
        pose=sampling.pose[start:stop],
    )


def body_settings(armature: bpy.types.Object, sampling: Sampling) -> BodySettings:
    """Return the choices by which Set Up makes the character."""
    settings: HEFT_PG_armature = armature.heft
    by_mesh = settings.masses_from == "MESH"
    bones = sampling.clip.skeleton.names if by_mesh else setting_up.bones_of_feet(settings.chosen_roles())
    return BodySettings(
        detail=setting_up.DETAIL[settings.detail],
        sex=setting_up.SEX[settings.sex],
        total_mass=plain(settings.total_mass) if settings.use_total_mass else None,
        joints=setting_up.chosen_joints(settings),
        vertices=vertices_of_bones(armature, bones, sampling.unit, sampling.object_matrix[0]),
        masses_from_mesh=by_mesh,
    )


def method_settings(settings: HEFT_PG_armature) -> Mapping[str, bool | int | float | str]:
    """Return the settings of the chosen method, by the core's names."""
    group = getattr(settings, settings.controller.lower())
    found: dict[str, bool | int | float | str] = {}
    for entry in group.bl_rna.properties:
        if entry.identifier in {"rna_type", "name"}:
            continue
        value = getattr(group, entry.identifier)
        found[entry.identifier] = value.lower() if entry.type == "ENUM" else plain(value)
    return found


def plain(value: float) -> float:
    """Return a number as it was typed: Blender keeps seven digits, and 0.1 of them is not 0.1."""
    return float(np.format_float_positional(np.float32(value), unique=True)) if isinstance(value, float) else value
