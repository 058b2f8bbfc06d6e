# SPDX-License-Identifier: GPL-3.0-or-later
"""A TOML file's values together with their line numbers.

Python's parser, like its alternatives, gives values without positions. Since it has checked the grammar, a scan that
only recognises strings and comments can find the line of each key.
"""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..settings import BEYOND

LARGEST_FILE = 2**20  # bytes

Place = tuple[str | int, ...]
"""The way to a value: names of tables and keys, and numbers in lists of tables."""

TOKEN = re.compile(
    r"""
    (?P<text> \"\"\"(?:\\.|[^\\])*?\"{3,5} | '''.*?'{3,5} | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
    | \#[^\n]* | [ \t\r]+
    | (?P<mark> [\[\]{}=,.\n] )
    | (?P<word> [^\s\[\]{}=,.\#"']+ )
    """,
    re.VERBOSE | re.DOTALL,
)


class MistakeError(ValueError):
    """A mistake in a file; the text begins with the file's name and the line."""


@dataclass(frozen=True)
class Document:
    """A file's content."""

    path: Path
    values: dict[str, Any]
    lines: dict[Place, int]

    def mistake(self, place: Place, text: str) -> "MistakeError":
        """The error for a value, with its line."""
        known = next((place[:k] for k in range(len(place), 0, -1) if place[:k] in self.lines), None)
        return MistakeError(f"{self.path.name}, line {1 if known is None else self.lines[known]}: {text}")

    @contextmanager
    def blaming(self, place: Place, before: str = "") -> Iterator[None]:
        """Report errors in the block as a mistake at that place."""
        try:
            yield
        except MistakeError:
            raise
        except OSError as error:
            raise self.mistake(place, f"{before}{error.strerror or error}.") from None
        except ValueError as error:
            raise self.mistake(place, before + " ".join(str(error).split())) from None


def read_document(path: Path) -> Document:
    """Read a file; ValueError, with the line, if it is not TOML."""
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise MistakeError(f"{path.name} is larger than {LARGEST_FILE} bytes: split it into several files.")
    return parse_document(content, path)


def parse_document(content: bytes, path: Path) -> Document:
    """The same of a file's content."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise MistakeError(f"{path.name}, line {line}: this is not UTF-8 text: save the file as UTF-8.") from None
    text = text.replace("\r\n", "\n")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MistakeError(f"{path.name}, {_with_line(str(error), text)}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, thousands of brackets, the 31st of February
        raise MistakeError(f"{path.name}, line {_first_bad_line(text)}: this is not valid TOML.") from None
    document = Document(path, values, dict(_keys(text)))
    for place in _outsized(values, ()):
        raise document.mistake(place, "this number does not fit in 64 bits: make it smaller.")
    return document


def _outsized(value: Any, place: Place) -> Iterator[Place]:
    """Places of whole numbers too large for the format."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _outsized(part, (*place, name))
    elif isinstance(value, int) and not -BEYOND <= value < BEYOND:
        yield place


def _with_line(message: str, text: str) -> str:
    """Python's message, with the line in front."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    what, line = (found.group(1), found.group(2)) if found else (message, None)
    return f"line {line or text.rstrip().count(chr(10)) + 1}: {' '.join(what.split())[:200]}."


def _first_bad_line(text: str) -> int:
    """The last line of the shortest beginning that cannot be parsed, found by bisection."""
    rows = text.split("\n")
    good, bad = 0, len(rows)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            tomllib.loads("\n".join(rows[:middle]))
        except tomllib.TOMLDecodeError:
            good = middle  # cut inside a multi-line value
        except (ValueError, RecursionError):
            bad = middle
        else:
            good = middle
    return bad


def _keys(text: str) -> Iterator[tuple[Place, int]]:
    """The place of every table and of every key outside inline tables, and its line."""
    counts: dict[Place, int] = {}  # of the tables in a list
    table: Place = ()
    names: list[str] = []  # of the key or header that is being read
    header = depth = 0  # brackets that opened the header; brackets that are open in a value
    value = False
    line = 1
    for token in TOKEN.finditer(text):
        mark, word, begun = token["mark"], token["word"] or token["text"], line
        line += token[0].count("\n")
        if value:
            depth += (mark in {"[", "{"}) - (mark in {"]", "}"}) if mark else 0
            value = not (mark == "\n" and depth == 0)
        elif word:
            names.append(_name(word))
        elif mark == "[":
            header += 1
        elif mark == "]" and names:
            table = _table(names, counts, listed=header == 2)
            if table[-1] == 0:
                yield table[:-1], begun
            yield table, begun
            names = []
        elif mark == "=":
            yield (*table, *names), begun
            names, value = [], True
        elif mark == "\n":
            names, header = [], 0


def _name(word: str) -> str:
    """A key as it is written, without its quotes."""
    return str(next(iter(tomllib.loads(f"{word} = 0")))) if word[0] in "\"'" else word


def _table(names: list[str], counts: dict[Place, int], *, listed: bool) -> Place:
    """The place that a header names; inside a list of tables it is in the last one."""
    place: Place = ()
    for number, name in enumerate(names):
        place = (*place, name)
        if listed and number == len(names) - 1:
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place
