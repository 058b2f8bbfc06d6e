# SPDX-License-Identifier: GPL-3.0-or-later
"""From a character's motion to a reference, in one call: labels, clean-up, a cycle if wanted, spacetime optimisation.

    clip, roles      -> prepare         -> character, trajectory
    trajectory       -> label           -> contacts, which an animator may edit
    contacts         -> clean_up        -> feet that stand
    or               -> make_cycle      -> the same, of one period
    both             -> put_on          -> the same on other ground, if asked
    all              -> build_reference -> torques and forces, and what had to change
    or               -> as_it_is        -> the same motion without forces

A motion that nothing supports is refused here, by frames, before it is optimised.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d

from ..character import Character
from ..contact.terrain import Terrain
from ..dynamics import body_poses
from .along import Laid, laps_needed, lay_along, step_length
from .as_it_is import reference_as_it_is
from .clean_up import CUTOFF, CleanMotion, clean_up, low_passed
from .cycles import GaitCycle, make_cycle, repeat
from .fit import Trajectory, velocities
from .footholds import clear_of_edges, is_level, put_on
from .hovering import lower
from .labels import LONGEST_UNSUPPORTED, Contact, Grab, LabelSettings, contacts_of, label, level_ground, relabel
from .outside import NOTHING, Outside
from .path import Path
from .quality import Concern, concerns, slowness
from .quaternions import Array
from .reference import Reference
from .rest import ends_at_rest, held, without_rest
from .schedule import ContactSchedule, Mask, runs
from .spacetime import Carrying, Ends, Help, NoReferenceError, Settings, build_reference
from .spacetime.ladder import FAR, MOST_SUNK
from .spacetime.measure import MOST_JOINT_RMS, MOST_ROOT_RMS, mean_distance
from .spacetime.solver import Progress
from .spacetime.steering import Budget
from .steepness import LEVEL, steepness_of
from .tracks import center_of_mass_path

BROKEN = np.radians(45.0)  # a clean-up that turns a joint by more has pinned what moves
TRIALS = 3  # of a clean-up with fewer contacts each time
DRAGGED = 0.06  # m by which that moves the bodies on average: a foot that only turns on its place does not
SHORT = 0.3  # s: a contact that is no longer is left out as a whole
AROUND = 0.1  # s around a lack of support, in which help is as cheap as there


class OtherGround(NamedTuple):
    """Ground that a motion was not made for."""

    terrain: Terrain
    floor: float = 0.0  # height in it of the motion's z = 0, m
    seconds: float = 0.0  # that a cycle goes on on it


@dataclass(frozen=True, eq=False)
class MadeReference:
    """A reference and how it came about."""

    reference: Reference
    source: Array  # (N + 1, nq) the clip's own poses in its frames; those put on other ground where it was
    labelled: ContactSchedule  # before clean-up, over all of the trajectory
    contacts: tuple[Contact, ...]  # the same, as an animator edits them
    clean: CleanMotion  # of a cycle, its copies in a row
    cycle: GaitCycle | None
    concerns: tuple[Concern, ...]
    put_on: bool = False  # other ground: then the reference of a cycle is no cycle, but laps of it in a row
    laid: Laid | None = None  # where it goes along a path, in which it is no cycle either

    @property
    def lines(self) -> tuple[str, ...]:
        """What was done and what is doubtful, for the report."""
        return (*self.clean.lines, *(concern.text for concern in self.concerns), self.reference.quality.why)


def make_reference(
    character: Character,
    trajectory: Trajectory,
    *,
    terrain: Terrain | None = None,
    contacts: Iterable[tuple[str, float, float]] | None = None,
    grabs: Sequence[Grab] = (),
    cyclic: bool = False,
    begin: int | None = None,
    path: Path | None = None,
    onto: OtherGround | None = None,
    bounds: Ends | None = None,
    labels: LabelSettings | None = None,
    settings: Settings | None = None,
    optimise: bool = True,
    help_given: Help = "none",
    far: float = FAR,
    within: float = math.inf,
    budget: Budget | None = None,
    strength: Array | None = None,
    carrying: Carrying | None = None,
    outside: Outside = NOTHING,
    low: bool = False,
    progress: Progress | None = None,
) -> MadeReference:
    """The reference of a trajectory, which is a performance's or any other of the character.

    `contacts` are (point, first frame, last frame) by the source's numbers, both frames included, and replace the
    labels; start from those of an earlier `MadeReference`. `terrain` is z = 0 unless given; a `cyclic` reference is one
    period of the best gait cycle in the trajectory, on z = 0, which begins as if it had gone on all the time at the
    trajectory's frame `begin`, or where it was found. `bounds` pins the ends of one that is not;
    without, one that ends at rest ends so that it could stay. `onto` is
    ground onto which a motion that was made on z = 0 is put, unless it is level wherever the feet go. Along a `path` a
    cycle goes until its end. `progress` is called with the number of each iteration of the optimiser and the poses
    before it. `help_given`, `far`, `within`, `budget`, `strength`, `carrying` and `outside` are those of
    `build_reference`: with help, a body that nothing holds up is no reason to refuse. Who wants it `low` has it built
    again where it hovers and the clip does not. Without `optimise` the cleaned-up motion is the reference as it is,
    however impossible, for controllers that find forces themselves.

    Raises ValueError for arguments that make no sense, and NoReferenceError where no motion near the trajectory is
    possible.
    """
    if cyclic and bounds is not None:
        raise ValueError("A cycle has no ends: leave out the bounds, or make no cycle.")
    if cyclic and terrain is not None:
        raise ValueError("A gait cycle is made on level ground: leave out the terrain, or make no cycle.")
    if onto is not None and (terrain is not None or bounds is not None or not optimise):
        raise ValueError(
            "Only a motion on level ground with free ends can be adapted to other ground, and only with optimisation."
        )
    schedule = label(character, trajectory, terrain, settings=labels, grabs=grabs)
    if contacts is not None:
        schedule = relabel(character, trajectory, schedule, contacts)
    found = tuple(contacts_of(trajectory, schedule))
    cycle: GaitCycle | None = None
    if cyclic:
        cycle = make_cycle(character, trajectory, schedule, settings=labels, begin=begin)
        clean = cycle.clean
        clip, asked, planned = cycle.clip, cycle.trajectory, cycle.held
        bounds = Ends(cycle=cycle.step)
        doubts: list[Concern] = []
        unsupported: list[tuple[float, float]] = []
    else:
        clean = clean_up(character, trajectory, schedule, terrain)
        if help_given == "as_needed" and optimise:
            fewer = without_broken(character, schedule, clean, trajectory)
            if _of_feet(fewer, schedule):
                # a foot was bent onto a place where it is not, unless the motion can do with that
                whole = _unaided(
                    character,
                    trajectory,
                    terrain=terrain,
                    contacts=contacts,
                    grabs=grabs,
                    onto=onto,
                    bounds=bounds,
                    labels=labels,
                    settings=settings,
                    within=far,
                    budget=budget,
                    strength=strength,
                    carrying=carrying,
                    outside=outside,
                    progress=progress,
                )
                if whole is not None:
                    return whole
            for _ in range(TRIALS):
                if fewer is schedule:
                    break
                schedule = fewer
                clean = clean_up(character, trajectory, schedule, terrain)
                fewer = without_broken(character, schedule, clean, trajectory)
        clip, asked, planned = trajectory, clean.trajectory, clean.held
        doubts = concerns(character, trajectory, clean)
        unsupported = unsupported_frames(trajectory, doubts)
        if optimise and help_given == "none":
            refuse_unsupported(character, trajectory, schedule, unsupported)
    if not optimise:
        step = None if cycle is None else cycle.step
        reference = reference_as_it_is(character, clip, asked, planned, terrain, step)
        return MadeReference(reference, clip.q, schedule, found, clean, cycle, tuple(doubts))
    laid: Laid | None = None
    if path is not None:
        if cycle is None:
            raise ValueError("Only a gait cycle can follow a path: make it cyclic.")
        steep = LEVEL if onto is None else steepness_of(path, onto.terrain, onto.floor, step_length(cycle))
        row, held_row = _row(character, cycle, laps_needed(cycle, path, steep))
        laid = lay_along(character, cycle, row, held_row, path, steep)
        asked, planned, bounds = laid.trajectory, laid.schedule, None
        clip = asked
    put = False
    if onto is not None:
        laps = (asked, planned) if cycle is None or laid is not None else _laps(character, cycle, onto.seconds)
        put = not is_level(character, laps[0], onto.terrain, onto.floor)
        if put:
            asked, planned = put_on(character, *laps, onto.terrain, onto.floor, keeps=laid is not None)
            terrain, bounds, clip, settings = onto.terrain, None, asked, clear_of_edges(settings or Settings())
    if put or cycle is not None:  # where the clip's own places tell nothing
        settings = replace(settings or Settings(), place=0.0, root_place=1.0, root_turn=1.0)
    elif settings is not None and settings.root_of_clip:
        asked = _with_root(character, asked, trajectory)
    frames = len(asked.q)
    rests = bounds is None and ends_at_rest(character, asked, planned)
    if rests:
        clip = held(clip, planned)[0]
        asked, planned = held(asked, planned)
    missing = _missing(asked, doubts)
    build = partial(
        build_reference,
        character,
        asked,
        terrain=terrain,
        bounds=bounds,
        settings=settings,
        clip=clip,
        help_given=help_given,
        missing=missing,
        judged=frames,
        without_first=not unsupported,
        far=far,
        within=within,
        strength=strength,
        carrying=carrying,
        outside=outside.lasting(len(asked.q)) if outside.points and cycle is None and not put else NOTHING,
        progress=progress,
    )
    reference = build(planned, budget=budget)
    if low and help_given == "as_needed" and cycle is None:
        reference = lower(reference, clip.q, planned, terrain or level_ground(), build)
    if rests:
        reference = without_rest(reference, frames)
    return MadeReference(reference, clip.q[:frames], schedule, found, clean, cycle, tuple(doubts), put, laid)


def _of_feet(fewer: ContactSchedule, schedule: ContactSchedule) -> bool:
    """Whether contacts of feet are missing in the one of two schedules."""
    feet = np.array([point.foot for point in schedule.points], dtype=np.bool_)
    return bool((schedule.active & ~fewer.active)[:, feet].any())


def _unaided(character: Character, trajectory: Trajectory, **wanted: Any) -> MadeReference | None:
    """The reference with all contacts and no help, if there is one near the trajectory."""
    try:
        made = make_reference(character, trajectory, **wanted)
    except NoReferenceError:
        return None
    quality = made.reference.quality
    near = quality.root_rms_metres <= MOST_ROOT_RMS and quality.joint_rms_degrees <= MOST_JOINT_RMS
    near = near and mean_distance(character, made.source, made.reference.q) <= wanted["within"]
    return made if near and quality.penetration_millimetres < MOST_SUNK else None


def _with_root(character: Character, asked: Trajectory, clip: Trajectory) -> Trajectory:
    """A trajectory with the place of the clip's root, low-passed as it is."""
    if character.bodies[0].joint.kind != "free":
        return asked
    q = asked.q.copy()
    q[:, :3] = low_passed(character, np.array(clip.q, order="C"), clip.rate, CUTOFF)[:, :3]
    return replace(asked, q=q, v=velocities(character, q, asked.rate))


