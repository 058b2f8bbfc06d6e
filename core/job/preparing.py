# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages before control: from a job's clip to a reference, and what lays its frames back onto the clip's bones."""

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import archive
from ..cache import Cache, code_version
from ..character import Character
from ..contact.terrain import HeightGrid, Plane, RigidMotion, Surface, Terrain, make_terrain
from ..control.methods import method_named
from ..motion import quaternions
from ..motion.body_plan import BodyPlan
from ..motion.cycle import Cycle
from ..motion.cycles import planar_step
from ..motion.damage import Repair
from ..motion.fit import Trajectory
from ..motion.floor import NOTHING, Floor
from ..motion.ground import MissingGround, missing_ground
from ..motion.labels import Contact, Grab, contacts_of, label, level_ground
from ..motion.make_reference import MadeReference, OtherGround, make_reference
from ..motion.playback import Playback
from ..motion.prepare import Performance, prepare
from ..motion.quaternions import Array
from ..motion.reference import Reference
from ..motion.residuals import Residuals
from ..motion.schedule import ContactPoint, ContactSchedule, contact_points
from ..motion.spacetime import NoReferenceError, Settings
from ..motion.spacetime.help import helping, shares, weight_of
from ..motion.steps import steps_of
from ..motion.supports import Support, find_supports, lies_there
from ..motion.tracks import ground_under, point_places, velocities
from ..motion.travel import Travel
from ..settings import make_settings
from ..simulation import grabs as scene_grab
from ..simulation.scene import Scene
from .carried import carrying_of, held_props, loaded, with_held
from .job import RECOVERY_EFFORT, STRENGTH, BakeJob, BodySettings
from .progress import NOTHING as NO_FRAMES
from .progress import Clock, ProgressReporter
from .sketch import bone_heads

T = TypeVar("T")

VERSION = 1  # of what is kept in the cache
USUAL_FLOOR = 0.1  # m: a clip's floor as near to z = 0 is meant to be there
SLOW = 0.25  # m/s, of a foot that stands
UNEVEN = 0.06  # m, over which the heights of standing feet spread where a clip was not made for level ground
OFF = 0.015  # m, by which a clip is nearer to the scene's ground if its own floor is levelled
SHORTEST = 3  # samples
LONGEST_PUT = 60.0  # s of a motion that are put on other ground
# Of references: a body that was keyed somewhere is rather bent than moved by what balance asks for.
NEAR: Mapping[str, Any] = {"root_place": 10.0, "root_turn": 2.0, "root_of_clip": True}
NO_HELP = 0.002  # of the weight
SAVES = 0.25  # of the help that a motion takes without supports: those that leave more are not worth having
SETTLED, SUNK, SLIPS = 1e-3, 30.0, 3.0  # rad or m, mm and mm, of a reference that may be used as it is
USUAL_PACE = 0.93  # of what is left of the optimisation after an iteration: most take twenty to forty


@dataclass(frozen=True, eq=False)
class Motion:
    """A reference and what is needed to show it on the clip's skeleton."""

    plan: BodyPlan
    reference: Reference
    source: Array  # (frames, nq) the source's own poses in the reference's frames
    residuals: Residuals  # of each of the reference's frames
    first_frame: float  # of the scene, where the simulation's time begins
    lift: float  # height of the scene's ground under the reference's start, over the reference's own, m
    ground: tuple[Surface, ...]  # that the scene lacks and the motion tells of
    contacts: tuple[Contact, ...]  # over the range, as they were found, or edited
    lines: tuple[str, ...]  # what was done to the clip and what is doubtful, for the report
    repairs: tuple[Repair, ...]  # damage that was mended
    # (n, 2) of each of the reference's frames, by which a motion in place was carried along; empty where none was
    way: Array = field(default_factory=lambda: np.zeros((0, 2)))
    supports: tuple[Support, ...] = ()  # what the scene lacks and the motion tells of, that ground included


