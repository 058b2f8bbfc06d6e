# SPDX-License-Identifier: GPL-3.0-or-later
"""`run_together`: jobs in one world. Each makes its own motion and has its own method; bodies that touch, touch."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..cache import Cache
from ..control.loop import Inside, Part, act_together
from ..simulation.company import Hold
from ..simulation.outcome import Simulation
from ..simulation.world import ANOTHER
from .company import CompanyJob
from .introducing import introduced
from .measuring import nothing, result_of
from .progress import Callback, CancelledError, Clock, Progress, ProgressReporter
from .ready import Prepared
from .result import BakeResult
from .running import prepared, simulated
from .showing import names_in_rig
from .shown import Shown

Told = Callable[[int, Progress], bool | None]  # of which job, and what
Answer = BakeResult | str  # why a job is impossible, in a sentence


def run_together(
    company: CompanyJob,
    progress: Told | None = None,
    cache: str | Path | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> tuple[Answer, ...]:
    """Simulate jobs in one world; each as `run` does alone, to the bit, while it touches nobody.

    One that is impossible is left out, and answered by what is wrong with it. Whoever simulates a model of its own, or
    at another rate or gravity than the first, is run alone, which the result's notes say.
    """
    company = company.with_props_once()
    answers: dict[int, Answer] = {}
    ready: dict[int, Prepared] = {}
    kept = Cache(cache)
    try:
        company, found_out = introduced(company, kept, lambda number: ProgressReporter(_of(number, progress)))
    except CancelledError:
        return tuple(nothing(job, Clock(), kept) for job in company.jobs)
    for number, each in enumerate(company.jobs):
        clock = Clock()
        try:
            ready[number] = prepared(each, ProgressReporter(_of(number, progress)), kept, clock, enough)
        except ValueError as error:
            answers[number] = str(error)
        except CancelledError:
            return tuple(nothing(job, Clock(), kept) for job in company.jobs)
    ready = {number: _with_reason(found, ready) for number, found in ready.items()}
    ready = {
        number: found._replace(chosen=[*found.chosen, *found_out.get(number, ())]) for number, found in ready.items()
    }
    together = {number: found for number, found in ready.items() if not _why_alone(found, ready)}
    for number, found in ready.items():
        if number not in together:
            answers[number] = simulated(found, ProgressReporter(_of(number, progress)))
    try:
        answers |= _simulate(company, together, progress)
    except CancelledError:
        answers |= {number: nothing(found.job, found.clock, kept) for number, found in together.items()}
    return tuple(answers[number] for number in range(len(company.jobs)))


def _simulate(company: CompanyJob, ready: dict[int, Prepared], progress: Told | None) -> dict[int, BakeResult]:
    """Those that can be together."""
    if not ready:
        return {}
    earliest = min(found.begins for found in ready.values())
    place = {number: k for k, number in enumerate(ready)}
    holds = [_placed(hold, place, company.start - earliest) for hold in company.holds if _are_there(hold, place)]
    ready = {number: _with_holds_lost(found, number, company.holds, place) for number, found in ready.items()}
    apart = [(place[a], place[b]) for a, b in company.apart if a in place and b in place]
    shown = [Shown(found, ProgressReporter(_of(number, progress))) for number, found in ready.items()]
    begun = time.perf_counter()
    parts = [
        Part(found.method, found.plan, replace(found.stage, accompanied=len(ready) > 1), each)
        for found, each in zip(ready.values(), shown, strict=True)
    ]
    steps = [round((found.begins - earliest) * found.job.rate) for found in ready.values()]
    begins = [count / found.job.rate for count, found in zip(steps, ready.values(), strict=True)]
    simulations, inside = act_together(parts, begins, holds, apart)
    return {
        number: result_of(
            _with_passing(_with_touches(found, simulation), place[number], inside), each, simulation, begun
        )
        for (number, found), each, simulation in zip(ready.items(), shown, simulations, strict=True)
    }


def _why_alone(found: Prepared, ready: dict[int, Prepared]) -> str:
    """Why a job cannot be simulated in one world with the others; empty where it can."""
    if not found.job.simulate:
        return "it is not simulated"
    if not found.method.needs.strength:
        return f"{found.method.in_words} simulates a model of its own"
    first = next(other for other in ready.values() if other.job.simulate and other.method.needs.strength)
    if found.job.rate != first.job.rate:
        return f"its rate is {found.job.rate:g} steps per second, not {first.job.rate:g}"
    if found.job.scene.gravity != first.job.scene.gravity:
        return "its gravity is another"
    return ""


def _with_reason(found: Prepared, ready: dict[int, Prepared]) -> Prepared:
    """With a note of why it is alone, if there are others."""
    why = _why_alone(found, ready)
    if not why or len(ready) < 2:
        return found
    return found._replace(chosen=[*found.chosen, f"It was simulated alone, not together with the others: {why}."])


def _with_touches(found: Prepared, simulation: Simulation) -> Prepared:
    """With a note of when it was touched by another."""
    recording = simulation.recording
    touched = recording.contact_other == ANOTHER
    touched &= np.linalg.norm(recording.contact_force, axis=1) > 0.0
    steps = np.searchsorted(recording.contact_start, np.flatnonzero(touched), side="right") - 1
    if not len(steps):
        return found
    first, last = (
        found.motion.first_frame + step / recording.rate * found.job.fps for step in (steps.min(), steps.max())
    )
    hardest = float(np.linalg.norm(recording.contact_force[touched], axis=1).max())
    deepest = max(0.0, -1000.0 * float(recording.contact_gap[touched].min()))
    note = (
        f"Other characters touched it from frame {first:.0f} to {last:.0f}, by {hardest:.0f} N and {deepest:.1f} mm "
        "deep at most."
    )
    return found._replace(chosen=[*found.chosen, note])


def _with_passing(found: Prepared, member: int, inside: Inside) -> Prepared:
    """With a note of what began inside another, and was not pushed out."""
    own: dict[str, float] = {}
    for members, pairs in inside.items():
        if member in members:
            for bodies, depth in pairs.items():
                body = bodies[members.index(member)]
                own[body] = max(own.get(body, 0.0), depth)
    if not own:
        return found
    called = names_in_rig(found.motion.plan)
    bones = ", ".join(f"'{called.get(body, body)}'" for body in own)
    note = (
        f"It begins up to {1000.0 * max(own.values()):.0f} mm inside another character ({bones}): these touch as deep "
        "as they begin."
    )
    return found._replace(chosen=[*found.chosen, note])


def _with_holds_lost(found: Prepared, number: int, holds: Iterable[Hold], place: dict[int, int]) -> Prepared:
    """With a note of holds on those that are not there."""
    lost = [hold.grab.body for hold in holds if hold.member == number and not _are_there(hold, place)]
    notes = [f"'{body}' holds nobody: who it was to hold is not in the same world." for body in lost]
    return found._replace(chosen=[*found.chosen, *notes])


def _are_there(hold: Hold, place: dict[int, int]) -> bool:
    return hold.member in place and hold.other in place


def _placed(hold: Hold, place: dict[int, int], later: float) -> Hold:
    """A hold among those that are together, on their clock."""
    grab = hold.grab
    timed = replace(grab, start=grab.start + later, end=grab.end + later)
    return replace(hold, member=place[hold.member], grab=timed, other=place[hold.other])


def _of(number: int, progress: Told | None) -> Callback | None:
    """What a job of that number is to tell."""
    if progress is None:
        return None

    def tell(what: Progress) -> bool | None:
        return progress(number, what)

    return tell
