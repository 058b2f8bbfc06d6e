#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heft's one command for developers. It needs a Python and git, and makes everything else by itself.

    python3 run.py demo            the mannequin's walk, keyed and simulated, as .blend, film strip and mp4, in out/
    python3 run.py test [ARGS…]    the tests; ARGS go to pytest
    python3 run.py check           style, types, the arrows between layers, manifest, documentation
    python3 run.py build           the extension's zips in dist/
    python3 run.py bench           the benchmarks, as a table or with --json FILE
    python3 run.py study [NAME]    a long experiment, written down in docs/studies/; without a name, a list of them;
                                   with --old, those whose pages are older than the code that they measure, and
                                   with --holds, which of these still hold
    python3 run.py gallery [NAME…] the gallery's scenes: .blend files in out/gallery, films in docs/pictures/gallery
    python3 run.py pictures        which of the manual's pictures are older than the code that they show
    python3 run.py lock            resolve the dependencies anew into locks/
    python3 run.py made            pages, tables and presets that are made from the source
    python3 run.py site            the manual as a site, in site/
    python3 run.py tool NAME …     a program of the environment, such as ruff or typos

Each makes the environment of one Blender line in .venv/ first (4.5 with Python 3.11, 5.2 with Python 3.13). Without
--blender it takes the line of the Python it was started with, or else the newest whose Python is on the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import bare, environment

DOING = {"check": "Checking", "test": "Testing"}  # by command; on several lines too


def parse_arguments(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The command line's values; what `test` does not know itself is left for pytest."""
    parser = argparse.ArgumentParser(
        prog="run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    lines = list(environment.PYTHON_OF_BLENDER)
    for name in (
        "demo",
        "test",
        "check",
        "build",
        "bench",
        "study",
        "gallery",
        "pictures",
        "lock",
        "made",
        "site",
        "tool",
    ):
        command = commands.add_parser(name)
        choices = [*lines, "all"] if name in ("check", "test") else lines
        command.add_argument("--blender", choices=choices, help="the Blender line whose environment is used")
        if name == "demo":
            command.add_argument("--output", default="out", help="folder for the .blend and the pictures")
        if name == "build":
            command.add_argument("--bare", action="store_true", help="one zip without wheels, made at once")
            command.add_argument("--platform", help="only this platform, such as linux-x64")
        if name == "study":
            command.add_argument("name", nargs="?", metavar="NAME", help="one of those that are listed without it")
            command.add_argument("--only", metavar="TEXT", help="only rows with this in their names")
            command.add_argument("--old", action="store_true", help="which pages are older than what they measure")
            command.add_argument("--holds", action="store_true", help="which old pages hold all the same")
        if name == "gallery":
            command.add_argument("names", nargs="*", metavar="NAME", help="only these scenes")
            command.add_argument("--films", metavar="FOLDER", help="folder for the films")
        if name == "tool":
            command.add_argument("name", metavar="NAME", help="such as ruff, typos or pre-commit")
            command.add_argument("arguments", nargs=argparse.REMAINDER, help="what goes to it")
        if name == "bench":
            command.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
            command.add_argument("--only", metavar="NAME", help="only the benchmark module of this name")
    known, rest = parser.parse_known_args(arguments)
    if rest and known.command != "test":
        parser.error("unknown argument: " + " ".join(rest))
    return known, rest


def command_line(known: argparse.Namespace, rest: list[str], python: Path) -> list[str]:
    """What to run, with the environment's Python or beside it."""
    if known.command == "tool":
        return [str(python.with_name(known.name)), *known.arguments]
    return [str(python), *arguments_of_python(known, rest)]


def arguments_of_python(known: argparse.Namespace, rest: list[str]) -> list[str]:
    """What follows the Python's own name."""
    if known.command == "demo":
        return ["-m", "heft.core.cli", "demo", "--output", known.output]
    if known.command == "test":
        return ["-m", "pytest", *rest]
    if known.command == "site":
        return ["-m", "mkdocs", "build", "--strict"]
    options = {
        "build": ("platform",),
        "bench": ("json", "only"),
        "gallery": ("films",),
        "study": ("only", "old", "holds"),
    }.get(known.command, ())
    line = ["-m", "tools." + known.command]
    if known.command == "study" and known.name:
        line.append(known.name)
    if known.command == "gallery":
        line += known.names
    for option in options:
        value = getattr(known, option)
        if value:
            line += ["--" + option] + ([] if value is True else [value])
    return line


def main(arguments: list[str]) -> int:
    """Run the command in every environment it asks for; the exit status is the first one that failed."""
    known, rest = parse_arguments(arguments)
    if known.command == "build" and known.bare:  # needs no environment
        bare.build_bare()
        return 0
    pythons = {line: environment.ensure(line) for line in environment.chosen_lines(known.blender)}
    failed = 0
    with contextlib.ExitStack() as stack:
        # Several lines run side by side: one shows what it does as it goes, each other when its turn comes.
        running = []
        for line, python in pythons.items():
            if known.command == "tool" and not shutil.which(str(python.with_name(known.name))):
                raise environment.Trouble(f"there is no program '{known.name}' in the environment")
            output = stack.enter_context(tempfile.TemporaryFile()) if running else None
            process = subprocess.Popen(
                command_line(known, rest, python),
                stdout=output,
                stderr=output and subprocess.STDOUT,
                cwd=str(environment.ROOT),
                env=environment.variables(line),
            )
            running.append((line, stack.enter_context(process), output))
        for line, process, output in running:
            if known.command in DOING:
                version = environment.PYTHON_OF_BLENDER[line]
                environment.say(f"{DOING[known.command]} on Blender {line} (Python {version})")
            process.wait()
            if output:
                output.seek(0)
                shutil.copyfileobj(output, sys.stdout.buffer)
                sys.stdout.flush()
            failed = failed or process.returncode
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except environment.Trouble as trouble:
        sys.exit(f"run.py: {trouble}")
    except KeyboardInterrupt:
        sys.exit("run.py: interrupted")
