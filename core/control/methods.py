# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods by which a character can be made to move, by name: every folder here that has a `method.py`."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from .method import Method, Needs


def _found() -> Mapping[str, Method]:
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/method.py"))
    found = [importlib.import_module(f".{name}.method", __package__).METHOD for name in folders]
    for folder, method in zip(folders, found, strict=True):
        if method.name != folder:
            raise ValueError(f"The method in folder '{folder}' must have the folder's name, not '{method.name}'.")
    in_order = sorted(found, key=lambda method: method.number)
    numbers = [method.number for method in in_order]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"Two methods have the same number: {', '.join(map(str, numbers))}.")
    return MappingProxyType({method.name: method for method in in_order})


METHODS = _found()


def method_named(name: str) -> Method:
    """The method, or ValueError."""
    if name not in METHODS:
        raise ValueError(f"There is no method '{name}'; choose from {', '.join(METHODS)}.")
    return METHODS[name]


def others(can: Callable[[Needs], bool]) -> str:
    """The labels of the methods that can do something, for a sentence that says what to choose instead."""
    return " or ".join(method.label for method in METHODS.values() if can(method.needs))
