# SPDX-License-Identifier: GPL-3.0-or-later
"""A batch file: its bakes by name, and the job of each, made on demand.

Everything is checked before anything runs; mistakes are reported with their line.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..job import BakeJob
from .document import Document, read_document
from .grid import MOST_BAKES, Bake, bakes_of
from .making import Maker
from .sources import SceneReader, Sources
from .words import TOP, check_table


class Plan(Mapping[str, BakeJob]):
    """The jobs of a batch file by name. Each is made when it is looked up, so that many take no memory."""

    def __init__(self, document: Document, scenes: SceneReader | None = None) -> None:
        """Check everything. `scenes` reads jobs from .blend files, if Blender is available."""
        check_table(document, (), document.values, TOP)
        self.folder = document.path.parent / str(document.values.get("output", document.path.stem))
        self._maker = Maker(document, Sources(document, scenes))
        self._bakes: dict[str, Bake] = {}
        folded: set[str] = set()  # names as case-insensitive file systems compare them
        for number, table in enumerate(document.values.get("bake", [])):
            for bake in bakes_of(document, ("bake", number), table):
                if bake.name.casefold() in folded:
                    raise document.mistake(
                        bake.place_of("name"), f"two bakes are named '{bake.name}': tell them apart by name = \"...\"."
                    )
                folded.add(bake.name.casefold())
                self._bakes[bake.name] = bake
                if len(self._bakes) > MOST_BAKES:
                    raise document.mistake(
                        bake.place, f"this makes more than {MOST_BAKES} bakes: vary less, or split the file."
                    )
        if not self._bakes:
            raise document.mistake((), "nothing to bake: add a [[bake]].")
        for bake in self._bakes.values():
            self._maker.make(bake)

    @classmethod
    def read(cls, path: Path, scenes: SceneReader | None = None) -> "Plan":
        """The plan of a file; ValueError with the line if it is invalid."""
        return cls(read_document(path), scenes)

    def __getitem__(self, name: str) -> BakeJob:
        """The job of that name, made now."""
        return self._maker.make(self._bakes[name])

    def __iter__(self) -> Iterator[str]:
        """Names, in the file's order."""
        return iter(self._bakes)

    def __len__(self) -> int:
        """How many bakes."""
        return len(self._bakes)

    def choice(self, name: str) -> Mapping[str, Any]:
        """The file's choices for a bake, by key."""
        return self._bakes[name].choice
