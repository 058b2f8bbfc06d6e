# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft clean FOLDER --out FOLDER`, shared by pip's command and Blender's."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..batch.command import DONE, FAILED, FELL, INTERRUPTED, add_workers, make_pool

if TYPE_CHECKING:
    from ..job import BakeJob, BakeResult
    from .cleaning import Cleaning
    from .rows import Row
    from .sources import Format

AUTO = "auto"
NEEDS_BLENDER = (
    "only Blender reads {ending} files: run blender --command heft clean, or install Blender for Python with "
    "pip install bpy."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heft clean`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="clips: BVH, FBX, glTF and .blend files")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where cleaned clips are written")
    parser.add_argument("--rig", choices=[AUTO], default=AUTO, help="how bones are told apart: by name and by shape")
    parser.add_argument("--simulate", action="store_true", help="also simulate each clip, and write what comes of that")
    parser.add_argument("--opensim", action="store_true", help="also write forces, torques and joints for OpenSim")
    add_workers(parser)
    parser.add_argument("--resume", action="store_true", help="continue a run that ended early")


def asks_for_blender(known: argparse.Namespace) -> bool:
    """Whether the folder has files that only Blender reads."""
    from .sources import find_sources

    return any(source.ending != ".bvh" for source in find_sources(known.folder, known.out))


def clean(known: argparse.Namespace, formats: "Mapping[str, Format]", kernels: Path | None = None) -> int:
    """Clean a folder; the exit status is 0 if all went well, 1 if a clip failed, 3 if one fell.

    Blender passes the formats that it reads, by their endings, and the folder of its kernels.
    """
    from ..batch.showing import Shown
    from .bvh import Bvh
    from .cleaning import Asked, Cleaning
    from .sources import ENDINGS

    usual: Mapping[str, Format] = {ending: Absent(ending) for ending in ENDINGS}
    cleaning = Cleaning(
        known.folder, known.out, {**usual, ".bvh": Bvh(), **formats}, Asked(known.simulate, known.opensim)
    )
    shown = Shown(sys.stderr, cleaning.label)
    try:
        cleaning.run(make_pool(known, len(cleaning), None, kernels), shown.update, resume=known.resume)
        shown.end()
    except KeyboardInterrupt:
        shown.end()
        sys.stderr.write(f"Interrupted. Finished clips are in {known.out}; continue with --resume.\n")
        return INTERRUPTED
    write_tables(cleaning, known.folder.resolve().name)
    return summed_up(cleaning.rows, known.out)


def write_tables(cleaning: "Cleaning", title: str) -> None:
    """Write the table in its three forms, with film strips of the worst clips."""
    from ..files import write_whole
    from .delivery import ARRAYS
    from .page import PAGE, WORST, page
    from .rows import worst_of
    from .sources import Take
    from .strips import strip_of
    from .table import CSV, JSON, to_csv, to_json

    rows, out = cleaning.rows, cleaning.out
    sources = {str(source.relative): source for source in cleaning.sources}
    strips = {}
    for row in worst_of(rows, WORST):
        path = out.beside(Take(sources[row["file"]], row["take"]), ARRAYS)
        strips[row["file"], row["take"]] = strip_of(path)
    write_whole(out.folder / CSV, to_csv(rows))
    write_whole(out.folder / JSON, to_json(rows))
    write_whole(out.folder / PAGE, page(title, rows, strips).encode())


def summed_up(rows: "list[Row]", out: Path) -> int:
    """Print a summary; the exit status."""
    from .page import PAGE
    from .rows import CLEANED
    from .rows import FAILED as UNCLEANED

    outcomes = Counter(str(row["outcome"]) for row in rows)
    for row in rows:
        if row["outcome"] == UNCLEANED:
            sys.stdout.write(f"{row['file']} failed: {row['why']}\n")
    said = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    sys.stdout.write(f"{len(rows)} clips: {said}. Look at {out / PAGE}\n")
    if outcomes[UNCLEANED]:
        return FAILED
    return DONE if set(outcomes) <= {CLEANED} else FELL


class Absent:
    """A format that nothing here reads."""

    def __init__(self, ending: str) -> None:
        self._why = NEEDS_BLENDER.format(ending=ending)

    def takes(self, path: Path) -> list[str]:
        """Say so."""
        raise ValueError(f"{path.name}: {self._why}")

    def job(self, path: Path, take: str) -> "BakeJob":
        """Say so too."""
        raise ValueError(f"{path.name}, {take}: {self._why}")

    def write(self, path: Path, results: "Mapping[str, BakeResult]", target: Path) -> None:
        """And here."""
        raise ValueError(f"{len(results)} motions of {path.name} cannot be written to {target.name}: {self._why}")
