# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages before control: from a job's clip to a reference."""

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .. import archive
from ..cache import Cache, code_version
from ..character import Character
from ..character.strength import motor_strengths
from ..contact.terrain import Terrain, make_terrain
from ..motion.body_plan import BodyPlan
from ..motion.fit import Trajectory
from ..motion.footholds import past_found_edges
from ..motion.labels import Contact, contacts_of, label
from ..motion.led import outside_of
from ..motion.make_reference import MadeReference, OtherGround, make_reference
from ..motion.outside import NOTHING, Outside
from ..motion.playback import Playback
from ..motion.prepare import Performance
from ..motion.quaternions import Array
from ..motion.schedule import ContactSchedule
from ..motion.spacetime import NoReferenceError, Settings
from ..motion.spacetime.steering import Budget
from ..motion.steps import steps_of
from ..settings import make_settings
from ..simulation.scene import Scene
from .carried import carrying_of, held_props, loaded, with_held
from .fitting import first_frame_of, performance_of, samples_of
from .flying import with_flights
from .job import RECOVERY_EFFORT, BakeJob
from .keeping import keep
from .motion import Found, Motion, residuals_of, way_of
from .progress import NOTHING as NO_FRAMES
from .progress import Clock, ProgressReporter
from .sketch import bone_heads
from .surroundings.floor import as_floor, floor_at, floor_height, lift_of
from .surroundings.lacking import find_surroundings, may_lack_ground, may_lack_supports
from .surroundings.other_ground import is_other_ground, put_onto
from .surroundings.supported import supported

# Of references: what counts is where the bodies are, more than the angles by which they come there.
# Feet are clear of the ground soon after they lift, and until they are where they are to stand: one that skims it
# slides on it in simulation, and is seen to.
NEAR: Mapping[str, Any] = {
    "place": 300.0,
    "pose_least": 10.0,
    "pose_most": 60.0,
    "root_of_clip": True,
    "clearance_ramp": 0.05,
    "clearance_way": 0.02,
}
# The same of who carries something and leans for it, which moves all bodies.
LEANING: Mapping[str, Any] = {"place": 0.0, "root_place": 10.0, "root_turn": 2.0}
USED_STRENGTH = 0.9  # of what a joint gives
USUAL_PACE = 0.93  # of what is left of the optimisation after an iteration: most take twenty to forty


def make_motion(job: BakeJob, reporter: ProgressReporter, cache: Cache, clock: Clock) -> Motion:
    """Both stages; what is in the cache is not made again."""
    reporter("fit", 0.0)
    with clock.stage("fit"):
        performance, terrain = performance_of(job, cache)
    reporter("fit", 1.0)
    reporter("reference", 0.0)
    with clock.stage("reference"):
        key = _reference_key(job, terrain)
        found = keep(cache, key, Found, lambda: find_reference(job, performance, terrain, reporter))
    reporter("reference", 1.0)
    on_scene = terrain is not None or found.put_on
    lift = 0.0 if on_scene else lift_of(job, performance.floor, found.reference)
    return Motion(
        performance.plan,
        found.reference,
        found.source,
        residuals_of(job, performance, found),
        first_frame_of(job, performance),
        lift,
        tuple(as_floor(job, surface, lift) for surface in found.ground),
        found.contacts,
        performance.lines + found.lines,
        performance.repairs,
        way_of(job, performance, found),
        tuple(support.lifted(lift) for support in found.supports),
    )


def reference_settings(job: BakeJob) -> Settings:
    """What the job asks of its reference; ValueError where that makes no sense."""
    return make_settings(Settings, {**NEAR, **job.reference}, "a reference").checked()


@dataclass(frozen=True)
class Labelled:
    """A job's range as it is keyed, with the contacts that are found in it."""

    character: Character
    trajectory: Trajectory
    start: int  # the performance's sample with which the range begins
    terrain: Terrain | None  # None where it is level ground
    schedule: ContactSchedule


def labelled(job: BakeJob, performance: Performance, terrain: Terrain | None) -> Labelled:
    """The contacts of a job's range as they are found, whatever was edited; no reference is made."""
    character = loaded(performance.plan.character, job.scene, unplanned=False)
    trajectory, start = samples_of(job, performance)
    around = find_surroundings(job, performance, character, trajectory, terrain)
    schedule = label(character, trajectory, around.terrain, grabs=around.grabs)
    return Labelled(character, trajectory, start, around.terrain, schedule)


def find_contacts(job: BakeJob, reporter: ProgressReporter, cache: Cache) -> tuple[Contact, ...]:
    """The contacts of a job's range, for the animator to edit."""
    reporter("fit", 0.0)
    found = labelled(job, *performance_of(job, cache))
    reporter("fit", 1.0)
    return tuple(contacts_of(found.trajectory, found.schedule))


