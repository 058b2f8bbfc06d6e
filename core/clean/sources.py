# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips of a folder, and what a format must be able to do to have its clips cleaned."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import quote

from ..job import BakeJob, BakeResult

ENDINGS = (".bvh", ".fbx", ".glb", ".gltf", ".blend")
LONGEST_NAME = 120  # characters of a result's file name that tell where it comes from
PLAIN = " ()[],+=@!'"  # characters besides letters and digits that every system allows in a file's name


@dataclass(frozen=True)
class Source:
    """A file with motion."""

    path: Path
    relative: PurePosixPath  # to the folder that is cleaned

    @property
    def ending(self) -> str:
        """In lower case, with its dot."""
        return self.path.suffix.lower()

    def key(self, *asked: str) -> str:
        """A name for its content and for what is asked of it: where it is the same, what came of it is too."""
        with self.path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256")
        found.update("\0".join(asked).encode())
        return found.hexdigest()


@dataclass(frozen=True)
class Take:
    """One motion of a file: most have one."""

    source: Source
    name: str = ""  # among several; empty where there is but one

    @property
    def label(self) -> str:
        """As people are told of it."""
        return f"{self.source.relative} ▸ {self.name}" if self.name else str(self.source.relative)

    @property
    def job_name(self) -> str:
        """As files of results are named: one name for one take, whatever its folder is called."""
        whole = f"{self.source.relative}#{self.name}" if self.name else str(self.source.relative)
        name = quote(whole, safe=PLAIN)
        if len(name) <= LONGEST_NAME:
            return name
        return f"{name[:LONGEST_NAME]}-{hashlib.sha256(whole.encode()).hexdigest()[:12]}"


class Format(Protocol):
    """How clips of some kind of file are read and written; ValueError, in a sentence, where that cannot be."""

    def takes(self, path: Path) -> list[str]:
        """Names of its motions, one empty name where there is but one."""

    def job(self, path: Path, take: str) -> BakeJob:
        """A motion as a job, set up."""

    def write(self, path: Path, results: Mapping[str, BakeResult], target: Path) -> None:
        """Write the file anew with these motions in place of its own; those of other takes stay as they are."""


def find_sources(folder: Path, out: Path) -> list[Source]:
    """Files with motion in a folder and all within it, by their paths; what is in `out` or hidden is left out."""
    found = []
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and (here / name).resolve() != out.resolve()
        )
        for name in files:
            path = here / name
            if path.suffix.lower() in ENDINGS and not name.startswith("."):
                found.append(Source(path, PurePosixPath(path.relative_to(folder).as_posix())))
    return sorted(found, key=lambda source: source.relative)
