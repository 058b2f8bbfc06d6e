# SPDX-License-Identifier: GPL-3.0-or-later
"""Which came first when a character fell: what went otherwise than its reference had it, when, and what to try.

Between the last moment at which the pose was as it should be and the fall, the first of these is told: a foot that came
down early or late, scuffed, stayed behind, or slid; the phase moved on; a motor that strained; the contact problem.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..motion.reference import Reference
from ..sentences import Sentence, say
from ..simulation.outcome import Simulation
from . import metrics

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Kind = Literal["early", "late", "scuffed", "stayed", "slid", "phase", "torque", "contact problem"]

AS_IT_SHOULD = np.radians(2.0)  # RMS of the joints' errors, up to which a pose is in order
BEFORE = 0.15  # s before the last such moment, from which on something may be to blame
UNTIMELY = 0.05  # s: a foot that comes or goes by so much before or after its time is early or late
NEAR = 0.25  # s: one that touches longer before its time than this scuffs
SLID = 0.02  # m in one stance
STRAIN = 3.0  # times the reference's greatest torque of a joint
LEAST_TORQUE = 50.0  # N m: less strains nobody

FIRST: dict[Kind, str] = {
    "early": "First '{what}' came down {milliseconds:.0f} ms early, at frame {frame:.0f}: switch on Early Contacts, or "
    "lift the foot higher before.",
    "late": "First '{what}' bore no weight {milliseconds:.0f} ms after it was to stand, at frame {frame:.0f}: check "
    "that the ground is as high there as the motion has it.",
    "scuffed": "First '{what}' scuffed the ground in the air, at frame {frame:.0f}: lift the foot higher there, or "
    "mark it as standing if it is to touch.",
    "stayed": "First '{what}' still bore weight {milliseconds:.0f} ms after it was to leave the ground, at frame "
    "{frame:.0f}: check that the motion's contacts let the foot go when it leaves the ground.",
    "slid": "First '{what}' slid by {centimetres:.0f} cm, at frame {frame:.0f}: raise the friction, or mark the foot "
    "as free while it turns or glides.",
    "phase": "First the motion was moved on by {amount:.0f} frames, at frame {frame:.0f}: switch off Early Contacts.",
    "torque": "First '{what}' strained with {amount:.0f} N m, at frame {frame:.0f}: try another controller or other "
    "settings of it, or a calmer motion.",
    "contact problem": "First no contact forces were found, at frame {frame:.0f}: try a higher rate, or look for "
    "things that are pressed into each other.",
}
"""What happened, and what to try."""


class Trouble(NamedTuple):
    """Something that went otherwise than it should."""

    kind: Kind
    step: int
    what: str  # body or joint
    amount: float  # s early or late, m slid, frames skipped, N m

    def told(self, frame_at: Callable[[float], float], rate: float) -> Sentence:
        """In words; `frame_at` gives the scene's frame of a time."""
        amounts = {"amount": self.amount, "milliseconds": 1e3 * self.amount, "centimetres": 1e2 * self.amount}
        return say(FIRST[self.kind], what=self.what, frame=frame_at(self.step / rate), **amounts)


def first_trouble(simulation: Simulation, reference: Reference) -> Trouble | None:
    """What came first before the character was lost or the simulation broke off; None if nothing is out of place."""
    recording = simulation.recording
    end = recording.steps if simulation.lost is None else min(simulation.lost, recording.steps)
    if simulation.lost is None and recording.outcome != "diverged":
        return None
    begin = _onset(simulation, end)
    found = [
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
    good = np.flatnonzero(rms < AS_IT_SHOULD)
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
        stood = _away(~stands, reference.cycle is not None)[0]
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
            if stands[f] and stood[f] > tolerance and not bears[max(k - tolerance, 0) : k + 1].any():
                planned = np.linalg.norm(reference.force[f, reference.schedule.body == body].sum(axis=0))
                if planned > metrics.STANDING * weight:
                    yield Trouble("late", k, name, stood[f] / recording.rate)
                    break


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


def _slides(simulation: Simulation, begin: int, end: int) -> Iterator[Trouble]:
    """The first of each foot's slides to go too far."""
    character = simulation.character
    for body in metrics.feet(character):
        ways: dict[int, Array] = {}
        for k in range(begin, end):
            moves = metrics.point_ways(simulation, k, body)
            ways = {key: ways.get(key, np.zeros(3)) + move for key, move in moves.items()}
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
