# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that come near each other, before any is simulated: one floor, holds, and motions made for each other.

Each motion is made alone, but knows what the others do to it: where a hand is to be, and what pulls it (led.py). What
pulls them is equal and opposite, and found by turns. The first to be made is pulled by what suits it, at a price; the
next by what suits it and is not far from what the first would give back. What comes of it, without what is too quick
for arms, is what all are pulled by when they are made once more.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..cache import Cache
from ..character import Character
from ..control.methods import method_named
from ..motion import quaternions
from ..motion.clean_up import CUTOFF
from ..motion.fit import Trajectory, body_poses
from ..motion.floor import common_floor
from ..motion.leans import find_leans
from ..motion.led import Meeting
from ..motion.meetings import Acting, Found, find_meetings, is_limb
from ..motion.outside import SURE
from ..motion.quaternions import Array
from ..motion.reference import Reference
from ..motion.resample import smoothed
from ..simulation import Grab
from ..simulation.company import Hold
from .choosing import resolved
from .company import CompanyJob
from .fitting import first_frame_of, performance_of, samples_of
from .job import BakeJob
from .preparing import make_motion
from .progress import Clock, ProgressReporter

NEAR = 0.35  # m between joints of two, who then may touch
EVERY = 4  # samples, between those that are looked at
PRICE = 30.0  # of half the square of a force from another, as a share of the weight
SLOW = 3.0  # Hz, at which one gives way to another


class Ready(NamedTuple):
    """A job of which a motion can be made with others in mind."""

    job: BakeJob
    character: Character
    trajectory: Trajectory
    middle: Array  # (2,) where it is, on average
    begins: float  # s of the scene


class Met(NamedTuple):
    """A meeting of two members: whose hand, whose body; or whose trunks."""

    member: int
    other: int
    found: Found
    first: int  # sample of the member's trajectory, and of the other's, with which it begins
    first_there: int
    steps: int


class Introduced(NamedTuple):
    """The company as it is to be run, and what was found, in sentences by job."""

    company: CompanyJob
    notes: dict[int, list[str]]


def introduced(company: CompanyJob, cache: Cache, reporter_of: Callable[[int], ProgressReporter]) -> Introduced:
    """The company with one floor for those who come near each other, and with holds that their motions tell of."""
    found = {number: _ready(job, cache) for number, job in enumerate(company.jobs)}
    ready = {number: each for number, each in found.items() if each is not None}
    apart = {frozenset(pair) for pair in company.apart}
    pairs = (pair for pair in combinations(ready, 2) if frozenset(pair) not in apart)
    near = [pair for pair in pairs if _come_near(*(ready[number] for number in pair))]
    if not near:
        return Introduced(company, {})
    ready = _on_one_floor(ready, near, cache)
    jobs = [ready[number].job if number in ready else job for number, job in enumerate(company.jobs)]
    company = replace(company, jobs=tuple(jobs))
    met = [one for pair in near for one in _meetings(pair, ready)] if company.find_holds else []
    met = [one for one in met if not _is_taken(one, ready, company)]
    if not met:
        return Introduced(company, {})
    with tempfile.TemporaryDirectory() as folder:
        kept = cache if cache.folder is not None else Cache(folder)
        jobs, references = _made_together(jobs, ready, met, kept, reporter_of)
    holds = [_hold(one, ready, references, company.start) for one in met if not one.found.leans]
    notes: dict[int, list[str]] = {}
    for one in met:
        notes.setdefault(one.member, []).append(_sentence(one, ready, company))
    return Introduced(replace(company, jobs=tuple(jobs), holds=(*company.holds, *holds)), notes)


def _ready(job: BakeJob, cache: Cache) -> Ready | None:
    """None where nobody can be reckoned with, or no motion is made; what is wrong with it will be told by its bake."""
    try:
        job = resolved(job)[0]
        method = method_named(job.method)
        free = method.needs.no_motion or method.needs.places_feet or not method.needs.strength
        if free or job.cyclic or job.others or job.playback.changes or not (job.optimise and job.simulate):
            return None
        performance, _ = performance_of(job, cache)
        if len(performance.way):
            return None
        trajectory, _ = samples_of(job, performance)
    except ValueError:
        return None
    middle = trajectory.q[:, :2].mean(axis=0)
    begins = first_frame_of(job, performance) / job.fps
    return Ready(job, performance.plan.character, trajectory, middle, begins)


def _shared(first: Ready, second: Ready) -> tuple[int, int, int]:
    """With which samples of each they are both there, and for how many."""
    later = round((second.begins - first.begins) * first.job.rate)
    starts = max(later, 0), max(-later, 0)
    return *starts, min(len(first.trajectory.q) - starts[0], len(second.trajectory.q) - starts[1])


