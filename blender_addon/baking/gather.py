# SPDX-License-Identifier: GPL-3.0-or-later
"""From armatures as they stand in the scene to jobs: poses, surroundings and settings, read in one pass."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import bpy
import numpy as np

from ...core.job import BakeJob, BodySettings, ContactInterval
from ...core.live import take
from ...core.motion.clip import Clip
from ...core.motion.pegs import with_feet
from ...core.motion.playback import Playback
from ..contacts import Samples, edited_contacts
from ..controls.recording import Recorded, Recorder
from ..properties.armature import HEFT_PG_armature
from ..properties.methods import choice_of, method_of, plain, values_in
from ..properties.reactions import looseness_in
from ..rig import setting_up
from ..rig.mesh import Weights
from ..rig.other_motion import moved_by, mover_of, sampling_with_movers
from ..rig.reading import Sampling, Staged, frame_numbers
from ..rig.viewing import View, apart, in_place
from ..scene.attachment import bodies_of
from ..scene.grabs import Reach
from ..scene.props import SceneProp
from ..scene.reading import SceneReader, is_acted_on
from ..scene.takes import Clock
from ..slices import AT_ONCE, Work, whole
from ..typed import settings_on
from .looping import PERIODS, Loop, loop_of, repeating
from .onto_controls import needs_channels
from .others import clip_of, other_actions, other_clips, read_choices, read_slider
from .source import Source, playing, shown_source, source_of

MOST_FRAMES = 100_000
CARRIED = 0.05  # m, or as much of a turn, by which an armature's parent moves it


@dataclass(frozen=True)
class Gathered:
    """What a bake of one armature needs, from the job to what is written at the end."""

    job: BakeJob
    source: Source
    sampling: Sampling  # of all of the source's frames
    props: tuple[SceneProp, ...]
    notes: tuple[str, ...]
    loop: Loop | None = None  # as which the bake is to repeat
    doubts: tuple[str, ...] = ()  # what may be to blame if it fails, in sentences
    reaches: tuple[Reach, ...] = ()  # grabs of other characters that are baked in one world with it
    bodies: Mapping[str, str] = field(default_factory=dict)  # of which body each bone is a part
    chosen: str = ""  # the method and why, in a sentence, where it was left open
    recorded: Recorded | None = (
        None  # channels at all of the source's frames, of a bake onto controls, or of a difference
    )


def gather(
    context: bpy.types.Context, armatures: Sequence[bpy.types.Object], *, together: bool = False
) -> list[Gathered]:
    """Read all armatures; ValueError, in words for the user, if one cannot be baked.

    Armatures that were not set up are set up first.
    """
    return whole(gathering(context, armatures, at_once=math.inf, together=together))


def gathering(
    context: bpy.types.Context,
    armatures: Sequence[bpy.types.Object],
    *,
    at_once: float = AT_ONCE,
    shortly: Weights | None = None,
    together: bool = False,
    directed: bool = False,
) -> Work[list[Gathered]]:
    """Read them as `gather` does, a little at a time.

    `shortly` means in a scene apart, with weights of meshes as they are known: `viewing` says what that may not see.
    Whether they are to be `together` in one world decides what hands hold; or they are to be `directed` on the stage.
    """
    render = context.scene.render
    if render.frame_map_old != render.frame_map_new:
        raise ValueError("The scene's Time Stretching would stretch the bake again: set Old and New to the same value.")
    sources = [named(source_of(armature), armature) for armature in armatures]

    @contextlib.contextmanager
    def staged() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for armature, source in zip(armatures, sources, strict=True):
                stack.enter_context(playing(armature, source))
            for one in dict.fromkeys([*armatures, *map(mover_of, armatures)]):
                stack.enter_context(repeating(one))
            yield

    for armature in armatures:
        yield from making_ready(context, armature, staged, at_once)
    with staged():
        loops = [None if directed else wanted_loop(context.view_layer, armature) for armature in armatures]
        moving = [frames_of(context.scene, *each) for each in zip(armatures, loops, strict=True)]
        keyed = [
            (first, max(last, seen_until(context, armature, first)))
            for armature, (first, last) in zip(armatures, moving, strict=True)
        ]
        frames = frame_numbers(min(first for first, _ in keyed), max(last for _, last in keyed))
        if len(frames) > MOST_FRAMES:
            raise ValueError(f"{len(frames)} frames are too many to bake: choose a range of {MOST_FRAMES} at most.")
        offsets = [int(first - frames[0]) for first, _ in keyed]
        counts = [int(last - first) + 1 for first, last in keyed]
        starts = [
            int(range_of(settings_on(armature), both)[0] - both[0])
            for armature, both in zip(armatures, keyed, strict=True)
        ]
        partners = {armature.session_uid for armature in armatures} if together else set()
        readers = [SceneReader(context, *each, partners) for each in zip(armatures, counts, starts, strict=True)]
        recorders = [
            Recorder(armature, count) if needs_channels(armature) else None
            for armature, count in zip(armatures, counts, strict=True)
        ]

    view: View = partial(in_place, context.scene, context.view_layer)
    if shortly is not None:
        around = (one for reader in readers for one in reader.watched())
        seen = dict.fromkeys([*armatures, *map(mover_of, armatures), *around])
        view = partial(apart, context.scene, list(seen))

    def look(row: int, graph: bpy.types.Depsgraph) -> None:
        for reader, recorder, offset, count in zip(readers, recorders, offsets, counts, strict=True):
            if 0 <= row - offset < count:
                reader.look(row - offset, graph)
                if recorder is not None:
                    recorder.look(row - offset, graph)

    samplings = yield from sampling_with_movers(
        context, armatures, frames, look, stand=True, view=view, staged=staged, at_once=at_once
    )
    found = []
    for armature, source, (own, theirs), reader, loop, ends, recorder, offset, count in zip(
        armatures, sources, samplings, readers, loops, moving, recorders, offsets, counts, strict=True
    ):
        part = cut(own, offset, offset + count)
        lines: tuple[str, ...] = ()
        if theirs is not None:
            chosen = settings_on(armature).chosen_roles()
            part, done = moved_by(armature, part, cut(theirs, offset, offset + count), chosen)
            lines = done.lines
        with staged():
            one = gathered(armature, source, part, reader, loop, ends, shortly, directed=directed)
            one = replace(
                one,
                notes=(*lines, *one.notes),
                recorded=recorder and recorder.recorded(part.frames, part.object_matrix),
            )
        yield 1.0
        one = yield from with_others(context, armature, one, view, staged, at_once)
        found.append((yield from with_way_up(context, armature, one, view, at_once)))
    return found


def named(source: Source, armature: bpy.types.Object) -> Source:
    """Return a source that has no action of its own under the name of the motion that it is given."""
    mover = mover_of(armature)
    if source.uid is not None or mover == armature:
        return source
    played = shown_source(mover)
    return replace(source, name=mover.name if played is None else played.name)


def making_ready(context: bpy.types.Context, armature: bpy.types.Object, staged: Staged, at_once: float) -> Work[None]:
    """Set an armature up, unless it is; ValueError, in words for the user, if it cannot be baked as it is."""
    with staged():
        setting_up.check_usable(armature)
    if not settings_on(armature).character:
        done = yield from setting_up.setting_up(context, armature, staged=staged, at_once=at_once)
        setting_up.store(armature, done)
    setting_up.check_roles(armature, settings_on(armature).chosen_roles())
    check_choice(armature)


def gathered_before(context: bpy.types.Context, armature: bpy.types.Object, found: Gathered) -> Gathered:
    """What was read of an armature, for the same armature after its file has been opened anew."""
    source = named(source_of(armature), armature)
    whole(making_ready(context, armature, partial(playing, armature, source), math.inf))
    return replace(found, source=source)


def gathered(
    armature: bpy.types.Object,
    source: Source,
    sampling: Sampling,
    reader: SceneReader,
    loop: Loop | None,
    moving: tuple[float, float],
    weights: Weights | None = None,
    *,
    directed: bool = False,
) -> Gathered:
    """Return what one armature's bake needs; the action moves it between these frames, of those that were read.

    Where it is to be `directed` on the stage, no earlier take says how long.
    """
    settings: HEFT_PG_armature = settings_on(armature)
    looked, _ = with_feet(sampling.clip, settings.chosen_roles())
    if settings.target is None:  # later frames were read for what is around
        sampling = cut(sampling, 0, int(moving[1] - moving[0]) + 1)
    clip, roles = with_feet(sampling.clip, settings.chosen_roles())
    first, last = range_of(settings, moving)
    method = method_of(settings)
    rate = max(settings.rate, method.needs.least_rate)
    around = reader.surroundings(looked, Clock(first, clip.rate * clip.frames_per_sample, float(rate)))
    job = BakeJob(
        clip=clip,
        roles=roles,
        name=armature.name,
        body=body_settings(armature, sampling, weights),
        scene=around.scene,
        travel=settings.travel.lower(),
        levelling=settings.levelling(),
        contacts=contacts_of(armature, first, last, clip.rate * clip.frames_per_sample / rate),
        method=method.name,
        settings=values_in(settings),
        optimise=optimises(settings),
        help=settings.help.lower() if method.needs.helps else "none",
        flights=settings.flights.lower(),
        playback=around.playback if method.needs.follows_keys else Playback(),
        recovery=settings.recovery,
        recovery_effort=settings.recovery_effort,
        return_to_path=settings.return_to_path,
        get_up=settings.get_up,
        effort=round(settings.effort, 6),
        looseness=looseness_in(settings),
        strength=1.0 if around.scene.strength is not None else plain(settings.strength),
        rate=float(rate),
        frame_start=first,
        frame_end=last,
        path=reader.path(clip, clip.skeleton.index(roles["pelvis"][0])),
        loop=settings.extends,
        seconds=plain(settings.loop_seconds) if settings.extends else None,
    )
    if settings.take.seconds > 0.0 and not directed:
        steps = max(round(settings.take.seconds * job.rate), 1)
        job = take.staged(job, loops=settings.take.loops, seconds=steps / job.rate)
    choice = choice_of(settings)
    return Gathered(
        job,
        source,
        sampling,
        around.props,
        around.notes,
        loop,
        carried_along(armature, sampling),
        around.reaches,
        bodies_of(armature) if around.reaches or reader.has_partners else {},
        "" if choice is None else choice.told,
    )


def carried_along(armature: bpy.types.Object, sampling: Sampling) -> tuple[str, ...]:
    """Return a sentence if a parent carries the whole armature about: what it rides on is no ground to the physics."""
    moved = float(np.abs(np.ptp(sampling.object_matrix, axis=0)).max())
    parent = armature.parent
    if parent is None or sampling.unit * moved < CARRIED:
        return ()
    told = (
        f"{armature.name} is parented to {parent.name}, which carries it along: mark {parent.name} as ground and clear "
        "the parent (Object ▸ Parent ▸ Clear and Keep Transformation) before you bake."
    )
    return (told,)


def with_others(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    found: Gathered,
    view: View,
    staged: Staged,
    at_once: float,
) -> Work[Gathered]:
    """Return the same with what is to be blended with it or switched to, for methods that do; others as they are."""
    job, settings = found.job, settings_on(armature)
    needs = method_of(settings).needs
    if needs.switches and settings.loop and any(other_actions(armature)):
        if not all(entry.action is not None for entry in settings.others):
            raise ValueError(
                f"There is a place without an action among those that {armature.name} switches to: remove it."
            )
        others = yield from other_clips(context, armature, found.source, view, at_once)
        with staged():
            choices = read_choices(armature, job.frames[0], job.fps)
        return replace(found, job=replace(job, others=others, choices=choices))
    if not needs.blends:
        return found
    others = yield from other_clips(context, armature, found.source, view, at_once)
    if not others:
        raise ValueError(
            f"{armature.name} has no other action to combine with {found.source.name}: add one in the Controller panel."
        )
    longest = max(job.duration, *((len(clip.position) - 1) / clip.rate for clip in others))
    seconds = job.duration if job.loop else longest
    slider = yield from read_slider(armature, job.frames[0], seconds, job.fps, view, staged, at_once)
    scene = replace(job.scene, slider=slider)
    return replace(found, job=replace(job, others=others, seconds=seconds, scene=scene))


def with_way_up(
    context: bpy.types.Context, armature: bpy.types.Object, found: Gathered, view: View, at_once: float
) -> Work[Gathered]:
    """Return the same with the motion to get up by, if one is named and a fall may ask for it."""
    action = settings_on(armature).get_up_action
    if action is None or not (found.job.get_up and method_of(settings_on(armature)).needs.recovers):
        return found
    clip = yield from clip_of(context, armature, action, found.source, view, at_once)
    return replace(found, job=replace(found.job, get_up_clip=clip))


def optimises(settings: HEFT_PG_armature) -> bool:
    """Return whether the motion is made possible before it is simulated."""
    needs, choice = method_of(settings).needs, choice_of(settings)
    if choice is not None and choice.as_it_is:
        return False
    return not needs.no_motion and (settings.optimise or not needs.follows_keys)


def check_choice(armature: bpy.types.Object) -> None:
    """Refuse a choice of bones with none in it: nothing of the simulation would be taken, or all of it."""
    settings: HEFT_PG_armature = settings_on(armature)
    if settings.bones != "ALL" and not any(one.name in armature.data.bones for one in settings.chosen_bones):
        raise ValueError(f"No bones of {armature.name} are chosen: select some in Pose Mode and press Use Selected.")


def contacts_of(
    armature: bpy.types.Object, first: float, last: float, step: float
) -> tuple[ContactInterval, ...] | None:
    """Return the contacts that were edited by hand, None where they are to be found."""
    edited = edited_contacts(armature, Samples(first, last, step))
    return None if edited is None else tuple(edited)


def wanted_loop(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> Loop | None:
    """Return how the bake is to repeat: as its source does, unless it leaves that, or a range is asked for."""
    settings: HEFT_PG_armature = settings_on(armature)
    needs = method_of(settings).needs
    asked = settings.use_frame_range or settings.extends or settings.path is not None or settings.target is not None
    asked = asked or settings.take.seconds > 0.0
    leaves = needs.no_motion or needs.blends or is_acted_on(view_layer, armature)
    return None if asked or leaves else loop_of(mover_of(armature))


def frames_of(scene: bpy.types.Scene, armature: bpy.types.Object, loop: Loop | None) -> tuple[float, float]:
    """Return the first and last frame to read: the whole motion, and the range to simulate if it reaches further."""
    if loop is not None:
        return loop.first, loop.first + PERIODS * loop.period
    keyed = setting_up.frames_of_motion(scene, armature)
    settings = settings_on(armature)
    if not settings.use_frame_range:
        if keyed[-1] <= keyed[0] and not settings.extends:
            raise ValueError(
                f"The action of {armature.name} has keys at frame {keyed[0]:.0f} only: key a motion, or choose a "
                "Custom Range in which the pose is to be held."
            )
        last = max(keyed[-1], keyed[0] + 1.0)
        if (
            not settings.extends and loop_of(mover_of(armature)) is not None
        ):  # what repeats goes on to the end of the scene
            last = max(last, scene.frame_end)
        return float(keyed[0]), float(last)
    if settings.frame_end <= settings.frame_start:
        raise ValueError(
            f"The frame range of {armature.name} is empty: its end, frame {settings.frame_end}, must come after its "
            f"start, frame {settings.frame_start}."
        )
    return float(min(keyed[0], settings.frame_start)), float(max(keyed[-1], settings.frame_end))


def seen_until(context: bpy.types.Context, armature: bpy.types.Object, first: float) -> float:
    """Return the last frame for which it matters what is around, though the action may have ended before."""
    settings: HEFT_PG_armature = settings_on(armature)
    if settings.target is not None:  # where that is, is known as long as the scene goes on
        return float(context.scene.frame_end)
    followed = method_of(settings).needs.led or is_acted_on(context.view_layer, armature)
    if settings.extends and followed:
        render = context.scene.render
        return first + float(math.ceil(settings.loop_seconds * render.fps / render.fps_base))
    return first


def range_of(settings: HEFT_PG_armature, keyed: tuple[float, float]) -> tuple[float, float]:
    """Return the first and last frame to simulate, out of those that are read."""
    if settings.use_frame_range:
        return float(settings.frame_start), float(settings.frame_end)
    return keyed


def cut(sampling: Sampling, start: int, stop: int) -> Sampling:
    """Return rows start to stop - 1."""
    if (start, stop) == (0, len(sampling.frames)):
        return sampling
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
        own=None if sampling.own is None else sampling.own[start:stop],
    )


def body_settings(armature: bpy.types.Object, sampling: Sampling, weights: Weights | None) -> BodySettings:
    """Return the choices by which Set Up makes the character."""
    settings: HEFT_PG_armature = settings_on(armature)
    vertices, by_mesh = setting_up.mesh_of(armature, sampling, settings.chosen_roles(), weights=weights)
    return BodySettings(
        detail=setting_up.DETAIL[settings.detail],
        sex=setting_up.SEX[settings.sex],
        total_mass=plain(settings.total_mass) if settings.use_total_mass else None,
        joints=setting_up.chosen_joints(settings),
        vertices=vertices,
        masses_from_mesh=by_mesh,
    )
