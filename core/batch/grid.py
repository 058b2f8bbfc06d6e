# SPDX-License-Identifier: GPL-3.0-or-later
"""The bakes of a `[[bake]]`: one for each combination of the values in its lists, each with a name."""

import fnmatch
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .document import Document, Place
from .words import BAKE, PLAIN, TABLE, TEXT, check_table, check_value

MOST_BAKES = 100_000
SOURCES = ("clip", "job", "scene")
TABLES = ("settings", "reference")
LONGEST_NAME = 200  # bytes, which leaves room for a suffix
# without characters or names that some operating system does not allow for files
NAME = re.compile(r'[^<>:"/\\|?*\x00-\x1f]*[^<>:"/\\|?*\x00-\x1f. ]')
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(1, 10))}


@dataclass(frozen=True)
class Bake:
    """One bake: its name, its `[[bake]]`, and its choices."""

    name: str
    place: Place
    choice: Mapping[str, Any]  # by key; a setting by "settings.NAME"

    def place_of(self, key: str) -> Place:
        """Place of a key of its choices."""
        return (*self.place, *key.split("."))


def bakes_of(document: Document, place: Place, table: Mapping[str, Any]) -> Iterator[Bake]:
    """The bakes of one table, sources slowest, then as the keys stand."""
    template = table.get("name")
    if template is not None:
        check_value(document, (*place, "name"), template, TEXT)
    axes = {key: _values(document, place, key, value) for key, value in _flat(document, place, table)}
    sources = [key for key in SOURCES if key in axes]
    if len(sources) != 1:
        raise document.mistake(place, f"a [[bake]] needs exactly one of {', '.join(SOURCES)}, not {len(sources)}.")
    with document.blaming((*place, sources[0])):
        axes[sources[0]] = [path for text in axes[sources[0]] for path in _files(document.path.parent, text)]
    if math.prod(map(len, axes.values())) > MOST_BAKES:
        raise document.mistake(place, f"this makes more than {MOST_BAKES} bakes: vary less, or split the file.")
    order = sorted(axes, key=lambda key: key not in SOURCES)
    varying = [key for key in order if len(axes[key]) > 1 and key not in SOURCES]
    usual = "-".join([f"{{{sources[0]}}}", *(f"{key.split('.')[-1]}{{{key}}}" for key in varying)])
    for values in itertools.product(*(axes[key] for key in order)):
        choice = dict(zip(order, values, strict=True))
        yield Bake(_named(document, place, template or usual, choice), place, choice)


def _flat(document: Document, place: Place, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys and what they say; those of settings as "settings.NAME"."""
    for key, value in table.items():
        if key in TABLES:
            check_value(document, (*place, key), value, TABLE)
            yield from ((f"{key}.{name}", each) for name, each in value.items())
        elif key != "name":
            yield key, value


def _values(document: Document, place: Place, key: str, value: Any) -> list[Any]:
    """The values of a key, as a list."""
    values = value if type(value) is list else [value]
    if not values:
        raise document.mistake((*place, *key.split(".")), f"the list of '{key}' is empty: give it at least one value.")
    for each in values:
        if key.partition(".")[0] in TABLES:
            check_value(document, (*place, *key.split(".", 1)), each, PLAIN)
        else:
            check_table(document, place, {key: each}, BAKE)
    return values


def _files(folder: Path, text: str) -> list[Path]:
    """The file of that name, relative to the folder; `*` and `?` match several."""
    path = folder / text
    if not set(path.name) & set("*?"):
        if not path.is_file():
            raise ValueError(f"there is no file {text}.")
        return [path]
    there = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    found = [each for each in there if fnmatch.fnmatchcase(each.name, path.name) and each.is_file()]
    if not found:
        raise ValueError(f"no file matches {text}.")
    return found


def _named(document: Document, place: Place, template: str, choice: Mapping[str, Any]) -> str:
    """The template with values in place of keys in braces."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in choice:
            raise document.mistake(
                (*place, "name"), f"{{{match[1]}}} in the name is unknown: use one of {', '.join(choice)}."
            )
        return _written(choice[match[1]])

    name = re.sub(r"\{([^{}]*)\}", value, template)
    fits = NAME.fullmatch(name) and name.isprintable() and len(name.encode()) <= LONGEST_NAME
    if not fits or name.split(".")[0].lower() in RESERVED:
        raise document.mistake((*place, "name"), f"'{name[:60]}' cannot be a file name: choose another name.")
    return name


def _written(value: Any) -> str:
    if isinstance(value, Path):
        return value.stem
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