def _come_near(first: Ready, second: Ready) -> bool:
    """Whether joints of the two are ever so near that bodies may touch."""
    if first.job.rate != second.job.rate:
        return False
    a, b, count = _shared(first, second)
    if count <= 0:
        return False
    places = [
        body_poses(one.character, np.ascontiguousarray(one.trajectory.q[at : at + count : EVERY]))[0]
        for one, at in ((first, a), (second, b))
    ]
    if np.linalg.norm(places[0][:, 0] - places[1][:, 0], axis=1).min() > 3.0 * max(_size(places[0]), _size(places[1])):
        return False
    return bool(np.linalg.norm(places[0][:, :, None] - places[1][:, None], axis=3).min() < NEAR)


def _size(places: Array) -> float:
    """How far bodies (nf, nb, 3) reach from the root, m."""
    return float(np.linalg.norm(places - places[:, :1], axis=2).max())


def _on_one_floor(ready: dict[int, Ready], near: Sequence[tuple[int, int]], cache: Cache) -> dict[int, Ready]:
    """Those who come near each other, directly or by others, on a floor that is found from the soles of all."""
    part = {number: number for number in ready}
    for a, b in near:
        low, high = sorted((part[a], part[b]))
        part = {number: low if of == high else of for number, of in part.items()}
    result = dict(ready)
    for of in set(part.values()):
        members = [number for number in ready if part[number] == of]
        if len(members) < 2 or any(ready[number].job.floor is not None for number in members):
            continue
        found = [performance_of(ready[number].job, cache) for number in members]
        if any(terrain is not None for _, terrain in found):
            continue  # the scene says where the ground is
        middles = np.array([ready[number].middle for number in members])
        floor = common_floor([performance.floor for performance, _ in found], middles)
        for number in members if floor is not None else ():
            again = _ready(replace(ready[number].job, floor=floor), cache)
            result[number] = ready[number] if again is None else again
    return result


def _meetings(pair: tuple[int, int], ready: dict[int, Ready]) -> list[Met]:
    """Those of two members."""
    own, other = (ready[number] for number in pair)
    a, b, count = _shared(own, other)
    acting = [Acting(one.character, one.trajectory.cut(at, at + count)) for one, at in ((own, a), (other, b))]
    met = []
    for found in (*find_meetings(*acting), *find_leans(*acting)):
        start, stop = found.frames
        (member, first), (there, first_there) = ((pair[0], a), (pair[1], b))[:: 1 if found.hand_of_first else -1]
        met.append(Met(member, there, found, first + start, first_there + start, stop + 1 - start))
    return met


def _is_taken(one: Met, ready: dict[int, Ready], company: CompanyJob) -> bool:
    """Whether somebody has said what either holds in this time."""
    own = ready[one.member]
    begin = own.begins + one.first / own.job.rate
    end = begin + one.steps / own.job.rate
    bodies = {(one.member, one.found.hand), (one.other, one.found.body)}
    said = [
        (grab, ready[member].job.frames[0] / ready[member].job.fps)
        for member, body in bodies
        for grab in ready[member].job.scene.grabs
        if grab.body == body
    ]
    said += [
        (hold.grab, company.start)
        for hold in company.holds
        if bodies & {(hold.member, hold.grab.body), (hold.other, hold.body)}
    ]
    return any(grab.start + later < end and begin < grab.end + later for grab, later in said)


def _made_together(
    jobs: list[BakeJob],
    ready: dict[int, Ready],
    met: Sequence[Met],
    cache: Cache,
    reporter_of: Callable[[int], ProgressReporter],
) -> tuple[list[BakeJob], dict[int, Reference]]:
    """Jobs that know of each other, and their references."""
    jobs = list(jobs)
    references: dict[int, Reference] = {}
    members = sorted({one.member for one in met} | {one.other for one in met})
    forces = [np.zeros((one.steps, 3)) for one in met]  # on the hand

    def make(member: int, *, sure: bool) -> None:
        part = [k for k, one in enumerate(met) if member in {one.member, one.other}]
        meetings = tuple(
            _meeting(met[k], ready, references, forces[k], is_hand=met[k].member == member, sure=sure) for k in part
        )
        jobs[member] = replace(ready[member].job, meetings=meetings)
        job = jobs[member]
        if not method_named(job.method).needs.helps:
            job = replace(job, help="none")
        reference = make_motion(job, reporter_of(member), cache, Clock()).reference
        references[member] = reference
        for i, k in enumerate(part):
            forces[k] = _force_on_hand(met[k], reference, i, is_hand=met[k].member == member)

    for member in members:
        make(member, sure=False)
    for k, one in enumerate(met):
        forces[k] = _gently(forces[k], ready[one.member].job.rate, at_once=one.found.leans)
    for member in reversed(members):
        make(member, sure=True)
    return jobs, references


