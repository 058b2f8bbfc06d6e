# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings: fields of a dataclass that say what they are called, what they do and which values make sense.

What is said here once is checked in every run, and made into Blender's properties, the rows of the panel and the tables
of the documentation.
"""

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

BEYOND = 2**63  # no whole number so far from zero fits in the 64 bits of an array's
KEY = "setting"  # of a field's metadata

Shown = Literal["basic", "advanced", "hidden"]  # at once, under Advanced, in Python only
SHARE = "share"  # the unit of a number from 0 to 1


class Choice(NamedTuple):
    """One of a setting's values. Files of Blender know it by its place in the row: add new ones at the end."""

    value: str
    label: str
    tip: str


@dataclasses.dataclass(frozen=True)
class Setting:
    """What there is to say about a field."""

    label: str  # as in a panel: three words at most
    tip: str  # a sentence or two without the last full stop
    shown: Shown = "advanced"
    unit: str = ""  # "s", "1/s²", SHARE
    symbol: str = ""  # in the paper, with the place where it stands there
    bounds: tuple[float, float] | None = None  # of a number, both included
    usual: tuple[float, float] | None = None  # the range of a slider, where it is not all of the bounds
    digits: int = 2  # behind the decimal point
    choices: tuple[Choice, ...] = ()  # of a text

    @property
    def description(self) -> str:
        """The tip, and in brackets what only who knows the paper looks for."""
        more = ", ".join(part for part in (self.symbol, "" if self.unit == SHARE else self.unit) if part)
        return f"{self.tip} [{more}]" if more else self.tip

    def check(self, value: Any, name: str, owner: str) -> None:
        """ValueError where a value makes no sense."""
        known = [choice.value for choice in self.choices]
        if known and value not in known:
            raise ValueError(f"The setting '{name}' of {owner} must be one of {', '.join(known)}, not {value!r}.")
        if self.bounds is not None and not self.bounds[0] <= value <= self.bounds[1]:
            low, high = self.bounds
            bound = f"at most {high:g}" if value > high else f"at least {low:g}"
            raise ValueError(f"The setting '{name}' of {owner} must be {bound}, not {value:g}.")


def setting(default: Any, label: str, tip: str, **more: Any) -> Any:
    """A field with its default, and all that `Setting` says of it."""
    return dataclasses.field(default=default, metadata={KEY: Setting(label, tip, **more)})


def settings_of(kind: type) -> dict[str, Setting]:
    """What is said of the fields of a dataclass, by name and in order."""
    return {entry.name: entry.metadata[KEY] for entry in dataclasses.fields(kind) if KEY in entry.metadata}


class Described:
    """A base of dataclasses whose fields are made by `setting`."""

    owner: ClassVar[str]  # whose they are, in a sentence: "look-ahead control"

    def checked(self) -> Self:
        """Itself, or ValueError."""
        for name, entry in settings_of(type(self)).items():
            entry.check(getattr(self, name), name, self.owner)
        return self


def make_settings(kind: type[T], chosen: Mapping[str, Any], owner: str) -> T:
    """The defaults of `kind`, a dataclass, with those that were chosen; ValueError where one is unknown or no such."""
    hints = get_type_hints(kind)
    known = [entry.name for entry in dataclasses.fields(kind)]  # type: ignore[arg-type]  # a dataclass by contract
    values = {}
    for name, value in chosen.items():
        if name not in known:
            raise ValueError(f"There is no setting '{name}' of {owner}; choose from {', '.join(known)}.")
        if not _fits(hints[name], value):
            raise ValueError(f"The setting '{name}' of {owner} cannot be {repr(value)[:40]}.")
        values[name] = float(value) if hints[name] is float else value
    return kind(**values)


def _fits(hint: Any, value: Any) -> bool:
    if get_origin(hint) in {Union, types.UnionType}:
        return any(_fits(variant, value) for variant in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if type(value) is int and not -BEYOND <= value < BEYOND:
        return False
    return type(value) in {int, float} if hint is float else type(value) is hint
