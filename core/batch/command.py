# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft batch JOBS.toml`, shared by pip's command and Blender's."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .journal import Entry
    from .plan import Plan
    from .pool import Pool
    from .sources import SceneLoader

DONE, FAILED, FELL, INTERRUPTED = 0, 1, 3, 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heft batch`."""
    parser.add_argument("jobs", type=Path, metavar="JOBS.toml")
    add_workers(parser)
    parser.add_argument(
        "--resume", action="store_true", help="continue a batch that ended early: bake only what is missing"
    )
    parser.add_argument("--list", action="store_true", help="check the file and list its bakes")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder for references; beside the results")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where jobs are run."""
    parser.add_argument("--workers", type=count, metavar="N", help="processes on this machine; one for each processor")
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://farm:8786")


def count(text: str) -> int:
    """A positive whole number."""
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to 1024")
    return int(text)


def asks_for_scenes(path: Path) -> bool:
    """Whether the file needs Blender; an invalid one does not."""
    from .document import read_document

    try:
        tables = read_document(path).values.get("bake")
    except (ValueError, OSError):
        return False
    return isinstance(tables, list) and any(isinstance(table, dict) and "scene" in table for table in tables)


def batch(
    known: argparse.Namespace,
    scenes: "SceneLoader | None" = None,
    kernels: Path | None = None,
    finish: "Callable[[Plan, Mapping[str, Entry]], None] | None" = None,
) -> int:
    """Run the batch; the exit status is 0 if all reached the end of their motion, 3 if one fell, 1 if one failed.

    Blender passes a reader of its scenes, the folder of its kernels, and a function to call at the end.
    """
    from .plan import Plan
    from .running import run
    from .showing import Shown

    if not known.jobs.is_file():
        raise ValueError(f"There is no file {known.jobs}.")
    plan = Plan.read(known.jobs, scenes)
    if known.list:
        sys.stdout.writelines(f"{name}\n" for name in plan)
        return DONE
    shown = Shown(sys.stderr)
    try:
        entries = run(plan, plan.folder, pool(known, plan, kernels), resume=known.resume, progress=shown.update)
        shown.end()
        if finish is not None:
            finish(plan, entries)
    except KeyboardInterrupt:
        shown.end()
        sys.stderr.write(f"Interrupted. Finished bakes are in {plan.folder}; continue with --resume.\n")
        return INTERRUPTED
    return summed_up(plan, entries)


def pool(known: argparse.Namespace, plan: "Plan", kernels: Path | None) -> "Pool":
    """The pool that runs the jobs."""
    return make_pool(known, len(plan), known.cache or (None if known.cluster else plan.folder / "cache"), kernels)


def make_pool(known: argparse.Namespace, jobs: int, cache: Path | None, kernels: Path | None) -> "Pool":
    """The workers that the arguments ask for, for so many jobs; references are kept in `cache`, if there is one."""
    from .cluster import ClusterPool
    from .local import LocalPool, processors

    if known.cluster is not None:
        return ClusterPool(known.cluster, cache)
    return LocalPool(max(min(known.workers or processors(), jobs), 1), cache, kernels)


def summed_up(plan: "Plan", entries: "Mapping[str, Entry]") -> int:
    """Print a summary; the exit status."""
    outcomes = Counter(entry.outcome for entry in entries.values())
    for entry in entries.values():
        if entry.failed:
            sys.stdout.write(f"{entry.name} failed: {entry.why}\n")
    said = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common())
    sys.stdout.write(f"{len(entries)} bakes: {said}. The results are in {plan.folder}\n")
    if any(entry.failed for entry in entries.values()):
        return FAILED
    return DONE if set(outcomes) <= {"completed"} else FELL
