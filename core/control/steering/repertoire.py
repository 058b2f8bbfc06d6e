# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions of a steered walk as look-ahead control follows them: each with its gains, which reach beyond its end.

What a transition is worth at its end is what the cycle's own recursion says of the joint that it leads to; so its gains
lead there, and what its first state costs is comparable among all actions that begin there (Muico et al. 2009,
section 3.2: policies that look ahead are "more easily sequenced into longer locomotion skills").

Gains take long to find and much room, and a walk uses those of few actions: what the first states cost is kept, and
gains are found when somebody first walks by them.
"""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Terrain
from ...motion.cycle import Cycle
from ...motion.reference import Reference
from ...motion.sequence import NOWHERE, Piece, back, concatenate
from ...motion.sequence import standing as stood
from ...motion.transitions import Level, Transition
from ...planning import Action
from ..lookahead.lookahead import LookAhead
from ..lookahead.policy import Policy
from ..lookahead.precompute import sweep
from ..lookahead.settings import Settings as LookAheadSettings
from ..lookahead.track import Track, standing
from .library import STAND, Library, place_of

Array = NDArray[np.float64]
Gains = MutableMapping[str, Policy]  # by the motions' names

FOLLOWED = LookAheadSettings()
SEEN = 4  # moments of an action at which the planner sees where it is
STANDS = 0.25  # s, after which who stands may start


class Cost(NamedTuple):
    """What states near one cost, that and all after it, by deviations in its motion's coordinates."""

    curvature: Array  # (2 nv, 2 nv) [S]
    gradient: Array  # (2 nv,) [s]


class Motion:
    """What one or several actions follow."""

    def __init__(
        self, name: str, reference: Reference, make: Callable[[Reference], Track], end: Cost | None, gains: Gains
    ) -> None:
        """`make` is its track. With an `end`, what its last state costs, it is followed that far and no further."""
        self.reference, self.character, self.end = reference, reference.character, end
        self._name, self._make, self._gains = name, make, gains
        self._terrain: Terrain | None = None

    @cached_property
    def track(self) -> Track:
        """Its frames."""
        return self._make(self.reference)

    @cached_property
    def controller(self) -> LookAhead:
        """Who follows it, with gains that others have found or that are found now."""
        if self._name not in self._gains:
            self.costs([])
        return LookAhead(self.character, self.track, FOLLOWED, self._gains[self._name], self._terrain)

    def make_controller(self) -> None:
        """Make it now, where nobody is to wait for it later."""
        _ = self.controller

    def costs(self, frames: Sequence[int]) -> list[Cost]:
        """What states at these frames cost; its gains are found with that."""
        policy, value = sweep(self.character, self.track, FOLLOWED, self.end)
        self._gains[self._name] = policy
        return [Cost(value.curvature[k].copy(), value.gradient[k].copy()) for k in frames]

    def stand_on(self, terrain: Terrain) -> None:
        """Know the ground ahead of the feet."""
        self._terrain = terrain
        if "controller" in self.__dict__:
            self.controller.terrain = terrain


@dataclass(frozen=True, eq=False)
class Act:
    """An action, and the motion that it follows."""

    action: Action
    motion: Motion
    start: int  # the motion's frame in which it begins
    steps: int
    before: Cycle  # from the frame that moves with the walk, as it begins, to the motion's coordinates
    after: Cycle  # from the motion's coordinates of its last lap to that frame at the end
    first: tuple[Array, Array]  # its first state, q (nq,) and v (nv,), in the frame that moves with the walk
    cost: Cost  # of that
    sample: NDArray[np.int64]  # (steps + 1,) of the clip's cycle, whose looks it has
    level: float | None = None  # m/s, of the walk that it is a part of; None: a transition

    @property
    def controller(self) -> LookAhead:
        """Who follows its motion."""
        return self.motion.controller


