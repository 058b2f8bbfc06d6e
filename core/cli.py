# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft …`, after an installation with pip: bake saved jobs, run batches and benchmarks, and check the computer.

    heft bake JOB.heftjob [--controller NAME] [--frames A:B] [--seconds S] [--output OUT.heftresult] [--report DIR]
    heft batch JOBS.toml [--workers N] [--cluster ADDRESS] [--resume] [--list] [--cache DIR]
    heft clean FOLDER --out FOLDER [--rig auto] [--simulate] [--opensim] [--workers N] [--cluster ADDRESS] [--resume]
    heft bench [--json FILE] [--only NAME]
    heft demo [--output DIR]
    heft replay TRACE
    heft doctor

Blender itself bakes scenes, with the same command: `blender --command heft bake SCENE.blend`. A batch of them runs here
too if bpy is installed. The exit status is 0 on success, 3 if a character did not reach the end of its motion, 1 on an
error, and 130 if the bake was interrupted; the frames so far are then kept.
"""

import argparse
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Self

from . import command_line, rounding
from .batch import command as batch_command
from .clean import command as clean_command
from .command_line import DONE, FELL, INTERRUPTED, PACKAGES, ROOT, Parsers, say, there_is, version_of

OTHER_PACKAGES = ("bpy", "mujoco")  # good to have, not needed
PATIENCE = 60.0  # s until Blender has told which commands it knows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    known = make_parsers().whole.parse_args(words, argparse.Namespace(words=words))
    commands = {
        "bake": bake,
        "batch": batch,
        "clean": clean,
        "bench": command_line.bench,
        "demo": demo,
        "replay": replay,
        "prepare": prepare,
        "doctor": doctor,
    }
    return command_line.perform(commands, known, (ValueError, OSError))


def make_parsers() -> Parsers:
    """What this command line understands."""
    parsers = command_line.make_parsers("heft", "JOB.heftjob", "OUT.heftresult", "beside the job", float)
    bake = parsers.commands["bake"]
    bake.add_argument(
        "--seconds", type=float, metavar="S", help="how long to simulate, where the motion repeats or holds"
    )
    parsers.commands["prepare"].add_argument("methods", nargs="*", metavar="METHOD", help="the methods; by default all")
    bake.add_argument("--cache", type=Path, metavar="DIR", help="folder for references, to reuse them")
    return parsers


def bake(known: argparse.Namespace) -> int:
    """Run one job and save its result."""
    from .job import BakeJob, Progress, run

    if known.source.suffix == ".blend":
        raise ValueError(f"Blender bakes scenes itself: blender --command heft bake {known.source}")
    job = BakeJob.load(there_is(known.source))
    if known.controller is not None:
        job = replace(job, method=known.controller)
    if known.frames is not None:
        job = replace(job, frame_start=known.frames[0], frame_end=known.frames[1])
    if known.seconds is not None:
        job = replace(job, seconds=known.seconds)
    shown = _Shown()
    with _Interrupts() as interrupts:

        def tell(progress: Progress) -> bool:
            shown.update(progress.text, progress.whole)
            return not interrupts.seen

        result = run(job, tell, known.cache)
    shown.end()
    target = known.output or known.source.with_suffix(".heftresult")
    result.save(target)
    say(result.why)
    for note in result.report["notes"]:
        say(f"  {note}")
    say(f"Saved {target}")
    if known.report is not None:
        say(f"Report: {result.write_page(known.report)}")
    if interrupts.seen:
        return INTERRUPTED
    return DONE if result.outcome == "completed" else FELL


def batch(known: argparse.Namespace) -> int:
    """Run a batch file, through Blender if it has scenes."""
    if importlib.util.find_spec("bpy") is not None and batch_command.asks_for_scenes(known.jobs):
        return in_blender(known)
    return batch_command.batch(known)


def clean(known: argparse.Namespace) -> int:
    """Clean a folder, through Blender if it has what only that reads: as a module, or as a program with Heft in it."""
    if clean_command.asks_for_blender(known):
        if importlib.util.find_spec("bpy") is not None:
            return in_blender(known)
        program = blender_with_heft()
        if program is not None:
            return subprocess.run([program, "--command", "heft", *known.words], check=False).returncode
    return clean_command.clean(known, {})


def demo(known: argparse.Namespace) -> int:
    """Make the demo in a Python that has Blender as a module."""
    if importlib.util.find_spec("bpy") is None:
        raise ValueError(
            "The demo needs Blender: run blender --command heft demo, or install it here with pip install bpy"
        )
    return in_blender(known)


def prepare(known: argparse.Namespace) -> int:
    """Compile the kernels of some methods, or of all."""
    from .control.methods import METHODS
    from .worker import preparation

    unknown = [name for name in known.methods if name not in METHODS]
    if unknown:
        raise ValueError(f"There is no method '{unknown[0]}'; choose from {', '.join(METHODS)}.")
    shown = _Shown()

    def tell(method: str, share: float) -> None:
        shown.update(f"Compiling {METHODS[method].label}", share)

    for _ in preparation.prepare(known.methods or list(METHODS), tell):
        pass
    shown.end()
    say("Everything that these bakes need is compiled.")
    return DONE


def replay(known: argparse.Namespace) -> int:
    """Say what becomes of a trace's failed steps here."""
    from .simulation.replay import tell

    for line in tell(there_is(known.trace)):
        say(line)
    return DONE