@dataclass(frozen=True, eq=False)
class Found:
    """What is kept of a reference."""

    reference: Reference
    source: Array  # (frames, nq) the clip's own poses in its frames
    start: int  # its first frame among the performance's samples
    contacts: tuple[Contact, ...]  # as they were found or edited
    lines: tuple[str, ...]  # what was done and what is doubtful
    put_on: bool  # the scene's ground, which the clip was not made for
    ground: tuple[HeightGrid, ...]  # that the scene lacks, over the clip's own floor
    supports: tuple[Support, ...]  # what is to be told of it and of all else that the scene lacks, over that floor
    cycle: Cycle | None  # from lap to lap, where the reference is one or some in a row
    period: int  # samples of a lap
    sample: Array  # (frames,) of laps in a row, along a path, where they are not passed one by one; else none


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
        tuple(_as_floor(job, surface, lift) for surface in found.ground),
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


def character_of(job: BakeJob, cache: Cache) -> Character:
    """The character that a job's clip makes, or the job's own, with joints that reach as far as the clip's."""
    return performance_of(job, cache)[0].plan.character


def keep(cache: Cache, key: str, kind: type[T], make: Callable[[], T]) -> T:
    """What the cache has under the key, or else what is made and kept there."""
    name = f"heft.cache.{kind.__name__}"
    found = cache.get(key, lambda path: archive.load(kind, path, name, VERSION, "of this cache"))
    if found is None:
        found = make()
        cache.put(key, found, lambda value, path: archive.save(value, kind, path, name, VERSION))
    return found


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
    )
    return archive.digest(needed, BakeJob, "performance", str(find_floor), code_version())


def _reference_key(job: BakeJob, terrain: Terrain | None) -> str:
    """The same of a reference: pushes and how they are met do not make it stale, ground that it may be put on does."""
    scene = Scene(grabs=job.scene.grabs, loads=job.scene.loads, gravity=job.scene.gravity)
    other = _other_ground(job, terrain)
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
        simulate=True,
        recovery=True,
        recovery_effort=RECOVERY_EFFORT,
        return_to_path=False,
        looseness={},
        strength=STRENGTH,
        effort=job.effort if held or job.scene.loads else 0.0,
        noise=0.0,
        seed=0,
    )
    lacks = _may_lack_ground(job, terrain), _may_lack_supports(job, terrain)
    return archive.digest(
        needed, BakeJob, "reference", str(terrain is not None), str(other), str(lacks), code_version()
    )


def scene_surfaces(job: BakeJob, motion: Motion) -> tuple[Surface, ...]:
    """The ground of the simulation, and what else a motion rests on that the scene lacks."""
    in_place = len(motion.way) > 0  # what is carried along would leave the scene's ground
    scene = () if in_place else job.scene.surfaces
    more = [replace(mesh, friction=job.scene.friction) for support in motion.supports for mesh in support.solid]
    return (*(scene or motion.ground or (_floor(job, motion.lift),)), *more)


def scene_grabs(job: BakeJob, motion: Motion) -> tuple[scene_grab.Grab, ...]:
    """The scene's grabs, and those of bars that it lacks."""
    character = motion.plan.character
    held = [rest for support in motion.supports for rest in support.rests if rest.pulls]
    return (
        *job.scene.grabs,
        *(
            scene_grab.Grab(
                character.bodies[rest.point.body].name,
                rest.point.position,
                start=(rest.start_frame - job.frames[0]) / job.fps,
                end=(rest.end_frame - job.frames[0]) / job.fps + 0.5 / motion.reference.rate,
            )
            for rest in held
        ),
    )


def _as_floor(job: BakeJob, surface: HeightGrid, height: float) -> HeightGrid:
    """Ground over a clip's own floor, as the scene's floor would be."""
    return replace(surface, heights=surface.heights + height, friction=job.scene.friction)


def _floor(job: BakeJob, height: float) -> Surface:
    return Plane(point=(0.0, 0.0, height), friction=job.scene.friction)


