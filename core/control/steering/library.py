# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of which a steered walk consists: its cycle at several speeds, standing, and what leads between them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...motion.reference import Reference
from ...motion.spacetime import NoReferenceError
from ...motion.spacetime import Settings as SpacetimeSettings
from ...motion.transitions import Level, Stand, Transition, leading, starting, stopping, straight
from .settings import Settings

NEAR = SpacetimeSettings(pose_least=10.0, pose_most=60.0)  # a body keeps its looks
TURNS = (15.0, 30.0, 45.0, 60.0, 90.0)  # degrees in two steps
TURNS_SLOWLY = (30.0, 60.0)  # the same at the slower speed, for tight bends
QUICK = 1.5  # m/s, beyond which they are made: a slower walk gets round any bend as it is
STOPS = (15.0, 30.0, 45.0)  # degrees by which it turns as it stops, too
MILDER = 2.0 / 3.0  # what is tried where one of them is not possible
CONTORTED = 3.0  # degrees RMS of the joints: a run that turns too sharply stays possible by wild bends
OWN = 0  # the level of the walk's own speed
STAND = 0  # the place in the graph; a joint of a level has those after it

Tell = Callable[[float], object]


@dataclass(frozen=True, eq=False)
class Way:
    """A transition, and the places in the graph between which it leads."""

    name: str
    source: int
    target: int
    transition: Transition


@dataclass(frozen=True, eq=False)
class Library:
    """All motions; those that are not possible are left out."""

    levels: tuple[Level, ...]  # the walk's own speed first
    names: tuple[str, ...]  # of the levels
    stand: Stand | None
    ways: tuple[Way, ...]


def place_of(level: int, joint: int) -> int:
    """Of a joint in the graph."""
    return 1 + 2 * level + joint


def make_library(reference: Reference, settings: Settings, tell: Tell) -> Library:
    """Of a gait cycle's reference. `tell` is told which share of the work is over, and may raise."""
    levels, names = [straight(reference, 1.0, NEAR)], ["straight"]
    for share, name in ((settings.slow, "slowly"), (settings.fast, "fast")):
        try:
            levels.append(straight(reference, share, NEAR))
            names.append(name)
        except NoReferenceError:
            continue
    made: list[Way] = []
    turns = _turns(levels[OWN], OWN, TURNS, settings.sharpest)
    for number, level in enumerate(levels[1:], 1):
        if level.speed < levels[OWN].speed > QUICK:
            turns += _turns(level, number, TURNS_SLOWLY, settings.sharpest)
    speeds = [way for number in range(1, len(levels)) for way in _changes(levels, names, number)]
    for done, (wanted, milder) in enumerate([*turns, *((way, None) for way in speeds)]):
        tell(done / (len(turns) + len(speeds) + 1))
        way = _made(wanted)
        if way is None and milder is not None:
            way = _made(milder)
        made += [] if way is None else [way]
    tell(1.0)
    stand, ways = _standing(levels, settings.sharpest)
    return _without_dead_ends(Library(tuple(levels), tuple(names), stand, (*made, *ways)))


class _Wanted(NamedTuple):
    """A transition that is not made yet."""

    name: str
    source: int
    target: int
    make: Callable[[], Transition]


def _made(wanted: _Wanted) -> Way | None:
    """None where it is not possible, or only in another way than it was laid out."""
    try:
        found = wanted.make()
    except NoReferenceError:
        return None
    if found.reference.quality.joint_rms_degrees > CONTORTED:
        return None
    return Way(wanted.name, wanted.source, wanted.target, found)


def _turns(level: Level, number: int, angles: Sequence[float], sharpest: float) -> list[tuple[_Wanted, _Wanted]]:
    """To both sides from both joints, each with a milder one for where it is not possible."""
    found = []
    for angle in [*(angle for angle in angles if angle < sharpest), sharpest]:
        for side, called in ((1.0, "left"), (-1.0, "right")):
            for joint in (0, 1):
                there = place_of(number, joint)
                wanted, milder = (
                    _Wanted(
                        f"{share * angle:.0f}° to the {called}",
                        there,
                        there,
                        partial(leading, level, level, joint, float(np.radians(side * share * angle)), NEAR),
                    )
                    for share in (1.0, MILDER)
                )
                found.append((wanted, milder))
    return found


def _changes(levels: Sequence[Level], names: Sequence[str], number: int) -> list[_Wanted]:
    """Between the walk's own speed and another."""
    return [
        _Wanted(
            f"to {names[target]}",
            place_of(source, 0),
            place_of(target, 0),
            partial(leading, levels[source], levels[target], 0, 0.0, NEAR),
        )
        for source, target in ((OWN, number), (number, OWN))
    ]


def _standing(levels: Sequence[Level], sharpest: float) -> tuple[Stand | None, tuple[Way, ...]]:
    """With the ways to it and from it, or none."""
    own = levels[OWN]
    try:
        stop, stand = stopping(own, NEAR)
        start = starting(own, stand, NEAR)
    except NoReferenceError:
        return None, ()
    joint = place_of(OWN, 0)
    ways = [Way("stop", joint, STAND, stop), Way("start", STAND, joint, start)]
    for angle in (0.0, *(side * angle for angle in STOPS if angle <= sharpest for side in (1.0, -1.0))):
        for joint in (0, 1):
            if angle or joint:
                ways += _stop(own, place_of(OWN, joint), joint, angle, stand)
    for number, level in enumerate(levels[1:], 1):
        if level.speed < own.speed:
            for joint in (0, 1):
                ways += _stop(level, place_of(number, joint), joint, 0.0, stand)
    return stand, tuple(ways)


def _stop(level: Level, place: int, joint: int, angle: float, stand: Stand) -> list[Way]:
    """To the same way of standing, turned by an angle (degrees)."""
    name = "stop" + (f" {abs(angle):.0f}° to the {'left' if angle > 0.0 else 'right'}" if angle else "")
    wanted = _Wanted(name, place, STAND, lambda: stopping(level, NEAR, joint, float(np.radians(angle)), stand)[0])
    way = _made(wanted)
    return [] if way is None else [way]


def _without_dead_ends(library: Library) -> Library:
    """Without speeds that can be taken up but not left, or left but not taken up."""
    left = [
        number
        for number in range(len(library.levels))
        if number == OWN
        or {place_of(number, 0)} <= {way.source for way in library.ways} & {way.target for way in library.ways}
    ]
    moved = {place_of(number, joint): place_of(k, joint) for k, number in enumerate(left) for joint in (0, 1)}
    moved[STAND] = STAND
    return Library(
        tuple(library.levels[number] for number in left),
        tuple(library.names[number] for number in left),
        library.stand,
        tuple(
            replace(way, source=moved[way.source], target=moved[way.target])
            for way in library.ways
            if way.source in moved and way.target in moved
        ),
    )