def in_blender(known: argparse.Namespace) -> int:
    """Have Blender do it, where it is a module, in a process of its own: core knows no Blender."""
    return subprocess.run([sys.executable, "-m", "heft.blender_module", *known.words], check=False).returncode


def blender_with_heft() -> str | None:
    """The path of a Blender that knows Heft's command, if there is one where programs are looked for."""
    program = shutil.which("blender")
    if program is None:
        return None
    try:
        told = subprocess.run(
            [program, "--command", "help"], capture_output=True, text=True, check=False, timeout=PATIENCE
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if "heft" in told.split() else None


def doctor(_: argparse.Namespace) -> int:
    """What there is, whether it works, and how long the kernels take to be ready."""
    say(f"Python {platform.python_version()} on {platform.platform()}, {os.cpu_count() or 1} processors")
    missing = command_line.versions(PACKAGES)
    for name in OTHER_PACKAGES:
        say(f"{name} {version_of(name) or 'not installed (optional)'}")
    if missing:
        raise ValueError(f"Not found: {', '.join(missing)}. Install them with: pip install {' '.join(missing)}")
    from .cache import code_version
    from .worker.self_test import WHAT_TO_SEND, self_test

    say(f"heft {version_of('heft') or 'from a checkout'}, code {code_version()[:16]}, in {ROOT}")
    say(
        "To round like other processors, set: "
        + " ".join(f"{name}='{value}'" for name, value in rounding.VARIABLES.items())
    )
    say(f"Kernels: {os.environ.get('NUMBA_CACHE_DIR') or 'kept beside the source'}")
    say("Cache of references: in the folder of --cache; each batch has its own")
    say("Testing the physics; the first time it is compiled, which takes minutes …")
    say(self_test())
    say(WHAT_TO_SEND)
    return DONE


class _Interrupts:
    """In this context the first Ctrl-C is recorded instead of raised; the second is raised."""

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            signal.default_int_handler(number, frame)
        self.seen = True


class _Shown:
    """Progress: one line that counts up in a terminal, a line for each stage elsewhere."""

    def __init__(self) -> None:
        self._last = ""

    def update(self, text: str, share: float) -> None:
        """Show the progress."""
        line = f"{text}: {100.0 * share:.0f} %" if sys.stderr.isatty() else text
        if line != self._last:
            sys.stderr.write(f"\r{line:<60}" if sys.stderr.isatty() else f"{line}\n")
            sys.stderr.flush()
        self._last = line

    def end(self) -> None:
        """End the line."""
        if sys.stderr.isatty():
            sys.stderr.write("\n")


if __name__ == "__main__":
    sys.exit(main())