def find_reference(
    job: BakeJob, performance: Performance, terrain: Terrain | None, reporter: ProgressReporter
) -> Found:
    """The reference of one motion."""
    under = job.scene.surfaces or (_floor(job, _floor_height(performance.floor)),)
    carried = with_held(job, make_terrain(under))
    character = loaded(performance.plan.character, carried, unplanned=False)
    trajectory, start = samples_of(job, performance)
    around = find_surroundings(job, performance, character, trajectory, terrain)
    ground = around.ground
    frames: Array = np.arange(trajectory.first_frame, job.frames[1] + 1e-6, dtype=np.float64)

    def tell(iteration: int, q: Array) -> None:
        sketch = partial(bone_heads, performance, start, q, _floor_height(performance.floor), frames)
        shown = not (job.cyclic or job.playback.changes)  # of a cycle this is one lap
        reporter("reference", 1.0 - USUAL_PACE**iteration, 0, NO_FRAMES, sketch if shown else None)

    wanted: dict[str, Any] = {
        "terrain": around.terrain,
        "contacts": job.contacts,
        "grabs": around.grabs,
        "cyclic": job.cyclic,
        "path": job.path,
        "begin": 0,
        "settings": reference_settings(job),
        "optimise": job.optimise,
        "help_given": job.help,
        "carrying": carrying_of(job, performance.plan, carried),
        "progress": tell,
    }
    told: tuple[str, ...] = ()
    if _other_ground(job, terrain) and not len(performance.way):
        onto = OtherGround(
            make_terrain(job.scene.surfaces), _floor_height(performance.floor), job.playback.shown(job.duration)
        )
        made, why = _put_onto(onto, character, trajectory, wanted)
        if why:
            told = (f"It moves as on level ground, because it could not be adapted to the scene's ground: {why}",)
    elif job.path is not None:
        made = _along_path(character, trajectory, wanted)
    elif around.supports:
        made, around = _supported(character, trajectory, terrain, wanted, around)
    else:
        made = make_reference(character, trajectory, **wanted)
    lines: tuple[str, ...] = () if ground is None else (ground.line,)
    lines += tuple(support.line for support in around.supports if support.objects)
    return Found(
        made.reference,
        made.source,
        start if made.cycle is None else start + made.cycle.candidate.start,
        made.contacts,
        lines + told + made.lines,
        made.put_on,
        () if ground is None else (ground.ground,),
        (
            *(() if ground is None else steps_of(character, trajectory, ground)),
            *(support for support in around.supports if support.objects),
        ),
        None if made.cycle is None else made.cycle.step,
        0 if made.cycle is None else len(made.cycle.trajectory.q) - 1,
        np.zeros(0) if made.laid is None else made.laid.sample,
    )


def _put_onto(
    onto: OtherGround, character: Character, trajectory: Trajectory, wanted: Mapping[str, Any]
) -> tuple[MadeReference, str]:
    """The motion on the scene's ground; or that on level ground, and why.

    With help only where it takes some on level ground too: help for the sake of a wall in its way would put it on top.
    """
    try:
        return make_reference(character, trajectory, onto=onto, **{**wanted, "help_given": "none"}), ""
    except ValueError as error:
        why = str(error)
    level = make_reference(character, trajectory, **wanted)
    if helping(level.reference.schedule.points).any():
        with contextlib.suppress(ValueError):
            return make_reference(character, trajectory, onto=onto, **wanted), ""
    return level, why


def _along_path(character: Character, trajectory: Trajectory, wanted: Mapping[str, Any]) -> MadeReference:
    """With help only where nothing else leads along it: bent into curves, a walk need not be as near as one keyed."""
    with contextlib.suppress(NoReferenceError):
        return make_reference(character, trajectory, **{**wanted, "help_given": "none"})
    return make_reference(character, trajectory, **wanted)


class Surroundings(NamedTuple):
    """What a motion is made for: the scene, and what that lacks."""

    terrain: Terrain | None
    grabs: list[Grab]
    ground: MissingGround | None
    supports: tuple[Support, ...]

    def bare(self, terrain: Terrain | None) -> "Surroundings":
        """The same with ground alone; the scene's is `terrain`."""
        rests = {rest for support in self.supports for rest in support.rests}
        grabs = [grab for grab in self.grabs if grab not in rests]
        return Surroundings(
            terrain if self.ground is None else make_terrain([self.ground.ground]), grabs, self.ground, ()
        )


def _supported(
    character: Character,
    trajectory: Trajectory,
    terrain: Terrain | None,
    wanted: Mapping[str, Any],
    around: Surroundings,
) -> tuple[MadeReference, Surroundings]:
    """The motion on what was put there; where that does not carry all of it, with help too, or without those things.

    They are worth having if they save much of the help that it takes without. With them it need not be as near as with
    help, which holds anything anywhere.
    """
    with contextlib.suppress(NoReferenceError):
        alone = make_reference(character, trajectory, **{**wanted, "help_given": "none"})
        if _is_carried(alone):
            return alone, around
    found = make_reference(character, trajectory, **wanted, help_first=True)
    bare = around.bare(terrain)
    without = make_reference(character, trajectory, **{**wanted, "terrain": bare.terrain, "grabs": bare.grabs})
    if _is_sound(found) and _mean_help(found) < SAVES * _mean_help(without):
        return found, around
    return without, bare


