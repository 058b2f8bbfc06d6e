# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft …` where Heft was installed with pip: bake saved jobs, look at results, and say what this computer has.

    heft bake JOB.heftjob [--controller NAME] [--frames A:B] [--seconds S] [--output OUT.heftresult] [--report DIR]
    heft batch JOBS.toml [--workers N] [--cluster ADDRESS] [--resume] [--list] [--cache DIR]
    heft bench [--json FILE] [--only NAME]
    heft demo [--output DIR]
    heft doctor

Scenes of Blender are baked by Blender itself, with the same words: `blender --command heft bake SCENE.blend`. A batch
of them runs here too where bpy is installed.
The exit status is 0 where everything went well, 3 where a character did not come to the end of its motion, 1 on an
error, 130 where the bake was interrupted; then the frames so far are kept.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Self

from . import rounding
from .batch import command as batch_command
from .batch.command import DONE, FAILED, FELL, INTERRUPTED

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "osqp")
OTHER_PACKAGES = ("bpy", "mujoco")  # good to have, not needed
ROOT = Path(__file__).resolve().parents[1]
DEMO = "import sys, heft; heft.register(); from heft.examples import demo; demo.main(sys.argv[1]); heft.unregister()"
BLENDER = """
import sys, heft
heft.register()
from heft.blender_addon import commands
from heft.registration import make_demo
status = commands.run(sys.argv[1:], make_demo)
heft.unregister()
sys.exit(status)
"""
"""Blender's command where Blender is a module. Both are run by themselves: core knows no Blender."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    known = make_parser().parse_args(words, argparse.Namespace(words=words))
    try:
        if known.command == "doctor":
            return doctor()
        return {"bake": bake, "batch": batch, "bench": bench, "demo": demo, "prepare": prepare}[known.command](known)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"heft: {error}\n")
        return FAILED


def make_parser() -> argparse.ArgumentParser:
    """What the command line understands."""
    parser = argparse.ArgumentParser(prog="heft", description="Gives keyframes weight.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bake_command = commands.add_parser("bake", help="simulate a saved job")
    bake_command.add_argument("job", type=Path, metavar="JOB.heftjob")
    bake_command.add_argument("--controller", metavar="NAME", help="the method, such as lookahead")
    bake_command.add_argument("--frames", type=frame_range, metavar="A:B", help="first and last frame to simulate")
    bake_command.add_argument("--seconds", type=float, metavar="S", help="how long, where the motion repeats or ends")
    bake_command.add_argument("--output", type=Path, metavar="OUT.heftresult", help="beside the job if not given")
    bake_command.add_argument("--report", type=Path, metavar="DIR", help="a folder for a page with plots")
    bake_command.add_argument("--cache", type=Path, metavar="DIR", help="a folder in which references are kept")
    batch_command.add_arguments(commands.add_parser("batch", help="bake all that a file asks for"))
    bench_command = commands.add_parser("bench", help="measure speed, in a checkout of the source")
    bench_command.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    bench_command.add_argument("--only", metavar="NAME", help="only the benchmark of this name")
    demo_command = commands.add_parser("demo", help="bake a walk with a push and over a step, where bpy is installed")
    demo_command.add_argument("--output", type=Path, default=Path("out"), metavar="DIR", help="a folder for the files")
    prepare_command = commands.add_parser("prepare", help="compile now what bakes will need")
    prepare_command.add_argument("methods", nargs="*", metavar="METHOD", help="of control; all unless given")
    commands.add_parser("doctor", help="say what Heft finds on this computer, and try it")
    return parser


def frame_range(text: str) -> tuple[float, float]:
    """What `A:B` says."""
    first, colon, last = text.partition(":")
    try:
        found = float(first), float(last)
    except ValueError:
        colon = ""
    if not colon or not found[0] < found[1]:
        raise argparse.ArgumentTypeError(f"'{text}' is no range of frames such as 1:100")
    return found


def bake(known: argparse.Namespace) -> int:
    """Run one job and keep its result."""
    from .job import BakeJob, Progress, run

    if known.job.suffix == ".blend":
        raise ValueError(f"Blender bakes scenes itself: blender --command heft bake {known.job}")
    if not known.job.is_file():
        raise ValueError(f"There is no file {known.job}.")
    job = BakeJob.load(known.job)
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
    target = known.output or known.job.with_suffix(".heftresult")
    result.save(target)
    _say(result.why)
    for note in result.report["notes"]:
        _say(f"  {note}")
    _say(f"Saved {target}")
    if known.report is not None:
        _say(f"Report: {result.write_page(known.report)}")
    if interrupts.seen:
        return INTERRUPTED
    return DONE if result.outcome == "completed" else FELL


def batch(known: argparse.Namespace) -> int:
    """Bake all that a file asks for, with Blender's help if it asks for scenes."""
    if importlib.util.find_spec("bpy") is not None and batch_command.asks_for_scenes(known.jobs):
        return subprocess.run([sys.executable, "-c", BLENDER, *known.words], check=False).returncode
    return batch_command.batch(known)


