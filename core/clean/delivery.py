# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written of a file: the clip, and in a folder beside, for each of its motions, arrays and the character.

The stamp comes last, with the rows of the table. A file with a stamp of its key is done, however a run ended.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..character.urdf import to_urdf
from ..files import write_whole
from ..job import BakeJob, BakeResult
from .arrays import arrays_of, pack_arrays
from .opensim import ground_forces, joint_torques, markers
from .rows import Row
from .sources import PLAIN, Source, Take

DATA = "heft"  # folder for all that is no clip
STAMP, ARRAYS, MUJOCO, URDF = ".done.json", ".npz", ".mjcf.xml", ".urdf"
FORCES, TORQUES, MARKERS = ".forces.mot", ".torques.sto", ".joints.trc"  # for OpenSim


@dataclass(frozen=True)
class Out:
    """The folder that is written to."""

    folder: Path

    @property
    def data(self) -> Path:
        """For all that is no clip."""
        return self.folder / DATA

    def clip(self, source: Source) -> Path:
        """A cleaned clip, where its source is in the other folder."""
        return self.folder / source.relative

    def beside(self, take: Take, ending: str) -> Path:
        """A file about a motion."""
        return self.data / source_folder(take.source) / f"{_file_name(take)}{ending}"

    def folders(self, source: Source) -> tuple[Path, ...]:
        """All that are written to for a file."""
        return self.folder, self.clip(source).parent, self.stamp(source).parent

    def stamp(self, source: Source) -> Path:
        """What says that a file is done."""
        return self.data / source_folder(source) / f"{source.path.name}{STAMP}"

    def rows(self, source: Source, key: str) -> list[Row] | None:
        """The rows of a file that is done as it is now, and of which nothing is gone."""
        try:
            said = json.loads(self.stamp(source).read_bytes())
        except (OSError, ValueError):
            return None
        known = isinstance(said, dict) and said.get("key") == key and self.clip(source).is_file()
        return list(said["rows"]) if known else None

    def deliver(self, take: Take, job: BakeJob, result: BakeResult, *, opensim: bool = False) -> None:
        """Write what goes beside the clip."""
        self.beside(take, ARRAYS).parent.mkdir(parents=True, exist_ok=True)
        assert result.dynamics is not None
        character = result.dynamics.character
        write_whole(self.beside(take, MUJOCO), character.to_mjcf().encode())
        write_whole(self.beside(take, URDF), to_urdf(character).encode())
        arrays = arrays_of(job, result)
        write_whole(self.beside(take, ARRAYS), pack_arrays(arrays))
        if opensim:
            write_whole(self.beside(take, FORCES), ground_forces(arrays).encode())
            write_whole(self.beside(take, TORQUES), joint_torques(arrays).encode())
            place = self.beside(take, MARKERS)
            write_whole(place, markers(arrays, place.name).encode())

    def finish(self, source: Source, key: str, rows: Sequence[Row]) -> None:
        """Say that a file is done."""
        self.stamp(source).parent.mkdir(parents=True, exist_ok=True)
        said: Mapping[str, object] = {"key": key, "rows": list(rows)}
        write_whole(self.stamp(source), json.dumps(said, indent=1, ensure_ascii=False, allow_nan=False).encode())


def source_folder(source: Source) -> Path:
    """The folder that a source is in, below the folder that is cleaned."""
    return Path(*source.relative.parent.parts)


def _file_name(take: Take) -> str:
    """A file's name, and which of its motions where it has several."""
    return take.source.path.name + (f".{quote(take.name, safe=PLAIN)}" if take.name else "")
