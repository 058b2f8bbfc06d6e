# SPDX-License-Identifier: GPL-3.0-or-later
"""What a director does, one thing at a time; and how it stands in a message."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..character import check
from ..character.check import Vector
from ..simulation import course

OWNER = "the stage's input"


@dataclass(frozen=True)
class Input:
    """Anything that is done."""

    sent: float = 0.0  # when, by this machine's monotonic clock, s; 0: nobody measures how long it takes


@dataclass(frozen=True)
class Hold(Input):
    """Take hold of a point of a body, until Release: a spring from there to a place."""

    body: str = ""
    point: Vector = (0.0, 0.0, 0.0)  # in the body's frame, m
    place: Vector = (0.0, 0.0, 0.0)  # in the world, m


@dataclass(frozen=True)
class Move(Input):
    """The spring goes to another place."""

    place: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Release(Input):
    """Let go."""


@dataclass(frozen=True)
class Shove(Input):
    """A force on a point of a body for some time."""

    body: str = ""
    point: Vector = (0.0, 0.0, 0.0)
    force: Vector = (0.0, 0.0, 0.0)  # in the world, N
    seconds: float = 0.1


@dataclass(frozen=True)
class Throw(Input):
    """A ball from a place, with a velocity."""

    place: Vector = (0.0, 0.0, 0.0)
    velocity: Vector = (0.0, 0.0, 0.0)  # m/s


@dataclass(frozen=True)
class Command(Input):
    """Walk so from the next step on: for methods that go along a course."""

    forward: float = 0.0  # m/s
    left: float = 0.0  # m/s
    heading: float = 0.0  # rad to the left of where the character faces at the start


@dataclass(frozen=True)
class Pace(Input):
    """How fast time goes: 1 as it does, 0 not at all."""

    speed: float = 1.0


@dataclass(frozen=True)
class End(Input):
    """The take is over."""


KINDS: Mapping[str, type[Input]] = {
    kind.__name__: kind for kind in (Hold, Move, Release, Shove, Throw, Command, Pace, End)
}
FASTEST = 1.0  # times real time
LONGEST_SHOVE = 2.0  # s
FASTEST_WALK = course.FASTEST  # m/s


def to_values(done: Input) -> dict[str, Any]:
    """As JSON has it."""
    return {"does": type(done).__name__, **{one.name: getattr(done, one.name) for one in fields(done)}}


def from_values(values: Mapping[str, Any]) -> Input:
    """And back; ValueError where it is none."""
    kind = KINDS.get(str(values.get("does")))
    if kind is None:
        raise ValueError(f"{values.get('does')!r} is nothing that can be done on the stage.")
    said: dict[str, Any] = {}
    for one in fields(kind):
        given = values.get(one.name, one.default)
        if one.name == "body":
            check.name(given, OWNER)
            said[one.name] = given
        elif isinstance(one.default, tuple):
            said[one.name] = check.vector(given, one.name, OWNER)
        elif kind is Command and one.name != "sent":
            said[one.name] = check.number(given, one.name, OWNER)
        else:
            said[one.name] = check.not_negative(given, one.name, OWNER)
    if kind is Pace and said["speed"] > FASTEST:
        raise ValueError(f"Time can be slowed, not hurried: a pace of {said['speed']:g} is more than {FASTEST:g}.")
    if kind is Shove and not 0.0 < said["seconds"] <= LONGEST_SHOVE:
        raise ValueError(f"A shove lasts at most {LONGEST_SHOVE:g} s, not {said['seconds']:g} s.")
    if kind is Command and max(abs(said["forward"]), abs(said["left"])) > FASTEST_WALK:
        raise ValueError(f"A walk on the stage can be told to go at {FASTEST_WALK:g} m/s at most.")
    return kind(**said)


def now() -> float:
    """What `sent` counts by: the same clock in all of a machine's processes."""
    return time.monotonic()