def _laps(character: Character, cycle: GaitCycle, seconds: float) -> tuple[Trajectory, ContactSchedule]:
    """A cycle for so long, and a lap more, beyond whose end a controller need not look."""
    return _row(character, cycle, math.ceil(seconds / cycle.period) + 1)


def _row(character: Character, cycle: GaitCycle, count: int) -> tuple[Trajectory, ContactSchedule]:
    """So many laps in a row, held at the corners of soles."""
    return repeat(character, replace(cycle, schedule=cycle.held), count)


def _missing(trajectory: Trajectory, doubts: Sequence[Concern]) -> Mask:
    """Frames (nf,) in which something lacks that the body rests on, and a moment around.

    None where it never lacks for long: who lacks it for a moment leaps. Who is off balance does rest on something, too.
    That takes a little help, which is to be as dear there as elsewhere.
    """
    found = np.zeros(len(trajectory.q), dtype=np.bool_)
    around = round(AROUND * trajectory.rate)
    lacking = [doubt.frames for doubt in doubts if doubt.kind == "no support"]
    for frames in lacking if unsupported_frames(trajectory, doubts) else []:
        first, last = (trajectory.sample(frame) for frame in frames)
        found[max(first - around, 0) : last + around + 1] = True
    return found


def without_broken(
    character: Character, schedule: ContactSchedule, clean: CleanMotion, clip: Trajectory
) -> ContactSchedule:
    """The schedule without contacts for whose sake a joint between them and the root was turned, and the body moved.

    Feet stay where nothing else is left that carries: who squats turns the ankles far.
    """
    rate, turned = clip.rate, clean.moved.joints > BROKEN
    for k in np.flatnonzero(turned.any(axis=1)):
        ways = [body_poses(character, np.ascontiguousarray(q[k]))[0] for q in (clip.q, clean.trajectory.q)]
        turned[k] &= float(np.linalg.norm(ways[1] - ways[0], axis=1).mean()) > DRAGGED
    broken: Mask = maximum_filter1d(turned, 2 * round(AROUND * rate) + 1, axis=0)
    if not broken.any():
        return schedule
    active = schedule.active.copy()
    for i, point in enumerate(schedule.points):
        if point.grab or point.moves:
            continue
        chain = [point.body]
        while chain[-1] > 0:
            chain.append(int(character.tree.parent[chain[-1]]))
        bent: Mask = np.asarray(broken[:, chain].any(axis=1))
        for start, stop in runs(active[:, i]):
            whole = stop - start < SHORT * rate
            active[start:stop, i] &= ~(bent[start:stop].any() if whole else bent[start:stop])
    feet = np.array([point.foot for point in schedule.points], dtype=np.bool_)
    bare = ~active.any(axis=1)  # nothing would hold it up at all
    active[bare] = schedule.active[bare] & feet
    return replace(schedule, active=active) if (active != schedule.active).any() else schedule