def _is_carried(made: MadeReference) -> bool:
    """Whether a motion can do with what carries it."""
    return _is_sound(made) and _mean_help(made) < NO_HELP


def _is_sound(made: MadeReference) -> bool:
    """Whether the optimiser came to an end, and what is in the ground is next to nothing."""
    quality = made.reference.quality
    return quality.last_step < SETTLED and quality.penetration_millimetres < SUNK and quality.slip_millimetres < SLIPS


def _mean_help(made: MadeReference) -> float:
    """Over all of a motion, as a share of the weight."""
    reference = made.reference
    helps = helping(reference.schedule.points)
    return float(shares(reference.force[:, helps], weight_of(reference.character)).mean())


def find_surroundings(
    job: BakeJob, performance: Performance, character: Character, trajectory: Trajectory, terrain: Terrain | None
) -> Surroundings:
    """Ground, seats and holds that the motion tells of, where the scene has none and they may be given."""
    grabs = grabs_held(job, character, trajectory)
    if len(performance.way) or not _may_lack_supports(job, terrain):
        return Surroundings(terrain, grabs, None, ())
    ground = find_ground(job, character, trajectory, terrain)
    surfaces: tuple[Surface, ...] = (Plane(),) if ground is None else (ground.ground,)
    if terrain is not None:
        surfaces = job.scene.surfaces
    known = make_terrain(surfaces)
    schedule = label(character, trajectory, known, grabs=grabs)
    supports = tuple(find_supports(character, trajectory, schedule, known))
    solid = [mesh for support in supports for mesh in support.solid]
    if ground is not None or solid:
        terrain = make_terrain([*surfaces, *solid])
    rests = [rest for support in supports for rest in support.rests]
    return Surroundings(terrain, grabs + rests, ground, supports)


def find_ground(
    job: BakeJob, character: Character, trajectory: Trajectory, terrain: Terrain | None
) -> MissingGround | None:
    """Ground that the motion tells of, where the scene says nothing of ground and what is missing may be given."""
    if not _may_lack_ground(job, terrain):
        return None
    return missing_ground(character, trajectory, label(character, trajectory))


def _may_lack_ground(job: BakeJob, terrain: Terrain | None) -> bool:
    says = terrain is not None or job.scene.surfaces or job.scene.grabs or job.ground != "auto"
    return not (says or job.cyclic or job.help == "none" or not job.optimise)


def _may_lack_supports(job: BakeJob, terrain: Terrain | None) -> bool:
    made_for = terrain is not None or (not job.scene.surfaces and job.ground == "auto")
    return made_for and not job.cyclic and job.help != "none" and job.optimise


def _other_ground(job: BakeJob, terrain: Terrain | None) -> bool:
    """Whether a motion for level ground is to be put on the scene's, if that is another.

    Not onto what moves, nor where hands hold on to something that does not come along, nor for a method that places
    feet itself.
    """
    return (
        terrain is None
        and job.optimise
        and not method_named(job.method).needs.places_feet
        and job.ground == "auto"
        and len(job.scene.surfaces) > 0
        and len(job.scene.grabs) == 0
        and job.duration <= LONGEST_PUT
        and not any(surface.motion.moves for surface in job.scene.surfaces)
    )


def residuals_of(job: BakeJob, performance: Performance, found: Found) -> Residuals:
    """Of the reference's frames. A cycle is cut out of the middle of the range, but begins where the range does."""
    samples = len(found.reference.q)
    if found.cycle is None:
        return performance.residuals.cut(found.start, found.start + samples)
    lap = performance.residuals.cut(found.start, found.start + found.period + 1)
    begin = samples_of(job, performance)[1] - found.start
    if len(found.sample):
        return _along(performance, found, lap, begin)
    return lap.repeated(found.cycle, np.arange(begin, begin + samples), performance.plan.body < 0)