def _reference_key(job: BakeJob, terrain: Terrain | None) -> str:
    """A name for all that a reference depends on: not pushes and how they are met, but ground that it may be put on."""
    scene = Scene(grabs=job.scene.grabs, loads=job.scene.loads, gravity=job.scene.gravity)
    other = is_other_ground(job, terrain)
    held = held_props(job)
    if terrain is not None or other or held:
        scene = replace(scene, surfaces=job.scene.surfaces, props=held)
    seconds = job.playback.shown(job.duration) if other and job.loop and job.path is None else None
    needed = replace(
        job,
        name="motion",
        method="",
        settings={},
        seconds=seconds,
        ground="auto",
        scene=scene,
        playback=Playback(),
        recovery=True,
        recovery_effort=RECOVERY_EFFORT,
        return_to_path=False,
        get_up=False,
        get_up_clip=None,
        looseness={},
        effort=job.effort if held or job.scene.loads else 0.0,
        noise=0.0,
        seed=0,
        ends=None,
    )
    lacks = may_lack_ground(job, terrain), may_lack_supports(job, terrain)
    return archive.digest(
        needed, BakeJob, "reference", str(terrain is not None), str(other), str(lacks), code_version()
    )


def find_reference(
    job: BakeJob, performance: Performance, terrain: Terrain | None, reporter: ProgressReporter
) -> Found:
    """The reference of one motion."""
    under = job.scene.surfaces or (floor_at(job, floor_height(performance.floor)),)
    carried = with_held(job, make_terrain(under))
    character = loaded(performance.plan.character, carried, unplanned=False)
    keyed, start = samples_of(job, performance)
    frames: Array = np.arange(keyed.first_frame, job.frames[1] + 1e-6, dtype=np.float64)

    def tell(iteration: int, q: Array) -> None:
        sketch = partial(bone_heads, performance, start, q, floor_height(performance.floor), frames)
        shown = not (job.cyclic or job.playback.changes)  # of a cycle this is one lap
        reporter("reference", 1.0 - USUAL_PACE**iteration, 0, NO_FRAMES, sketch if shown else None)

    tell(0, keyed.q)  # who looks on sees at once what has been keyed
    flown = with_flights(job, performance, character, keyed, terrain)
    trajectory = flown.trajectory
    around = find_surroundings(job, performance, character, trajectory, terrain)
    ground = around.ground

    settings = reference_settings(job) if ground is None else past_found_edges(reference_settings(job))
    carrying = carrying_of(job, performance.plan, carried)
    wanted: dict[str, Any] = {
        "terrain": around.terrain,
        "contacts": None if job.contacts is None else flown.now(job.contacts),
        "grabs": around.grabs,
        "cyclic": job.cyclic,
        "path": job.path,
        "begin": 0,
        "settings": settings if carrying is None else replace(settings, **LEANING),
        "optimise": job.optimise,
        "help_given": job.help,
        "budget": Budget(character.nv, trajectory.rate),
        "strength": _strength(job, performance.plan, character),
        "carrying": carrying,
        "low": not job.simulate,
        "outside": NOTHING if flown.trajectory is not keyed else _outside(job, character, keyed),
        "progress": tell,
    }
    told: tuple[str, ...] = ()
    if is_other_ground(job, terrain) and not len(performance.way):
        onto = OtherGround(
            make_terrain(job.scene.surfaces), floor_height(performance.floor), job.playback.shown(job.duration)
        )
        made, why = put_onto(onto, character, trajectory, wanted)
        if why:
            told = (f"It moves as on level ground, because it could not be adapted to the scene's ground: {why}",)
    elif job.path is not None:
        made = _along_path(character, trajectory, wanted)
    elif around.supports:
        made, around = supported(character, trajectory, terrain, wanted, around)
    else:
        made = make_reference(character, trajectory, **wanted)
    lines: tuple[str, ...] = () if ground is None else (ground.line,)
    lines += tuple(support.line for support in around.supports if support.objects)
    retimed = flown.trajectory is not keyed
    return Found(
        made.reference,
        keyed.q[: len(made.source)] if retimed else made.source,
        start if made.cycle is None else start + made.cycle.candidate.start,
        flown.keyed(made.contacts),
        lines + flown.lines + told + made.lines,
        made.put_on,
        () if ground is None else (ground.ground,),
        (
            *(() if ground is None else steps_of(character, trajectory, ground)),
            *(support for support in around.supports if support.objects),
        ),
        None if made.cycle is None else made.cycle.step,
        0 if made.cycle is None else len(made.cycle.trajectory.q) - 1,
        flown.sample if made.laid is None else made.laid.sample,
    )


def _strength(job: BakeJob, plan: BodyPlan, character: Character) -> Array | None:
    """N m (motors,) that a motion may ask of its motors, with some left to correct it; None where nothing is known."""
    if plan.quadruped or math.isinf(job.strength):
        return None
    return USED_STRENGTH * job.strength * motor_strengths(character, job.body.sex)


def _outside(job: BakeJob, character: Character, trajectory: Trajectory) -> Outside:
    """What others do, over the range."""
    if not job.meetings:
        return NOTHING
    later = (trajectory.first_frame - job.frames[0]) / job.fps
    return outside_of(job.meetings, character, len(trajectory.q), trajectory.rate, later)


def _along_path(character: Character, trajectory: Trajectory, wanted: Mapping[str, Any]) -> MadeReference:
    """With help only where nothing else leads along it: bent into curves, a walk need not be as near as one keyed."""
    with contextlib.suppress(NoReferenceError):
        return make_reference(character, trajectory, **{**wanted, "help_given": "none"})
    return make_reference(character, trajectory, **wanted)
