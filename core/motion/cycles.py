# SPDX-License-Identifier: GPL-3.0-or-later
"""The gait cycle in a clip: found, cut out, closed, and repeated.

A cycle may begin at any frame and ends when its pose comes again: candidates are pairs of successive touch-downs of one
foot, shifted by up to half a second to where the two poses are most alike and the same points touch. Moved on by a turn
and a shift in the plane (cycle.py), the first pose is nearly the last; what is left, a few degrees, is spread linearly
over the whole cycle. Three or more copies in a row are then cleaned up together, so that stances across the seam are
planted in one piece, and the middle one is the cycle.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..character import Character
from ..character.tree import BALL, FREE
from ..dynamics.kinematics import difference_positions, integrate_positions
from . import fit
from .clean_up import CleanMotion, Move, clean_up, moved_by
from .cycle import Cycle
from .fit import Trajectory
from .labels import LabelSettings, regular
from .quaternions import Array, continuous
from .schedule import ContactSchedule, Mask, runs

SHORTEST, LONGEST = 0.3, 4.0  # s, of a cycle
MOST_SHIFT = 0.5  # s, of both ends from the touch-downs
MOST_LACKING = math.radians(6.0)  # RMS that a clip may lack to close
VELOCITY_WEIGHT = 0.05  # s: velocities that differ by 1 rad/s count as poses that differ by this, rad
GIVE = 0.06  # s, by which a period may differ from that between touch-downs, whose labels are no surer
MARGIN = 1.5  # s, of copies on either side of the middle one


@dataclass(frozen=True)
class Candidate:
    """Frames of a clip between which it may be a cycle."""

    start: int
    stop: int  # the frame that is the first one moved on
    step: Cycle
    pose: float  # RMS difference of the two poses, rad and m
    distance: float  # with that of velocities


@dataclass(frozen=True)
class GaitCycle:
    """A periodic motion: frames 0 to N, of which the last is the first moved on by `step`, exactly."""

    trajectory: Trajectory
    schedule: ContactSchedule
    held: ContactSchedule  # the same at the corners of soles
    step: Cycle
    candidate: Candidate
    clip: Trajectory  # the same frames of the clip, as they are where the cycle was found
    closing: Array  # (nv,) what the clip lacked to close
    moved: Move  # from the clip
    clean: CleanMotion  # of all copies

    @property
    def period(self) -> float:
        """Of one cycle, s."""
        return (len(self.trajectory.q) - 1) / self.trajectory.rate


def find_cycles(character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> list[Candidate]:
    """The cycles of a clip, best first; one for each pair of touch-downs. Empty where no foot comes down twice."""
    _check_free(character)
    rate, frames = trajectory.rate, len(trajectory.q)
    reach, give = round(MOST_SHIFT * rate), round(GIVE * rate)
    found = []
    for first, second in _touchdown_pairs(schedule, rate):
        best: Candidate | None = None
        for start in range(max(0, first - reach), min(first + reach, frames) + 1):
            for stop in range(start + second - first - give, min(start + second - first + give + 1, frames)):
                if stop <= start or (schedule.active[start] != schedule.active[stop]).any():
                    continue
                candidate = compare(character, trajectory, start, stop)
                if best is None or candidate.distance < best.distance:
                    best = candidate
        if best is not None:
            found.append(best)
    return sorted(found, key=lambda candidate: candidate.distance)


def make_cycle(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    candidate: Candidate | None = None,
    settings: LabelSettings | None = None,
    begin: int | None = None,
) -> GaitCycle:
    """The clip's best cycle, or that of `candidate`, closed and cleaned up on level ground.

    Repeated for ever it goes along with the clip where it was found. Its frame 0 is there the clip's frame `begin`,
    which may lie before or after it; the candidate's first unless given. ValueError where the clip has none.
    """
    if candidate is None:
        found = find_cycles(character, trajectory, schedule)
        if not found:
            raise ValueError(
                "The action holds no gait cycle: no foot lands twice in similar poses. Use a walk of at "
                "least two steps."
            )
        candidate = found[0]
        if candidate.pose > MOST_LACKING:
            raise ValueError(
                f"The action holds no gait cycle: its most similar poses a stride apart, in frames "
                f"{trajectory.frame(candidate.start):g} and {trajectory.frame(candidate.stop):g}, differ by "
                f"{math.degrees(candidate.pose):.0f}° RMS."
            )
    rate, step = trajectory.rate, candidate.step
    part = slice(candidate.start, candidate.stop + 1)
    cut = np.array(trajectory.q[part], order="C")
    closed, closing = close(character, cut, step)
    count = len(cut) - 1
    begin = candidate.start if begin is None else begin
    lap, offset = divmod(begin - candidate.start, count)
    sides = max(1, math.ceil(MARGIN * rate / count))
    laps = lap - sides, lap + sides + 1 + (offset > 0)
    touching = schedule.cut(part.start, part.stop)
    q, _, contacts = _copies(character, closed, np.zeros((count + 1, character.nv)), touching, step, *laps)
    for i in range(len(contacts.points)):
        contacts.active[:, i] = regular(contacts.active[:, i], rate, settings or LabelSettings())
    clean = clean_up(character, Trajectory(rate, q, fit.velocities(character, q, rate)), contacts)
    middle = slice(sides * count + offset, (sides + 1) * count + offset + 1)
    seen = _copies(character, cut, trajectory.v[part], touching, step, *laps)[0][middle]
    # the copies' ends leave a trace of micrometres in the middle
    q, _ = close(character, clean.trajectory.q[middle], step)
    v = clean.trajectory.v[middle].copy()
    v[-1] = step.move_state(character, q[0], v[0])[1]
    frame = trajectory.frame(0) + begin * trajectory.frames_per_sample
    return GaitCycle(
        Trajectory(rate, q, v, frame, trajectory.frames_per_sample),
        clean.schedule.cut(middle.start, middle.stop),
        clean.held.cut(middle.start, middle.stop),
        step,
        candidate,
        Trajectory(rate, seen, fit.velocities(character, seen, rate), frame, trajectory.frames_per_sample),
        closing,
        moved_by(character, seen, q, clean.moved.shift[middle]),
        clean,
    )


def repeat(character: Character, cycle: GaitCycle, count: int) -> tuple[Trajectory, ContactSchedule]:
    """The cycle `count` times in a row, count N + 1 frames, with its contacts."""
    if count < 1:
        raise ValueError(f"A cycle must be repeated at least once, not {count} times.")
    like = cycle.trajectory
    q, v, schedule = _copies(character, like.q, like.v, cycle.schedule, cycle.step, 0, count)
    return Trajectory(like.rate, q, v, like.first_frame, like.frames_per_sample), schedule


def planar_step(q: Array, q_later: Array) -> Cycle:
    """The turn about the vertical and the shift that bring one pose of a free root (nq,) nearest to a later one."""
    a, b = q[3:7], q_later[3:7]
    # b a^-1 is a swing, then a turn about Z by 2 atan(z / w)
    w = float(a @ b)
    z = float(a[0] * b[3] - a[3] * b[0] + a[1] * b[2] - a[2] * b[1])
    turn = 2.0 * math.atan2(z, w)
    turn = (turn + math.pi) % (2.0 * math.pi) - math.pi
    moved = Cycle((0.0, 0.0), turn).move_points(q[:3])
    return Cycle((float(q_later[0] - moved[0]), float(q_later[1] - moved[1])), turn)


def power(step: Cycle, count: int) -> Cycle:
    """What `count` cycles do, or undo if negative."""
    way = Cycle((0.0, 0.0), 0.0)
    for _ in range(abs(count)):
        x, y, _ = step.move_points(np.array([*way.shift, 0.0])).tolist()
        way = Cycle((x, y), way.turn + step.turn)
    if count < 0:
        x, y, _ = (-np.array([*way.shift, 0.0]) @ way.rotation).tolist()
        way = Cycle((x, y), -way.turn)
    return way


def close(character: Character, q: Array, step: Cycle) -> tuple[Array, Array]:
    """Positions (N + 1, nq) bent so that the last is the first moved on, and what they lacked (nv,).

    With e = q_N (-) T q_0, q_k becomes q_k (+) (1/2 - k/N) e. That closes exactly: a rotation T q_0 exp(e) exp(-e/2) is
    T q_0 exp(e/2). The root's place, whose e is in the world's axes, goes the way that turns along with the cycle.
    """
    _check_free(character)
    lacking = _difference(character, step.move_state(character, q[0], np.zeros(character.nv))[0], q[-1])
    result = np.array(q, order="C")
    last = len(q) - 1
    for k in range(last + 1):
        way = lacking.copy()
        way[:3] = Cycle((0.0, 0.0), (k / last - 1.0) * step.turn).rotation @ lacking[:3]
        integrate_positions(character.tree, result[k], way, 0.5 - k / last, result[k])
    return result, lacking


def _check_free(character: Character) -> None:
    if character.tree.joint[0] != FREE:
        raise ValueError("Only a character with a free root can walk in cycles.")


def _touchdown_pairs(schedule: ContactSchedule, rate: float) -> list[tuple[int, int]]:
    """Successive frames in which the same foot comes down."""
    pairs = []
    for body in dict.fromkeys(point.body for point in schedule.points if point.foot):
        columns = [i for i, point in enumerate(schedule.points) if point.foot and point.body == body]
        stands: Mask = np.asarray(schedule.active[:, columns].any(axis=1))
        downs = [start for start, _ in runs(stands) if start > 0]
        pairs += [
            (first, second) for first, second in pairwise(downs) if SHORTEST * rate <= second - first <= LONGEST * rate
        ]
    return pairs


def compare(character: Character, trajectory: Trajectory, start: int, stop: int) -> Candidate:
    """How much of a cycle there is between two frames."""
    step = planar_step(trajectory.q[start], trajectory.q[stop])
    q, v = step.move_state(character, trajectory.q[start], trajectory.v[start])
    pose = float(np.sqrt(np.mean(_difference(character, q, trajectory.q[stop]) ** 2)))
    change = float(np.sqrt(np.mean((trajectory.v[stop] - v) ** 2)))
    return Candidate(start, stop, step, pose, pose + VELOCITY_WEIGHT * change)


def _difference(character: Character, before: Array, after: Array) -> Array:
    result = np.zeros(character.nv)
    difference_positions(character.tree, np.ascontiguousarray(before), np.ascontiguousarray(after), result)
    return result


def _copies(
    character: Character, q: Array, v: Array, schedule: ContactSchedule, step: Cycle, first: int, stop: int
) -> tuple[Array, Array, ContactSchedule]:
    """Copies `first` to `stop` - 1 of frames 0 to N of a cycle in a row, and the frame after them."""
    qs, vs, actives, places = [], [], [], []
    for number in range(first, stop):
        way = power(step, number)
        frames = len(q) - (number < stop - 1)
        moved = [way.move_state(character, q[k], v[k]) for k in range(frames)]
        qs += [one for one, _ in moved]
        vs += [other for _, other in moved]
        actives.append(schedule.active[:frames])
        places.append(np.where(schedule.active[:frames, :, None], way.move_points(schedule.place[:frames]), 0.0))
    whole = np.array(qs)
    for start, joint in zip(character.tree.position_start, character.tree.joint, strict=True):
        if joint in {BALL, FREE}:
            turn = slice(start + 3, start + 7) if joint == FREE else slice(start, start + 4)
            whole[:, turn] = continuous(whole[:, turn])
    return whole, np.array(vs), ContactSchedule(schedule.points, np.concatenate(actives), np.concatenate(places))
