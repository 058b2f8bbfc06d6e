# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's clip on a character, over the ground that it was made for."""

import math
from dataclasses import fields, replace

import numpy as np

from .. import archive
from ..cache import Cache, code_version
from ..character import Character
from ..contact.terrain import Terrain, make_terrain
from ..motion.fit import Trajectory
from ..motion.floor import NOTHING
from ..motion.holds import hangs
from ..motion.labels import label, level_ground
from ..motion.prepare import Performance, prepare
from ..motion.supports import find_supports, lies_there
from ..motion.travel import Travel
from .job import BakeJob, BodySettings
from .keeping import keep
from .surroundings.floor import floor_height, follows, off_ground

OFF = 0.015  # m, by which a clip is nearer to the scene's ground if its own floor is levelled
SHORTEST = 3  # samples


def performance_of(job: BakeJob, cache: Cache) -> tuple[Performance, Terrain | None]:
    """The fit; and the terrain, where the clip was made for it."""
    if job.ground == "terrain" and not job.scene.surfaces:
        raise ValueError(
            "The motion is marked as made for the scene's ground, but the scene has none: add ground, or "
            "choose another setting."
        )
    if job.ground == "terrain" and job.cyclic:
        raise ValueError("A gait cycle is made on level ground: choose level ground, or switch looping off.")
    if job.ground == "terrain":
        return _fitted(job, cache, find_floor=False), make_terrain(job.scene.surfaces)
    performance = _fitted(job, cache, find_floor=not _hangs(job))
    if floor_height(performance.floor) and hangs(performance.plan.character, samples_of(job, performance)[0]):
        performance = _fitted(job, cache, find_floor=False)
    level = job.cyclic or job.ground == "level" or len(performance.way) > 0
    if not job.scene.surfaces or level:
        return performance, None
    if not follows(job, performance) and not _rests(job, performance):
        return performance, None
    terrain = make_terrain(job.scene.surfaces)
    as_it_is = _fitted(job, cache, find_floor=False)
    nearer = off_ground(job, as_it_is, terrain) > off_ground(job, performance, terrain) + OFF
    return (performance if nearer and floor_height(performance.floor) == 0.0 else as_it_is), terrain


def character_of(job: BakeJob, cache: Cache) -> Character:
    """The character that a job's clip makes, or the job's own, with joints that reach as far as the clip's."""
    return performance_of(job, cache)[0].plan.character


def samples_of(job: BakeJob, performance: Performance) -> tuple[Trajectory, int]:
    """The samples of the job's frames, and which of the performance's is the first."""
    whole, last = performance.trajectory, job.frames[1]
    first = first_frame_of(job, performance)
    start = round((first - whole.first_frame) / whole.frames_per_sample)
    stop = min(round((last - whole.first_frame) / whole.frames_per_sample) + 1, len(whole.q))
    if stop - start < SHORTEST:
        raise ValueError(f"Frames {first:g} to {last:g} are too few to simulate: choose a longer range.")
    return replace(whole.cut(start, stop), first_frame=first), start


def first_frame_of(job: BakeJob, performance: Performance) -> float:
    """The frame with which the simulation begins: frames that are lost at the clip's start are not waited for."""
    first = job.frames[0]
    return first + max(math.ceil(performance.trajectory.first_frame - first - 1e-6), 0)


def _rests(job: BakeJob, performance: Performance) -> bool:
    """Whether something is in the scene that a motion over level ground tells of: a seat, a table, a wall."""
    if job.help == "none" or not job.optimise:
        return False
    character, (trajectory, _) = performance.plan.character, samples_of(job, performance)
    found = find_supports(character, trajectory, label(character, trajectory), level_ground())
    terrain = make_terrain(job.scene.surfaces)
    height = floor_height(performance.floor)
    return any(lies_there(support.lifted(height), terrain, trajectory.rate) for support in found)


def _hangs(job: BakeJob) -> bool:
    """Whether something that bears weight is held all along: then the lowest feet tell of no floor."""
    step = 1.0 / job.rate
    times = np.arange(0.0, job.duration, step)
    held = np.zeros(len(times), dtype=np.bool_)
    for grab in job.scene.grabs:
        if job.scene.bears(grab):
            held |= (grab.start <= times + step) & (times < grab.end)
    return bool(held.all())


def _fitted(job: BakeJob, cache: Cache, *, find_floor: bool) -> Performance:
    settings = {entry.name: getattr(job.body, entry.name) for entry in fields(BodySettings)}

    def make() -> Performance:
        return prepare(
            job.clip,
            job.roles,
            rate=job.rate,
            levelling=job.levelling if find_floor else NOTHING,
            floor=job.floor if find_floor else None,
            character=job.character,
            travel=_travel(job),
            **settings,
        )

    return keep(cache, _performance_key(job, find_floor=find_floor), Performance, make)


def _travel(job: BakeJob) -> Travel:
    """As the job says; who holds on to something in the scene is where the scene is, however the feet swing."""
    return "travelling" if job.travel == "auto" and (job.scene.grabs or job.scene.footholds) else job.travel


def _performance_key(job: BakeJob, *, find_floor: bool) -> str:
    """A name for all that the fit depends on, and nothing more."""
    needed = BakeJob(
        job.clip,
        job.roles,
        body=job.body,
        character=job.character,
        rate=job.rate,
        travel=_travel(job),
        levelling=job.levelling,
        floor=job.floor,
    )
    return archive.digest(needed, BakeJob, "performance", str(find_floor), code_version())