def make_repertoire(library: Library, gains: Gains | None = None, known: Sequence[Cost] = ()) -> tuple[Act, ...]:
    """All actions of a library. What their first states cost may be known; so may gains, to which others are added."""
    character = library.levels[0].reference.character
    gains = {} if gains is None else gains
    found: list[Act] = []

    def costs(motion: Motion, frames: Sequence[int]) -> list[Cost]:
        """Of the next actions."""
        return list(known[len(found) : len(found) + len(frames)]) if known else motion.costs(frames)

    for number, level in enumerate(library.levels):
        motion = Motion(f"level {number}", level.reference, Track.of, None, gains)
        found += _halves(level, number, library.names[number], motion, costs(motion, [at.frame for at in level.joints]))
    if library.stand is not None:
        stop = next(way.transition for way in library.ways if way.target == STAND)
        steps = round(STANDS * stop.reference.rate)
        motion = Motion("stand", _held(stop, steps), _standing, None, gains)
        action = Action("stand", STAND, STAND, 0.0, steps / stop.reference.rate, 0.0, way=((0.0, 0.0),) * SEEN)
        looks = np.full(steps + 1, round(library.stand.sample))
        here = Cycle((0.0, 0.0))
        first = library.stand.q, np.zeros(character.nv)
        found.append(Act(action, motion, 0, steps, here, here, first, costs(motion, [0])[0], looks, 0.0))
    ends = {act.action.source: act.cost for act in found}
    for number, way in enumerate(library.ways):
        made = way.transition
        end = turned(character, ends[way.target], made.step)
        motion = Motion(f"way {number}", made.reference, _unsettled, end, gains)
        steps = made.reference.steps
        seconds = steps / made.reference.rate
        speed = float(np.hypot(*made.step.shift)) / seconds
        seen = _hips(made.reference.q)
        action = Action(way.name, way.source, way.target, made.step.turn, seconds, speed, made.step.shift, seen)
        looks = np.rint(made.sample).astype(np.int64)
        first, cost = (made.reference.q[0], made.reference.v[0]), costs(motion, [0])[0]
        found.append(Act(action, motion, 0, steps, Cycle((0.0, 0.0)), made.step, first, cost, looks))
    return tuple(found)


def _held(stop: Transition, steps: int) -> Reference:
    """The end of who stops, held for so many steps, in the frame that moves with the walk."""
    piece = Piece("stand", stood(stop.reference, steps), range(steps + 1), back(stop.step))
    return replace(concatenate([piece]), cycle=NOWHERE)


def _standing(held: Reference) -> Track:
    """A single frame of it."""
    like = Track.of(held)
    return standing(
        held.character,
        held.q[0],
        like.point_body,
        like.point_local,
        loaded=np.isin(like.point_body, held.schedule.body[held.schedule.active[0]]),
        dt=1.0 / held.rate,
    )


def _unsettled(reference: Reference) -> Track:
    """A transition's own frames alone: what comes after them is another action."""
    track = Track.of(reference)
    frames = len(track.q) - track.stance
    parts = {name: getattr(track, name)[:frames] for name in ("q", "v", "torque", "force", "loaded")}
    slips, given = (array[:frames] if array.size else array for array in (track.slips, track.given))
    return replace(track, **parts, slips=slips, given=given, stance=0)


def _halves(level: Level, number: int, name: str, motion: Motion, costs: Sequence[Cost]) -> list[Act]:
    """From joint to joint of a cycle."""
    reference = level.reference
    assert reference.cycle is not None
    first, second = level.joints
    period, lap = reference.steps, reference.cycle.shift[0]
    found = []
    for joint, (start, stop, length) in enumerate(
        ((first, second, second.frame - first.frame), (second, first, period + first.frame - second.frame))
    ):
        along = stop.along - start.along + (0.0 if joint == 0 else lap)
        source, target = place_of(number, joint), place_of(number, 1 - joint)
        pace = along * reference.rate / length
        seen = _hips(reference.q[start.frame : start.frame + length + 1], start.along)
        action = Action(name, source, target, 0.0, length / reference.rate, pace, (along, 0.0), seen)
        looks = np.rint(level.sample[(start.frame + np.arange(length + 1)) % period]).astype(np.int64)
        before, after = Cycle((-start.along, 0.0)), Cycle((stop.along, 0.0))
        state = before.move_state(reference.character, reference.q[start.frame], reference.v[start.frame])
        found.append(Act(action, motion, start.frame, length, before, after, state, costs[joint], looks, level.speed))
    return found


def _hips(q: Array, since: float = 0.0) -> tuple[tuple[float, float], ...]:
    """Where the root is at a few moments of an action (nf, nq), the last at its end."""
    frames = np.rint(np.arange(1, SEEN + 1) / SEEN * (len(q) - 1)).astype(np.int64)
    return tuple((float(x) - since, float(y)) for x, y in q[frames, :2])


def turned(character: Character, cost: Cost, step: Cycle) -> Cost:
    """What a state costs at the end of a step, whose coordinates are those of its start."""
    nv = character.nv
    turn = np.eye(2 * nv)
    turn[:3, :3] = turn[nv : nv + 3, nv : nv + 3] = step.rotation
    return Cost(np.ascontiguousarray(turn @ cost.curvature @ turn.T), turn @ cost.gradient)
