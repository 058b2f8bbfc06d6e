# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference between two others, and the phase by which motions of different duration go in step.

A pose between two poses is close to a physically correct motion, but not one itself: feet that stand in both sink into
the ground or hover, and its torques are unknown. So the optimiser corrects the blend, as it does any clip.

Contacts begin and end at different shares of a motion: who jumps higher flies for longer. The phase that references
share is therefore led through the same contacts: it runs from 0 to 1, and at each touchdown and lift-off it has one
value for all. Da Silva 2010, section 6.6, leaves open by what to index controllers of different duration.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..dynamics import difference, integrate
from .cycle import Cycle
from .fit import Trajectory
from .quaternions import Array
from .reference import Reference
from .schedule import ContactSchedule, Mask, runs
from .spacetime import Ends, Settings, build_reference
from .tracks import point_places

LEAST = 1e-3  # of a motion between two events at least, so that the phase never stands still


class Pace(NamedTuple):
    """How a motion's own phase follows the shared one: straight from knot to knot."""

    shared: Array  # (m,) from 0 to 1, rising
    own: Array  # (m,) from 0 to 1, rising

    def at(self, phase: float) -> float:
        """The motion's own phase."""
        return float(np.interp(phase, self.shared, self.own))

    def rate(self, phase: float) -> float:
        """By how much the own phase grows with the shared one, from there on."""
        k = min(int(np.searchsorted(self.shared, phase, side="right")), len(self.shared) - 1)
        return float((self.own[k] - self.own[k - 1]) / (self.shared[k] - self.shared[k - 1]))


def paces(motions: Sequence[Mask]) -> list[Pace]:
    """Of motions that stand on bodies (nf, nb) at their frames; the shared phase of an event is the mean of theirs.

    Bodies that do not let go and touch as often in all motions have no part in it; nor has an event that in one of them
    comes with, or before, one that it comes after in the others.
    """
    bodies = motions[0].shape[1]
    found = [[_events(stands[:, body]) for stands in motions] for body in range(bodies)]
    alike = [own for own in found if len({(starts, len(phases)) for starts, phases in own}) == 1]
    events = np.concatenate(
        [np.zeros((len(motions), 0)), *(np.array([phases for _, phases in own]) for own in alike)], 1
    )
    knots = [np.zeros(len(motions))]
    for event in events.T[np.argsort(events.mean(axis=0), kind="stable")]:
        if (event - knots[-1] > LEAST).all() and (event < 1.0 - LEAST).all():
            knots.append(event)
    rows = np.array([*knots, np.ones(len(motions))]).T
    return [Pace(rows.mean(axis=0), row) for row in rows]


def between(first: Reference, second: Reference, share: float = 0.5, settings: Settings | None = None) -> Reference:
    """The possible motion nearest to the blend of two, of which `share` is the second's.

    Both are of one character, touch the same points, and are cyclic or not. ValueError where they do not fit, or where
    no motion near their blend is possible.
    """
    _check(first, second)
    character = first.character
    both, shares = (first, second), np.array([1.0 - share, share])
    stands = [standing(one) for one in both]
    pace = paces(stands)
    count = round(float(shares @ [one.steps for one in both]))
    q, v = np.zeros((count + 1, character.nq)), np.zeros((count + 1, character.nv))
    rows = np.zeros((2, count + 1), dtype=np.int64)
    for k in range(count + 1):
        found = []
        for i, one in enumerate(both):
            place = pace[i].at(k / count) * one.steps
            rows[i, k] = min(int(place + 1e-9), one.steps - (k < count))
            speed = pace[i].rate(k / count) * one.steps / count  # frames of its own in one of these
            found.append(_state(character, one, place, speed))
        way = difference(character, found[0][0], found[1][0])
        q[k] = integrate(character, found[0][0], share * way, 1.0)
        v[k] = shares @ [velocity for _, velocity in found]
    cycle = _cycle(first, second, shares)
    if cycle is not None:  # the last frame is the first, a period later
        q[-1], v[-1] = cycle.move_state(character, q[0], v[0])
    trajectory = Trajectory(first.rate, q, v)
    schedule = _schedule(both, shares, rows, point_places(character, q, first.schedule.points), cycle)
    return build_reference(character, trajectory, schedule, bounds=Ends(cycle=cycle), settings=settings)


def standing(reference: Reference) -> Mask:
    """On which of its bodies a motion stands at the start of each step (N, nb)."""
    bodies = reference.schedule.body
    columns = [reference.carrying[:, bodies == body].any(axis=1) for body in np.unique(bodies)]
    return np.column_stack(columns) if columns else np.zeros((reference.steps, 0), dtype=np.bool_)


def _events(stands: Mask) -> tuple[bool, Array]:
    """Whether a body stands at first (nf,), and the phases at which that changes."""
    return bool(stands[0]), (np.flatnonzero(stands[1:] != stands[:-1]) + 1.0) / len(stands)


def _state(character: Character, reference: Reference, place: float, speed: float) -> tuple[Array, Array]:
    """Positions and velocities of a reference at a frame and a share of the next, played that much faster."""
    k = min(int(place), reference.steps - 1)
    share = place - k
    way = difference(character, reference.q[k], reference.q[k + 1])
    v = (1.0 - share) * reference.v[k] + share * reference.v[k + 1]
    return integrate(character, reference.q[k], share * way, 1.0), speed * v


def _schedule(
    both: tuple[Reference, Reference],
    shares: Array,
    rows: NDArray[np.int64],
    blended: Array,
    cycle: Cycle | None,
) -> ContactSchedule:
    """The nearer motion's contacts, each where the mean of both has it; where only one touches, where the blend is."""
    active = both[int(shares[1] > 0.5)].schedule.active[rows[int(shares[1] > 0.5)]].copy()
    if cycle is not None:
        active[-1] = active[0]
    on = np.logical_and(*(one.schedule.active[row] for one, row in zip(both, rows, strict=True)))
    mean = sum(share * one.schedule.place[row] for share, one, row in zip(shares, both, rows, strict=True))
    place = np.zeros_like(blended)
    for p in range(active.shape[1]):
        found = runs(active[:, p])
        for start, stop in found:
            sure = np.flatnonzero(on[start:stop, p]) + start
            place[start:stop, p] = np.median(mean[sure, p] if len(sure) else blended[start:stop, p], axis=0)
        if cycle is not None and len(found) > 1 and active[0, p]:  # a stance across the seam is one
            place[found[-1][0] :, p] = cycle.move_points(place[0, p])
    return ContactSchedule(both[0].schedule.points, active, place)


def _cycle(first: Reference, second: Reference, shares: Array) -> Cycle | None:
    if first.cycle is None or second.cycle is None:
        return None
    shift = shares @ np.array([first.cycle.shift, second.cycle.shift])
    return Cycle((float(shift[0]), float(shift[1])), float(shares @ [first.cycle.turn, second.cycle.turn]))


def _check(first: Reference, second: Reference) -> None:
    if first.character.bodies != second.character.bodies:
        raise ValueError("Motions of different characters cannot be blended.")
    if first.rate != second.rate:
        raise ValueError(
            f"Motions of {first.rate:g} and {second.rate:g} steps per second cannot be blended: resample one of them."
        )
    if (first.cycle is None) != (second.cycle is None):
        raise ValueError("A cyclic motion cannot be blended with one that is not.")
    if first.schedule.points != second.schedule.points:
        raise ValueError("Motions that touch the ground with different points cannot be blended.")
