# SPDX-License-Identifier: GPL-3.0-or-later
"""What both command lines have in common: `heft …` after an installation with pip, and `blender --command heft …`.

Each adds what it alone understands. The exit status is 0 where everything went well, 3 where a character did not come
to the end of its motion, 1 on an error, 130 where the bake was interrupted.
"""

import argparse
import importlib.metadata
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from .batch import command as batch_command
from .batch.command import DONE, FAILED, FELL, INTERRUPTED
from .clean import command as clean_command

__all__ = ["DONE", "FAILED", "FELL", "INTERRUPTED", "Command", "Parsers", "make_parsers", "perform"]

Command = Callable[[argparse.Namespace], int]
"""Does what a command's words ask for, and returns the exit status."""
PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "osqp")
ROOT = Path(__file__).resolve().parents[1]


class Parsers(NamedTuple):
    """That of the whole line, and that of each command."""

    whole: argparse.ArgumentParser
    commands: Mapping[str, argparse.ArgumentParser]


def make_parsers(prog: str, source: str, result: str, unless: str, number: Callable[[str], float]) -> Parsers:
    """What both understand. A bake reads a file such as `source` and writes one such as `result`, or else `unless`.

    `number` reads a frame's.
    """
    whole = argparse.ArgumentParser(prog=prog, description="Gives keyframes weight.")
    rooms = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    about = {
        "bake": "simulate a file",
        "batch": "run every bake in a file",
        "clean": "make every clip of a folder possible",
        "demo": "bake a walk with a push and over a step: a file, a film strip, a film",
        "bench": "measure speed (needs a checkout of the source)",
        "replay": "repeat the failed steps of a trace",
        "prepare": "compile now what bakes need",
        "doctor": "check this computer and test the physics",
    }
    parsers = Parsers(whole, {name: rooms.add_parser(name, help=text) for name, text in about.items()})
    bake, demo, bench = (parsers.commands[name] for name in ("bake", "demo", "bench"))
    bake.add_argument("source", type=Path, metavar=source)
    bake.add_argument("--controller", metavar="NAME", help="the method, by its name in Python")
    bake.add_argument("--frames", type=range_of(number), metavar="A:B", help="first and last frame to simulate")
    bake.add_argument("--output", type=Path, metavar=result, help=f"where to save; by default {unless}")
    bake.add_argument("--report", type=Path, metavar="DIR", help="folder for a report page with plots")
    batch_command.add_arguments(parsers.commands["batch"])
    clean_command.add_arguments(parsers.commands["clean"])
    demo.add_argument("--output", type=Path, default=Path("out"), metavar="DIR", help="folder for the files")
    bench.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    bench.add_argument("--only", metavar="NAME", help="run only this benchmark")
    parsers.commands["replay"].add_argument(
        "trace", type=Path, metavar="TRACE", help="the trace: the file that HEFT_TRACE named"
    )
    return parsers


def range_of(number: Callable[[str], float]) -> Callable[[str], tuple[float, float]]:
    """What reads `A:B`."""

    def read(text: str) -> tuple[float, float]:
        first, colon, last = text.partition(":")
        try:
            found = number(first), number(last)
        except ValueError:
            colon = ""
        if not colon or not found[0] < found[1]:
            raise argparse.ArgumentTypeError(f"'{text}' is not a frame range: write it like 1:100")
        return found

    return read


def perform(commands: Mapping[str, Command], known: argparse.Namespace, troubles: tuple[type[Exception], ...]) -> int:
    """Do what the words ask for; the exit status. What is wrong outside, by its class, is said in a line."""
    try:
        return commands[known.command](known)
    except troubles as error:
        complain(str(error))
        return FAILED


def bench(known: argparse.Namespace) -> int:
    """Run the checkout's benchmarks, which compare with other engines and so are no part of what is installed."""
    if not (ROOT / "tools" / "bench.py").is_file():
        raise ValueError("The benchmarks are not installed: check out the source and run `python3 run.py bench` there.")
    options = [f"--{name}={value}" for name in ("json", "only") if (value := getattr(known, name)) is not None]
    return subprocess.run([sys.executable, "-m", "tools.bench", *options], cwd=ROOT, check=False).returncode


def there_is(path: Path) -> Path:
    """A file that is there."""
    if not path.is_file():
        raise ValueError(f"There is no file {path}: check its name.")
    return path


def versions(packages: Iterable[str]) -> list[str]:
    """Say the version of each package; those that are not there."""
    found = {name: version_of(name) for name in packages}
    for name, version in found.items():
        if version is not None:
            say(f"{name} {version}")
    return [name for name, version in found.items() if version is None]


def version_of(package: str) -> str | None:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Say in a line what is wrong."""
    sys.stderr.write(f"heft: {text}\n")
