# SPDX-License-Identifier: GPL-3.0-or-later
"""What went wrong first when a character fell: where it left its reference, when, and what to try.

Of what happened between the last moment at which the pose was right and the fall, the first is reported: a foot that
landed early, late or not at all, left the ground, scuffed, stayed behind or slid; a skip of the phase; a motor that
strained; the contact problem.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contact.detection.detect import SURFACES
from ..motion.reference import Reference
from ..motion.spacetime.help import WORTH_A_WORD
from ..sentences import Sentence, say
from ..simulation.outcome import Simulation
from . import metrics

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Kind = Literal[
    "early", "late", "missed", "lifted", "hit", "scuffed", "stayed", "slid", "phase", "torque", "contact problem"
]

RIGHT_POSE = np.radians(2.0)  # RMS of the joints' errors, up to which a pose counts as right
BEFORE = 0.15  # s before the last right pose, from which on something may be to blame
UNTIMELY = 0.05  # s: a foot that lands or lifts by more than this before or after its time is early or late
NEAR = 0.25  # s: one that touches longer than this before its time scuffs
SLID = 0.02  # m in one stance
HELPED = 0.5  # s from the first help on, in which what it met may be why it is given
STRAIN = 3.0  # times the reference's greatest torque of a joint
LEAST_TORQUE = 50.0  # N m: less is no strain

FIRST: dict[Kind, str] = {
    "early": "'{what}' landed {milliseconds:.0f} ms early at frame {frame:.0f}: lift the foot higher before it lands.",
    "late": "'{what}' landed {milliseconds:.0f} ms late at frame {frame:.0f}: check that the ground there is as high "
    "as in the motion.",
    "missed": "'{what}' should have landed at frame {frame:.0f} and never did: check that the ground there is as high "
    "as in the motion.",
    "lifted": "'{what}' was off the ground at frame {frame:.0f}, where it should stand: keep the foot down there, or "
    "switch its contact off.",
    "hit": "'{what}' hit '{thing}' at frame {frame:.0f}: move it out of the way, or lead the motion around or over it.",
    "scuffed": "'{what}' scuffed the ground at frame {frame:.0f}: lift the foot higher there, or switch its contact on "
    "if it should touch.",
    "stayed": "'{what}' still bore weight at frame {frame:.0f}, {milliseconds:.0f} ms after it should have left the "
    "ground: check that its contact ends where the foot lifts.",
    "slid": "'{what}' slid {centimetres:.0f} cm at frame {frame:.0f}: raise the friction, or switch its contact off "
    "while the foot pivots or slides.",
    "phase": "The motion skipped {amount:.0f} frames at frame {frame:.0f}.",
    "torque": "'{what}' needed {amount:.0f} N m at frame {frame:.0f}, far more than the motion does: make the motion "
    "calmer there, or try another controller.",
    "contact problem": "No contact forces were found at frame {frame:.0f}: raise the simulation rate, or look for "
    "objects that are pressed into each other.",
}
"""What happened, and what to try."""


class Trouble(NamedTuple):
    """Something that went wrong."""

    kind: Kind
    step: int  # at which it was certain; the earliest is to blame
    what: str  # body or joint
    amount: float  # s early or late, m slid, frames skipped, N m
    at: int | None = None  # the step to name, where it is another
    thing: str = ""  # that it hit

    def sentence(
        self, frame_at: Callable[[float], float], rate: float, called: Mapping[str, str] = MappingProxyType({})
    ) -> Sentence:
        """What happened and what to try; `frame_at` gives the scene's frame of a time, `called` the rig's names."""
        step = self.step if self.at is None else self.at
        amounts = {"amount": self.amount, "milliseconds": 1e3 * self.amount, "centimetres": 1e2 * self.amount}
        what = called.get(self.what, self.what)
        return say(FIRST[self.kind], what=what, thing=self.thing, frame=frame_at(step / rate), **amounts)


def first_trouble(
    simulation: Simulation, reference: Reference, surfaces: Sequence[str] = (), props: Sequence[str] = ()
) -> Trouble | None:
    """What went wrong first before the fall or the end of the simulation; None if nothing did.

    Of who was helped to the end, only what it ran into. `surfaces` and `props` are the names of the terrain's surfaces
    and of the props, in order; nameless ones are no obstacles.
    """
    recording = simulation.recording
    end = recording.steps if simulation.lost is None else min(simulation.lost, recording.steps)
    if simulation.lost is None and recording.outcome != "diverged":
        helped = np.flatnonzero(metrics.help_shares(simulation) > WORTH_A_WORD)
        met = min(int(helped[0]) + round(HELPED * recording.rate), end) if len(helped) else 0
        return next(_hits(simulation, reference, 0, met, surfaces, props), None)
    begin = _onset(simulation, end)
    found = [
        *_hits(simulation, reference, begin, end, surfaces, props),
        *_untimely(simulation, reference, begin, end),
        *_slides(simulation, begin, end),
        *_skips(simulation, reference, begin, end),
        *_strains(simulation, reference, begin, end),
    ]
    if recording.outcome == "diverged" and "contact" in recording.reason:
        found.append(Trouble("contact problem", recording.steps, "", 0.0))
    return min(found, key=lambda trouble: trouble.step, default=None)


def _onset(simulation: Simulation, end: int) -> int:
    """The step from which on something may be to blame."""
    errors = metrics.tracking_errors(simulation)[: end + 1]
    first = 6 if simulation.character.bodies[0].joint.kind == "free" else 0
    rms = np.sqrt(np.mean(errors[:, first:] ** 2, axis=1))
    good = np.flatnonzero(rms < RIGHT_POSE)
    last = int(good[-1]) if len(good) else 0
    return max(0, last - round(BEFORE * simulation.recording.rate))


def planned_stances(reference: Reference, body: int) -> Mask:
    """Steps (N,) of the reference in which a body carries weight."""
    stands: Mask = np.asarray(reference.carrying[:, reference.schedule.body == body].any(axis=1))
    return stands


def _untimely(simulation: Simulation, reference: Reference, begin: int, end: int) -> Iterator[Trouble]:
    """The first misstep of each foot."""
    recording, character = simulation.recording, simulation.character
    weight = character.total_mass * float(np.linalg.norm(character.gravity))
    tolerance, near = round(UNTIMELY * recording.rate), round(NEAR * recording.rate)
    for body in metrics.feet(character):
        stands = planned_stances(reference, body)
        frame = np.minimum(simulation.followed.frame[: recording.steps], len(stands) - 1)
        since, until = _away(stands, reference.cycle is not None)
        stance = _since(stands[frame])
        bears = np.linalg.norm(recording.wrench[:, body, :3], axis=1) > metrics.STANDING * weight
        name = character.bodies[body].name
        for k in range(begin, end):
            f = int(frame[k])
            if bears[k] and not stands[f] and min(since[f], until[f]) > tolerance:
                if until[f] <= near and until[f] <= since[f]:
                    yield Trouble("early", k, name, until[f] / recording.rate)
                elif bears[max(k - tolerance, 0) : k].all() and since[f] <= near:
                    yield Trouble("stayed", k, name, since[f] / recording.rate)
                else:
                    yield Trouble("scuffed", k, name, 0.0)
                break
            if stands[f] and k - stance[k] > tolerance and not bears[max(k - tolerance, 0) : k + 1].any():
                planned = np.linalg.norm(reference.force[f, reference.schedule.body == body].sum(axis=0))
                if planned > metrics.STANDING * weight:
                    yield _missing(name, bears, int(stance[k]), k, end, recording.rate)
                    break


def _missing(name: str, bears: Mask, stance: int, step: int, end: int, rate: float) -> Trouble:
    """A foot that bears no weight at a step, in a stance that begins at `stance`."""
    before = np.flatnonzero(bears[stance:step])
    if len(before):
        return Trouble("lifted", step, name, 0.0, stance + int(before[-1]) + 1)
    landed = np.flatnonzero(bears[step:end])
    if len(landed) and stance:
        return Trouble("late", step, name, (step + int(landed[0]) - stance) / rate, step + int(landed[0]))
    return Trouble("missed" if stance else "lifted", step, name, 0.0, stance)


def _since(mask: Mask) -> NDArray[np.int64]:
    """For each step of a run in which `mask` is true the step at which that run began; elsewhere the step itself."""
    steps = np.arange(len(mask))
    return np.maximum.accumulate(np.where(mask & np.roll(mask, 1) & (steps > 0), 0, steps))


def _away(mask: Mask, cyclic: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Frames (n,) since `mask` was last true, and until it will be; many where it never was or will be."""
    count = len(mask)
    copies = np.tile(mask, 3) if cyclic else mask
    never = 10 * len(copies)
    since, until = np.full(len(copies), never), np.full(len(copies), never)
    for k in range(len(copies)):
        since[k] = 0 if copies[k] else min(since[k - 1] + 1, never) if k else never
        j = len(copies) - 1 - k
        until[j] = 0 if copies[j] else min(until[j + 1] + 1, never) if k else never
    middle = slice(count, 2 * count) if cyclic else slice(None)
    return since[middle], until[middle]


