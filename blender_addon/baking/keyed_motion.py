# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion that is keyed: the simulated one, and around it, or for what is not taken of it, what was keyed before."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.job import BakeResult
from ...core.motion.quaternions import Array
from ..controls.drives import Map
from ..controls.mapping import mapping
from ..rig.reading import rotations_of
from ..slices import Work, whole
from ..typed import settings_on
from .above import taken_along
from .gather import Gathered
from .looping import PERIODS, Loop, one_period, stays_on_its_way
from .mixing import mix, ramps
from .onto_controls import parents_on_controls
from .poses import armature_poses, rows_of
from .root_motion import Choice, with_root_motion

FRAME = 1e-6  # frames


@dataclass(frozen=True)
class Motion:
    """What is keyed."""

    frames: Array  # (nf,)
    pose: Array  # (nf, nb, 4, 4) in the armature's space
    rows: NDArray[np.int64]  # (nf,) of the source's sampling that they are like


@dataclass(frozen=True)
class Wanted:
    """What is taken of a simulated motion, by an armature's settings."""

    taken: set[str] | None  # bones; None: all
    parent: NDArray[np.int64]  # (nb,) what each hangs from
    influence: float
    blend_in: float  # frames
    blend_out: float
    takes_along: bool  # the controls above what is simulated


def wanting(armature: bpy.types.Object, gathered: Gathered) -> Work[Wanted]:
    """Return what is wanted of a bake."""
    settings, skeleton = settings_on(armature), gathered.sampling.clip.skeleton
    chart = None
    if settings.bones != "ALL" and settings.output == "CONTROLS":
        chart = yield from mapping(armature, gathered.recorded)
    taken, parent = taken_bones(armature, skeleton.names, chart), skeleton.parent
    if chart is not None:
        parent = parents_on_controls(chart, skeleton.names, parent)
    along = settings.output in {"MUTE", "CONTROLS"}
    return Wanted(taken, parent, float(settings.influence), settings.blend_in, settings.blend_out, along)


def motion_of(armature: bpy.types.Object, gathered: Gathered, result: BakeResult, loop: Loop | None) -> Motion:
    """Return what is keyed."""
    return motion_made(whole(wanting(armature, gathered)), gathered, result, loop)


def motion_made(wanted: Wanted, gathered: Gathered, result: BakeResult, loop: Loop | None) -> Motion:
    """Return the keyed and the simulated motion as one: outside the range, and for bones not taken, the keyed one."""
    sampling, taken = gathered.sampling, wanted.taken
    asked = asked_for(gathered, result)
    frames = result.frames[:asked]
    rows = rows_of(sampling, shown(gathered, frames))
    simulated = armature_poses(result.poses[:asked], sampling, rows)
    if wanted.takes_along:
        bones = [bone for chain in gathered.job.roles.values() for bone in chain]
        simulated = taken_along(sampling.clip, bones, sampling.pose[rows], simulated)
    names = sampling.clip.skeleton.names
    if loop is not None:
        simulated = one_period(sampling.pose[rows], simulated, sampling.clip.skeleton.parent, loop.period)
        frames, rows = frames[: len(simulated)], rows[: len(simulated)]
    chosen = np.ones(len(names)) if taken is None else np.array([float(name in taken) for name in names])
    weight = wanted.influence * chosen[None].repeat(len(frames), axis=0)
    if loop is None:
        ramp = ramps(frames, wanted.blend_in, wanted.blend_out if result.outcome == "completed" else 0)
        weight *= ramp[:, None]
    pose = mix(sampling.pose[rows], simulated, weight, wanted.parent)
    before = np.flatnonzero(sampling.frames < frames[0] - FRAME)
    # a motion that ends earlier than it would is not followed by what is left of the keyed one in its range
    after = np.flatnonzero(sampling.frames > max(frames[-1], end_of(gathered)) + FRAME)
    is_take = gathered.job.ends is not None
    if result.outcome != "completed" or gathered.job.cyclic or gathered.job.playback.changes or is_take:
        after = after[:0]  # it lies somewhere, has walked on, or is elsewhere in time
    return Motion(
        np.concatenate([sampling.frames[before], frames, sampling.frames[after]]),
        np.concatenate([sampling.pose[before], pose, sampling.pose[after]]),
        np.concatenate([before, rows, after]),
    )


def taken_bones(armature: bpy.types.Object, names: tuple[str, ...], chart: Map | None) -> set[str] | None:
    """Return the bones whose simulated motion is taken, also those that chosen controls move; None for all."""
    settings = settings_on(armature)
    chosen = {entry.name for entry in settings.chosen_bones}
    if chart is not None:
        chosen |= chart.moved_by(chosen)
    if settings.bones == "CHOSEN":
        return chosen & set(names)
    if settings.bones == "OTHERS":
        return set(names) - chosen
    return None


def shown(gathered: Gathered, frames: Array) -> Array:
    """Return which of the action's frames are played at frames of the bake."""
    job = gathered.job
    first, playback = job.frames[0], job.playback
    return np.array([first + job.fps * playback.shown((frame - first) / job.fps) for frame in frames])


def loop_in(gathered: Gathered, result: BakeResult) -> Loop | None:
    """Return how the bake repeats; None where it fell, left its way, or a method has changed its time."""
    loop, asked = gathered.loop, asked_for(gathered, result)
    if loop is None or result.outcome != "completed" or asked != PERIODS * loop.period + 1:
        return None
    keyed = gathered.sampling.clip.position[rows_of(gathered.sampling, result.frames[:asked])]
    simulated = result.poses[:asked, : keyed.shape[1], :3, 3]
    return loop if stays_on_its_way(keyed, simulated, loop.period) else None


def rows_shown(gathered: Gathered, result: BakeResult, loop: Loop | None) -> slice:
    """Return the rows of a result that are written: of a loop the second period."""
    return slice(asked_for(gathered, result)) if loop is None else slice(loop.period, 2 * loop.period + 1)


def asked_for(gathered: Gathered, result: BakeResult) -> int:
    """Return how many frames of a result were asked for: the last step may lead further, where frames are short.

    A method may give a motion more time than it had, and a path takes the time it takes; then all of it is meant.
    """
    if gathered.job.path is not None:
        return len(result.frames)
    asked = int(np.searchsorted(result.frames, end_of(gathered) + FRAME, side="right"))
    more = len(result.frames) - asked
    return asked if more <= int(gathered.job.fps / gathered.job.rate) else len(result.frames)


def end_of(gathered: Gathered) -> float:
    """Return the last frame that was asked for."""
    job = gathered.job
    seconds = job.duration if job.ends is None else min(job.duration, job.ends)
    return job.frames[0] + seconds * job.fps


def with_root(armature: bpy.types.Object, gathered: Gathered, pose: Array) -> Array:
    """Return the poses with the way over the ground where it is to be."""
    settings, sampling = settings_on(armature), gathered.sampling
    names, parent = sampling.clip.skeleton.names, sampling.clip.skeleton.parent
    choice = Choice(settings.root_motion, settings.root_turns, settings.root_rises)
    up = rotations_of(sampling.object_matrix[:1, :3, :3])[0].T @ np.array([0.0, 0.0, 1.0])
    hips = names.index(gathered.job.roles["pelvis"][0])
    return with_root_motion(pose, parent, hips, up, gathered.job.fps, choice, armature.name)
