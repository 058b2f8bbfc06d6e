# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a batch file's tables, and the values that each may have."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .document import Document, Place


class Kind(NamedTuple):
    """A kind of value."""

    text: str
    fits: Callable[[Any], bool]


LARGEST = 1e9


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and math.isfinite(value) and abs(value) <= LARGEST


TEXT = Kind("text", lambda value: type(value) is str and 0 < len(value) < 1000 and value.isprintable())
NUMBER = Kind("a number", _is_number)
POSITIVE = Kind("a positive number", lambda value: _is_number(value) and value > 0)
NOT_NEGATIVE = Kind("a number of at least 0", lambda value: _is_number(value) and value >= 0)
FLAG = Kind("true or false", lambda value: type(value) is bool)
PLAIN = Kind("text, a number, true or false", lambda value: type(value) in {str, int, float, bool})
TABLE = Kind("a table", lambda value: type(value) is dict)
CHAIN = Kind(
    "a bone's name or a list of bone names",
    lambda value: TEXT.fits(value) or (type(value) is list and len(value) > 0 and all(map(TEXT.fits, value))),
)
PROFILE = Kind(
    "a list of [metres ahead, metres up]",
    lambda value: (
        type(value) is list
        and 1 <= len(value) <= 10_000
        and all(type(point) is list and len(point) == 2 and all(map(_is_number, point)) for point in value)
    ),
)


def one_of(*choices: str) -> Kind:
    """One of some words."""
    return Kind(f"one of {', '.join(choices)}", lambda value: type(value) is str and value in choices)


TOP = {
    "output": TEXT,
    "rigs": TABLE,
    "terrains": TABLE,
    "bake": Kind("a list of [[bake]] tables", lambda value: type(value) is list and all(map(TABLE.fits, value))),
}
RIG = {
    "unit": POSITIVE,
    "up": one_of("Y", "Z"),
    "roles": TABLE,
    "detail": one_of("simple", "full"),
    "sex": one_of("male", "female"),
    "mass": POSITIVE,
    "on_floor": FLAG,
}
TERRAIN = {
    "start": NUMBER,
    "slope": Kind("an angle between -60 and 60 degrees", lambda value: _is_number(value) and abs(value) <= 60),
    "length": POSITIVE,
    "rise": NUMBER,
    "going": POSITIVE,
    "count": Kind("a whole number from 1 to 1000", lambda value: type(value) is int and 1 <= value <= 1000),
    "profile": PROFILE,
    "friction": NOT_NEGATIVE,
}
BAKE = {
    "clip": TEXT,
    "job": TEXT,
    "scene": TEXT,
    "rig": TEXT,
    "armature": TEXT,
    "controller": TEXT,
    "frames": TEXT,
    "rate": POSITIVE,
    "loop": FLAG,
    "seconds": POSITIVE,
    "ground": one_of("auto", "level", "terrain"),
    "terrain": TEXT,
    "friction": NOT_NEGATIVE,
    "push": NUMBER,
    "push_body": TEXT,
    "push_direction": NUMBER,
    "push_start": NOT_NEGATIVE,
    "push_seconds": POSITIVE,
    "noise": NOT_NEGATIVE,
    "seed": Kind("a whole number of at least 0", lambda value: type(value) is int and 0 <= value < 2**63),
}


def check_table(document: Document, place: Place, table: Mapping[str, Any], words: Mapping[str, Kind]) -> None:
    """ValueError if a key is unknown or its value of the wrong kind."""
    for key, value in table.items():
        if key not in words:
            raise document.mistake((*place, key), f"there is no key '{key[:40]}' here; choose from {', '.join(words)}.")
        check_value(document, (*place, key), value, words[key])


def check_value(document: Document, place: Place, value: Any, kind: Kind) -> None:
    """ValueError if a value is of the wrong kind."""
    if not kind.fits(value):
        raise document.mistake(place, f"'{place[-1]}' must be {kind.text}, not {shortened(value)}.")


def shortened(value: Any) -> str:
    """A value as a message shows it."""
    text = repr(value) if type(value) is not int or abs(value) < 10**40 else "so large a number"
    return text if len(text) <= 60 else f"{text[:57]}..."