def bench(known: argparse.Namespace) -> int:
    """Run the checkout's benchmarks, which compare with other engines and so are no part of the installed package."""
    if not (ROOT / "tools" / "bench.py").is_file():
        raise ValueError("The benchmarks come with the source: get a checkout and run `python3 run.py bench` in it.")
    options = [f"--{name}={value}" for name in ("json", "only") if (value := getattr(known, name)) is not None]
    done = subprocess.run([sys.executable, "-m", "tools.bench", *options], cwd=ROOT, check=False)
    return done.returncode


def demo(known: argparse.Namespace) -> int:
    """Make the demo in a Python that has Blender as a module."""
    if importlib.util.find_spec("bpy") is None:
        raise ValueError("Blender makes the demo: blender --command heft demo, or install it here: pip install bpy")
    return subprocess.run([sys.executable, "-c", DEMO, str(known.output)], check=False).returncode


def prepare(known: argparse.Namespace) -> int:
    """Compile the kernels of some methods, or of all."""
    from .job.methods import METHODS
    from .worker import preparation

    unknown = [name for name in known.methods if name not in METHODS]
    if unknown:
        raise ValueError(f"There is no method '{unknown[0]}'; there are {', '.join(METHODS)}.")
    shown = _Shown()

    def tell(method: str, share: float) -> None:
        shown.update(f"Compiling {METHODS[method].label}", share)

    for _ in preparation.prepare(known.methods or list(METHODS), tell):
        pass
    shown.end()
    _say("All that these bakes need is compiled.")
    return DONE


def doctor() -> int:
    """What there is, whether it works, and how long the kernels take to be ready."""
    _say(f"Python {platform.python_version()} on {platform.platform()}, {os.cpu_count() or 1} processors")
    missing = []
    for name in PACKAGES:
        version = _version(name)
        if version is None:
            missing.append(name)
        else:
            _say(f"{name} {version}")
    for name in OTHER_PACKAGES:
        _say(f"{name} {_version(name) or 'not there, and not needed'}")
    if missing:
        raise ValueError(f"Not found: {', '.join(missing)}. Install them with: pip install {' '.join(missing)}")
    from .job.cache import code_version
    from .worker.self_test import WHAT_TO_SEND, self_test

    _say(f"heft {_version('heft') or 'from a checkout'}, code {code_version()[:16]}, in {ROOT}")
    _say(
        "To round as other processors do: "
        + " ".join(f"{name}='{value}'" for name, value in rounding.VARIABLES.items())
    )
    _say(f"Kernels: {os.environ.get('NUMBA_CACHE_DIR') or 'kept beside the source'}")
    _say("Cache of references: where --cache says; a batch has its own")
    _say("Trying the physics; the first time it is compiled, which takes minutes …")
    _say(self_test())
    _say(WHAT_TO_SEND)
    return DONE


class _Interrupts:
    """While it is entered, Ctrl-C is noted instead of raised; a second one is raised all the same."""

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
    """One line that counts up on a terminal, a line for each stage elsewhere."""

    def __init__(self) -> None:
        self._last = ""

    def update(self, text: str, share: float) -> None:
        """Show where the run is."""
        line = f"{text}: {100.0 * share:.0f} %" if sys.stderr.isatty() else text
        if line != self._last:
            sys.stderr.write(f"\r{line:<60}" if sys.stderr.isatty() else f"{line}\n")
            sys.stderr.flush()
        self._last = line

    def end(self) -> None:
        """Leave the line."""
        if sys.stderr.isatty():
            sys.stderr.write("\n")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