def _along(performance: Performance, found: Found, lap: Residuals, begin: int) -> Residuals:
    """Those along a path: of the lap's samples that come in turn; bones that no body carries keep to the root."""
    assert found.cycle is not None
    loose = performance.plan.body < 0
    count = int(np.ceil(found.sample.max())) + 1
    row = lap.repeated(found.cycle, np.arange(begin, begin + count), loose)
    carried = row.at(found.sample[: len(found.reference.q)])
    if loose.any():
        own = performance.trajectory.q[found.start : found.start + found.period + 1]
        for k, q in enumerate(found.reference.q):
            frame = (begin + round(found.sample[k])) % found.period
            way = planar_step(own[frame], q)
            spin = quaternions.exp(np.array([0.0, 0.0, way.turn]))
            carried.place[k, loose] = way.move_points(lap.place[frame, loose])
            carried.turn[k, loose] = quaternions.multiply(spin, lap.turn[frame, loose])
    return carried


def way_of(job: BakeJob, performance: Performance, found: Found) -> Array:
    """By what each of the reference's frames was carried along, to be brought back by; a motion of several stays."""
    samples, way = len(found.reference.q), performance.way
    if not len(way) or job.others or job.path is not None:
        return np.zeros((0, 2))
    if found.cycle is None:
        return way[found.start : found.start + samples]
    own = way[found.start : found.start + found.period + 1]
    share = np.arange(len(own))[:, None] / found.period
    own = own + share * (np.array(found.cycle.shift) - (own[-1] - own[0]))  # a lap goes as far as the cycle does
    lap, frame = np.divmod(samples_of(job, performance)[1] - found.start + np.arange(samples), found.period)
    moved: Array = own[frame] + lap[:, None] * np.array(found.cycle.shift)
    return moved


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
    level = job.cyclic or job.ground == "level" or len(performance.way) > 0
    if not job.scene.surfaces or level:
        return performance, None
    if not _follows(job, performance) and not _rests(job, performance):
        return performance, None
    terrain = make_terrain(job.scene.surfaces)
    as_it_is = _fitted(job, cache, find_floor=False)
    nearer = _off_ground(job, as_it_is, terrain) > _off_ground(job, performance, terrain) + OFF
    return (performance if nearer and _floor_height(performance.floor) == 0.0 else as_it_is), terrain


def _rests(job: BakeJob, performance: Performance) -> bool:
    """Whether something is in the scene that a motion over level ground tells of: a seat, a table, a wall."""
    if job.help == "none" or not job.optimise:
        return False
    character, (trajectory, _) = performance.plan.character, samples_of(job, performance)
    found = find_supports(character, trajectory, label(character, trajectory), level_ground())
    terrain = make_terrain(job.scene.surfaces)
    height = _floor_height(performance.floor)
    return any(lies_there(support.lifted(height), terrain, trajectory.rate) for support in found)


def _off_ground(job: BakeJob, performance: Performance, terrain: Terrain) -> float:
    """How far standing feet are from the ground, m: half of them are farther."""
    character, trajectory = performance.plan.character, performance.trajectory
    feet = [point for point in contact_points(character) if point.foot]
    places = point_places(character, trajectory.q, feet)
    standing = np.linalg.norm(velocities(places, trajectory.rate), axis=2) < SLOW
    start = (trajectory.first_frame - job.frames[0]) / job.fps
    height = ground_under(terrain, places, np.zeros(len(feet)), trajectory.rate, start).height
    return float(np.median(np.abs(height[standing]))) if standing.any() else 0.0


def _hangs(job: BakeJob) -> bool:
    """Whether something that stays in its place is held all along: then the lowest feet tell of no floor."""
    step = 1.0 / job.rate
    times = np.arange(0.0, job.duration, step)
    held = np.zeros(len(times), dtype=np.bool_)
    for grab in job.scene.grabs:
        if grab.other is None:
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
            character=job.character,
            travel=_travel(job),
            **settings,
        )

    return keep(cache, _performance_key(job, find_floor=find_floor), Performance, make)


def _travel(job: BakeJob) -> Travel:
    """As the job says; who holds on to something in the scene is where the scene is, however the feet swing."""
    return "travelling" if job.travel == "auto" and (job.scene.grabs or job.scene.footholds) else job.travel