def unsupported_frames(trajectory: Trajectory, doubts: Iterable[Concern]) -> list[tuple[float, float]]:
    """First and last frames in which a body is held up for long by something that is not there."""
    longest = LONGEST_UNSUPPORTED * trajectory.rate * trajectory.frames_per_sample
    lacking = [doubt.frames for doubt in doubts if doubt.kind == "no support"]
    return [frames for frames in lacking if frames[1] - frames[0] > longest]


def refuse_unsupported(
    character: Character, trajectory: Trajectory, labelled: ContactSchedule, lacking: Sequence[tuple[float, float]]
) -> None:
    """NoReferenceError where there are such frames: nothing touches in them, or feet that glide."""
    touching = np.asarray(labelled.active.any(axis=1))
    gliding = [
        frames
        for frames in lacking
        if touching[trajectory.sample(frames[0]) : trajectory.sample(frames[1]) + 1].mean() > 0.5
    ]
    if gliding:
        raise NoReferenceError(
            f"The feet slide in frames {_named(gliding)}, so they cannot carry the body there: let them stand still, "
            "or lift them."
        )
    if lacking:
        path = center_of_mass_path(character, trajectory.q)[:, 2]
        flights = [path[trajectory.sample(first) : trajectory.sample(last) + 1] for first, last in lacking]
        slow = slowness(flights, trajectory.rate, -character.gravity[2])
        if slow is not None:
            raise NoReferenceError(
                f"The body falls {slow:.1f} times too slowly in frames {_named(lacking)}, where nothing touches the "
                "ground: speed the fall up, or set the frame rate that the motion was made at."
            )
        raise NoReferenceError(
            f"Nothing holds the body up in frames {_named(lacking)}, yet it does not fall: let it fall, or add the "
            "ground, stairs, seat or bar that carries it."
        )


def _named(ranges: Iterable[tuple[float, float]]) -> str:
    return ", ".join(f"{first:g} to {last:g}" for first, last in ranges)