def _hits(
    simulation: Simulation, reference: Reference, begin: int, end: int, surfaces: Sequence[str], props: Sequence[str]
) -> Iterator[Trouble]:
    """The first time that something stands in the way: a thing, or a surface that pushes aside what was not to touch.

    What a foot stands on is no obstacle, nor is what a body carries weight on in the reference.
    """
    recording, character = simulation.recording, simulation.character
    least = metrics.STANDING * character.total_mass * float(np.linalg.norm(character.gravity))
    count = len(character.bodies)
    start, force = recording.contact_start, recording.contact_force
    for row in range(int(start[begin]), int(start[end])):
        if np.linalg.norm(force[row]) <= least:
            continue
        k = int(np.searchsorted(start, row, side="right")) - 1
        body, other = int(recording.contact_body[row]), int(recording.contact_other[row])
        if other >= 0:
            own, thing = min(body, other), max(body, other) - count
            name = props[thing] if own < count and 0 <= thing < len(props) else ""
        else:
            own, surface = body, int(recording.contact_key[row]) % SURFACES
            aside = float(np.linalg.norm(force[row, :2])) > abs(float(force[row, 2]))
            named = own < count and surface < len(surfaces) and (aside or own not in metrics.feet(character))
            name = surfaces[surface] if named else ""
        frame = min(int(simulation.followed.frame[k]), reference.steps - 1)
        planned = reference.carrying[frame, reference.schedule.body == own].any() if own < count else True
        if name and not (planned and other < 0 and own not in metrics.feet(character)):
            yield Trouble("hit", k, character.bodies[own].name, 0.0, thing=name)
            return