def _gently(force: Array, rate: float, *, at_once: bool) -> Array:
    """What is slow of a force (n, 3), which comes from nothing and goes to nothing; or `at_once`, as who leans presses.

    In the first step there may be none yet.
    """
    around = round(rate / SLOW)
    wide = ((around, around), (0, 0))
    padded = np.pad(force[1:], wide, mode="edge") if at_once else np.pad(force, wide)
    slow = smoothed(padded, rate, SLOW)[around:-around]
    return np.ascontiguousarray(np.concatenate([slow[:1], slow]) if at_once else slow)


def _meeting(
    one: Met, ready: dict[int, Ready], references: dict[int, Reference], force: Array, *, is_hand: bool, sure: bool
) -> Meeting:
    """What it is for who has the hand, or for the other."""
    own, there = ready[one.member], ready[one.other]
    me = own if is_hand else there
    body = one.found.hand if is_hand else one.found.body
    first = one.first if is_hand else one.first_there
    point = np.tile(one.found.point, (one.steps, 1)) if is_hand else one.found.way
    place = _path(me, me.trajectory.q, body, point, first)
    known = references.get(one.other if is_hand else one.member)
    if is_hand and known is not None:
        # where the other's body has gone, the hand goes along
        was = _path(there, there.trajectory.q, one.found.body, one.found.way, one.first_there)
        place += _path(there, known.q, one.found.body, one.found.way, one.first_there) - was
    weight = float(np.linalg.norm(me.character.gravity)) * me.character.total_mass
    return Meeting(
        body,
        first / me.job.rate + _late(me),
        point,
        smoothed(place, me.job.rate, CUTOFF),
        force if is_hand else -force,
        led=sure if one.found.leans else is_hand or is_limb(body),
        weight=SURE if sure else PRICE / weight**2,
    )


def _late(one: Ready) -> float:
    """By how much the trajectory begins after the job's first frame, s."""
    return one.begins - one.job.frames[0] / one.job.fps


def _path(one: Ready, q: Array, body: str, point: Array, first: int) -> Array:
    """Where a body's point (n, 3) goes, by poses from the first on."""
    rows = np.minimum(np.arange(first, first + len(point)), len(q) - 1)
    place, turn = body_poses(one.character, np.ascontiguousarray(q[rows]))
    b = one.character.index(body)
    path: Array = place[:, b] + quaternions.rotate(turn[:, b], point)
    return path


def _force_on_hand(one: Met, reference: Reference, point: int, *, is_hand: bool) -> Array:
    """What a member's reference says of it, in the steps that lead to the meeting's samples."""
    force = np.zeros((one.steps, 3))
    if reference.outside.points:
        rows = (one.first if is_hand else one.first_there) + np.arange(one.steps)
        there = (rows > 0) & (rows <= len(reference.outside.force))
        force[there] = reference.outside.force[rows[there] - 1, point] * (1.0 if is_hand else -1.0)
    return force


def _hold(one: Met, ready: dict[int, Ready], references: dict[int, Reference], start: float) -> Hold:
    """A grab for as long as it lasts, at which the other's body has the hand as in their motions."""
    own, there = ready[one.member], ready[one.other]
    point = np.tile(one.found.point, (one.steps, 1))
    hand = _path(own, references[one.member].q, one.found.hand, point, one.first)
    rows = np.minimum(np.arange(one.first_there, one.first_there + one.steps), len(references[one.other].q) - 1)
    place, turn = body_poses(there.character, np.ascontiguousarray(references[one.other].q[rows]))
    b = there.character.index(one.found.body)
    way = quaternions.rotate(quaternions.conjugate(turn[:, b]), hand - place[:, b])
    rate = own.job.rate
    begin = own.begins + one.first / rate - start
    grab = Grab(one.found.hand, one.found.point, start=begin - 0.25 / rate, end=begin + (one.steps - 0.75) / rate)
    return Hold(one.member, grab, one.other, one.found.body, way)


def _sentence(one: Met, ready: dict[int, Ready], company: CompanyJob) -> str:
    """For the report."""
    own = ready[one.member]
    frames = [own.trajectory.frame(one.first), own.trajectory.frame(one.first + one.steps - 1)]
    what = "leans on" if one.found.leans else "holds"
    return (
        f"'{one.found.hand}' {what} '{one.found.body}' of {company.jobs[one.other].name} from frame {frames[0]:.0f} to "
        f"{frames[1]:.0f}, as in the action."
    )