def _follows(job: BakeJob, performance: Performance) -> bool:
    """Whether standing feet keep to the scene's ground rather than to one level."""
    character, trajectory = performance.plan.character, performance.trajectory
    feet = [point for point in contact_points(character) if point.foot]
    places = point_places(character, trajectory.q, feet)
    standing = np.linalg.norm(velocities(places, trajectory.rate), axis=2) < SLOW
    if not standing.any() or _spread(places[..., 2][standing]) < UNEVEN:
        return False
    start = (trajectory.first_frame - job.frames[0]) / job.fps
    terrain = make_terrain(job.scene.surfaces)
    there = _unleveled(performance.floor, places)
    ground = ground_under(terrain, there, np.zeros(len(feet)), trajectory.rate, start)
    return _spread(ground.height[standing]) < 0.5 * _spread(places[..., 2][standing])


def _spread(values: Array) -> float:
    low, high = np.percentile(values, (5.0, 95.0))
    return float(high - low)


def _unleveled(floor: Floor, places: Array) -> Array:
    """Places over a clip's floor, in the scene; the inverse of `floor.level`."""
    normal = np.array([-floor.slope[0], -floor.slope[1], 1.0])
    turn = quaternions.between(np.array([0.0, 0.0, 1.0]), normal)
    found: Array = quaternions.rotate(turn, places) + np.array([0.0, 0.0, floor.height])
    return found


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


def lift_of(job: BakeJob, floor: Floor, reference: Reference) -> float:
    """How high the scene's ground is where the reference starts on its own, at z = 0."""
    height = _floor_height(floor)
    if not job.scene.surfaces:
        return height
    feet = np.array([point.foot for point in reference.schedule.points], dtype=np.bool_)
    standing = feet & reference.schedule.active[0]
    points = [reference.schedule.points[i] for i in np.flatnonzero(standing if standing.any() else feet)]
    places = point_places(reference.character, reference.q[:1], points) + np.array([0.0, 0.0, height])
    ground = ground_under(make_terrain(job.scene.surfaces), places, np.zeros(len(points)), reference.rate)
    found = places[0, :, 2] - ground.height[0]
    # a ground that is further than the query reaches tells nothing
    near = found[np.abs(found - height) < 0.5]
    return float(near.max()) if len(near) else height


def _floor_height(floor: Floor) -> float:
    """Where a clip's floor is meant to be in the scene."""
    return floor.height if abs(floor.height) > USUAL_FLOOR else 0.0


def grabs_held(job: BakeJob, character: Character, trajectory: Trajectory) -> list[Grab]:
    """The grabs of things that do not move, as the reference knows them."""
    found = []
    offset = (trajectory.first_frame - job.frames[0]) / job.fps
    names = [body.name for body in character.bodies]
    for number, grab in enumerate(job.scene.grabs):
        if grab.other is not None or grab.body not in names:
            continue
        start = max((grab.start - offset) * trajectory.rate, 0.0)
        end = min((grab.end - offset) * trajectory.rate, len(trajectory.q) - 1.0)
        if start < end:
            point = ContactPoint(f"grab_{number + 1}", names.index(grab.body), grab.point, grab=True)
            frames = trajectory.frame(math.ceil(start)), trajectory.frame(math.floor(end))
            found.append(Grab(point, *frames))
    return found


def shifted(scene: Scene, seconds: float) -> Scene:
    """The scene with times counted from some seconds later."""
    if seconds == 0.0:
        return scene
    return replace(
        scene,
        surfaces=tuple(replace(surface, motion=_shifted(surface.motion, seconds)) for surface in scene.surfaces),
        pushes=tuple(replace(push, start=push.start - seconds) for push in scene.pushes),
        grabs=tuple(replace(grab, start=grab.start - seconds, end=grab.end - seconds) for grab in scene.grabs),
        course=replace(scene.course, time=scene.course.time - seconds),
        slider=None if scene.slider is None else replace(scene.slider, time=scene.slider.time - seconds),
        strength=None if scene.strength is None else replace(scene.strength, time=scene.strength.time - seconds),
    )


def played(scene: Scene, playback: Playback) -> Scene:
    """The scene with pushes and grabs when the motion gets to where they are; pushes last as long as they do."""
    if not playback.changes:
        return scene
    return replace(
        scene,
        pushes=tuple(replace(push, start=playback.played(push.start)) for push in scene.pushes),
        grabs=tuple(
            replace(grab, start=playback.played(grab.start), end=playback.played(grab.end)) for grab in scene.grabs
        ),
    )


def _shifted(motion: RigidMotion, seconds: float) -> RigidMotion:
    return replace(motion, start=motion.start - seconds)