def _slides(simulation: Simulation, begin: int, end: int) -> Iterator[Trouble]:
    """The first of each foot's slides to go too far."""
    character, pressing = simulation.character, metrics.pressing_rows(simulation)
    for body in metrics.feet(character):
        ways: dict[int, Array] = {}
        for k in range(begin, end):
            moves = metrics.point_ways(simulation, k, body, pressing)
            ways = {key: ways.get(key, metrics.NOWHERE) + move for key, move in moves.items()}
            worst = max((float(np.linalg.norm(way)) for way in ways.values()), default=0.0)
            if worst > SLID:
                yield Trouble("slid", k, character.bodies[body].name, worst)
                break


def _skips(simulation: Simulation, reference: Reference, begin: int, end: int) -> Iterator[Trouble]:
    """Resets of the phase."""
    frame = simulation.followed.frame
    for k in range(begin, min(end, len(frame) - 1)):
        moved = int(frame[k + 1] - frame[k])
        if reference.cycle is not None:
            moved %= reference.steps
        if moved > 1:
            yield Trouble("phase", k, "", moved - 1.0)
            return


def _strains(simulation: Simulation, reference: Reference, begin: int, end: int) -> Iterator[Trouble]:
    """The first motor to strain."""
    torques = metrics.joint_torques(simulation)[begin:end]
    usual = metrics.by_joint(simulation.character, reference.torque).max(axis=0, initial=0.0)
    strained = np.argwhere(torques > np.maximum(STRAIN * usual, LEAST_TORQUE))
    if len(strained):
        k, joint = strained[0].tolist()
        name = metrics.moving_joints(simulation.character)[joint]
        yield Trouble("torque", begin + k, name, float(torques[k, joint]))
