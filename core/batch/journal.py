# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of each job of a batch: `batch.jsonl`, one line of JSON each, written once its result is in place.

However a batch ends, the journal is correct: each result was written before its line. A truncated line is ignored, and
its job runs again.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..files import remove_unfinished, write_whole

NAME = "batch.jsonl"
SUFFIX = ".heftresult"
FAILED = "failed"  # an outcome besides those of a bake: there is no result


@dataclass(frozen=True)
class Entry:
    """One line."""

    name: str  # of the job; its result is NAME.heftresult
    key: str  # of the job's content
    outcome: str  # of the bake, or FAILED
    why: str  # in a sentence
    report: Mapping[str, Any]  # the bake's

    @property
    def failed(self) -> bool:
        """Whether there is no result."""
        return self.outcome == FAILED


class Journal:
    """The journal of a folder, and the results beside it."""

    def __init__(self, folder: Path) -> None:
        """Read what is there."""
        self.folder = folder
        self._path = folder / NAME
        self.entries: dict[str, Entry] = {}
        if self._path.is_file():
            for line in self._path.read_bytes().split(b"\n"):
                entry = _read(line)
                if entry is not None:
                    self.entries[entry.name] = entry

    def is_done(self, name: str, key: str) -> bool:
        """Whether the result of exactly this job is there."""
        entry = self.entries.get(name)
        return entry is not None and entry.key == key and not entry.failed and self.result(name).is_file()

    def result(self, name: str) -> Path:
        """The file of a result."""
        return self.folder / f"{name}{SUFFIX}"

    def tidy(self, names: Iterable[str]) -> None:
        """Keep one line for each of these jobs, in order, and remove what a killed batch left unfinished."""
        remove_unfinished(self.folder)
        self.entries = {name: self.entries[name] for name in names if name in self.entries}
        write_whole(self._path, b"".join(map(_line, self.entries.values())))

    def add(self, entry: Entry, result: bytes | None) -> None:
        """Write a result, then its line."""
        if result is not None:
            write_whole(self.result(entry.name), result)
        with self._path.open("ab") as file:
            file.write(_line(entry))
            file.flush()
            os.fsync(file.fileno())
        self.entries[entry.name] = entry


def _line(entry: Entry) -> bytes:
    return json.dumps(asdict(entry), ensure_ascii=False).encode() + b"\n"


def _read(line: bytes) -> Entry | None:
    """The entry of a line; None if it has none."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    wanted = {entry.name: dict if entry.name == "report" else str for entry in fields(Entry)}
    if type(said) is not dict or set(said) != set(wanted):
        return None
    return Entry(**said) if all(type(said[name]) is kind for name, kind in wanted.items()) else None
