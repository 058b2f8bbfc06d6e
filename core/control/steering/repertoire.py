# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions of a steered walk as look-ahead control follows them: each with its gains, which reach beyond its end.

What a transition is worth at its end is what the cycle's own recursion says of the joint that it leads to; so its gains
lead there, and what its first state costs is comparable among all actions that begin there (Muico et al. 2009,
section 3.2: policies that look ahead are "more easily sequenced into longer locomotion skills").
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...motion.cycle import Cycle
from ...motion.transitions import Level
from ...planning import Action
from ..lookahead.lookahead import LookAhead
from ..lookahead.policy import CostToGo
from ..lookahead.precompute import sweep
from ..lookahead.settings import Settings as LookAheadSettings
from ..lookahead.track import Track, standing
from .library import STAND, Library, place_of

Array = NDArray[np.float64]

FOLLOWED = LookAheadSettings()
SEEN = 4  # moments of an action at which the planner sees where it is
STANDS = 0.25  # s, after which who stands may start


@dataclass(frozen=True, eq=False)
class Act:
    """An action, and the controller that follows it."""

    action: Action
    controller: LookAhead
    start: int  # the controller's frame in which it begins
    steps: int
    before: Cycle  # from the frame that moves with the walk, as it begins, to the controller's coordinates
    after: Cycle  # from the controller's coordinates of its last lap to that frame at the end
    curvature: Array  # (2 nv, 2 nv) [S] of its first state
    gradient: Array  # (2 nv,) [s]
    sample: NDArray[np.int64]  # (steps + 1,) of the clip's cycle, whose looks it has
    level: float | None = None  # m/s, of the walk that it is a part of; None: a transition


def make_repertoire(library: Library) -> tuple[Act, ...]:
    """All actions of a library, with their controllers."""
    own = library.levels[0].reference
    character = own.character
    found: list[Act] = []
    ends: dict[int, tuple[Array, Array]] = {}  # what states at places in the graph cost
    for number, level in enumerate(library.levels):
        controller, value = _controller(character, Track.of(level.reference))
        for joint in (0, 1):
            at = level.joints[joint].frame
            ends[place_of(number, joint)] = value.curvature[at], value.gradient[at]
        found += _halves(level, number, library.names[number], controller, ends)
    if library.stand is not None:
        stop = next(way.transition.reference for way in library.ways if way.target == STAND)
        like = Track.of(stop)
        track = standing(
            character,
            library.stand.q,
            like.point_body,
            like.point_local,
            loaded=np.isin(like.point_body, stop.schedule.body[stop.schedule.active[-1]]),
            dt=1.0 / stop.rate,
        )
        controller, value = _controller(character, track)
        ends[STAND] = value.curvature[0], value.gradient[0]
        steps = round(STANDS * stop.rate)
        action = Action("stand", STAND, STAND, 0.0, steps / stop.rate, 0.0, way=((0.0, 0.0),) * SEEN)
        looks = np.full(steps + 1, round(library.stand.sample))
        found.append(Act(action, controller, 0, steps, Cycle((0.0, 0.0)), Cycle((0.0, 0.0)), *ends[STAND], looks, 0.0))
    for way in library.ways:
        made = way.transition
        track = _unsettled(Track.of(made.reference))
        controller, value = _controller(character, track, _turned(character, *ends[way.target], made.step))
        steps = made.reference.steps
        seconds = steps / made.reference.rate
        speed = float(np.hypot(*made.step.shift)) / seconds
        seen = _hips(made.reference.q)
        action = Action(way.name, way.source, way.target, made.step.turn, seconds, speed, made.step.shift, seen)
        looks = np.rint(made.sample).astype(np.int64)
        found.append(
            Act(
                action,
                controller,
                0,
                steps,
                Cycle((0.0, 0.0)),
                made.step,
                value.curvature[0],
                value.gradient[0],
                looks,
            )
        )
    return tuple(found)


def _controller(
    character: Character, track: Track, end: tuple[Array, Array] | None = None
) -> tuple[LookAhead, CostToGo]:
    policy, value = sweep(character, track, FOLLOWED, end)
    return LookAhead(character, track, FOLLOWED, policy), value


def _unsettled(track: Track) -> Track:
    """A transition's own frames alone: what comes after them is another action."""
    frames = len(track.q) - track.stance
    parts = {name: getattr(track, name)[:frames] for name in ("q", "v", "torque", "force", "loaded")}
    slips, given = (array[:frames] if array.size else array for array in (track.slips, track.given))
    return replace(track, **parts, slips=slips, given=given, stance=0)


def _halves(
    level: Level, number: int, name: str, controller: LookAhead, ends: dict[int, tuple[Array, Array]]
) -> list[Act]:
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
        found.append(Act(action, controller, start.frame, length, before, after, *ends[source], looks, level.speed))
    return found


def _hips(q: Array, since: float = 0.0) -> tuple[tuple[float, float], ...]:
    """Where the root is at a few moments of an action (nf, nq), the last at its end."""
    frames = np.rint(np.arange(1, SEEN + 1) / SEEN * (len(q) - 1)).astype(np.int64)
    return tuple((float(x) - since, float(y)) for x, y in q[frames, :2])


def _turned(character: Character, curvature: Array, gradient: Array, step: Cycle) -> tuple[Array, Array]:
    """What a state costs at the end of a step, whose coordinates are those of its start."""
    nv = character.nv
    turn = np.eye(2 * nv)
    turn[:3, :3] = turn[nv : nv + 3, nv : nv + 3] = step.rotation
    return np.ascontiguousarray(turn @ curvature @ turn.T), turn @ gradient
