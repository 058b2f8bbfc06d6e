# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings by name, as they come from a panel or a file, made into the dataclass that a stage asks for."""

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

BEYOND = 2**63  # no whole number so far from zero fits in the 64 bits of an array's


def make_settings(kind: type[T], chosen: Mapping[str, Any], owner: str) -> T:
    """The defaults of `kind`, a dataclass, with those that were chosen; ValueError where one makes no sense."""
    hints = get_type_hints(kind)
    known = [entry.name for entry in dataclasses.fields(kind)]  # type: ignore[arg-type]  # a dataclass by contract
    values = {}
    for name, value in chosen.items():
        if name not in known:
            raise ValueError(f"There is no setting '{name}' of {owner}; there are {', '.join(known)}.")
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
