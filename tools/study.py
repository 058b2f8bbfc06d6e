# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py study [NAME]`: a long experiment, written down as a page of docs/studies; without a name, which there are.

`--old` lists the pages that are older than what they measure, with the rooms that have changed since. `--only TEXT`
finds of a study that keeps its rows just those with TEXT in their names, and shows the page without writing it.

A study is a module of studies/ with `study(folder) -> str`: it returns the page in Markdown and may leave pictures in
the folder, whose names start with its own. What studies share is in studies/lib.
"""

import argparse
import ast
import importlib
import sys
import tempfile
import time
from pathlib import Path

from tools.environment import ROOT, say
from tools.leaving import leave_after
from tools.measured import changed_since, measured

STUDIES = ROOT / "studies"
PAGES = ROOT / "docs" / "studies"
MOST_ROOMS = 6  # that a line names


def names() -> list[str]:
    """The studies that there are."""
    return sorted(path.stem for path in STUDIES.glob("*.py") if path.stem != "__init__")


def about(name: str) -> str:
    """What a study says of itself in the first line of its docstring; it is not imported for that."""
    source = ast.parse((STUDIES / f"{name}.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(source) or "").partition("\n")[0]


def run(name: str, folder: Path) -> None:
    """Run one study and write its page, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    page = importlib.import_module(f"heft.studies.{name}").study(folder)
    unfinished = folder / f".{name}.unfinished"
    unfinished.write_text(page.rstrip() + "\n", encoding="utf-8")
    unfinished.replace(folder / f"{name}.md")
    say(page)
    say(f"{name}.md  ({time.perf_counter() - start:.0f} s)")


def show(name: str, only: str) -> None:
    """Find those rows of a study that have this in their names; they stand there when it is run whole."""
    from heft.studies.lib.journal import Journal

    Journal.only = only
    with tempfile.TemporaryDirectory() as folder:
        say(importlib.import_module(f"heft.studies.{name}").study(Path(folder)))


def old() -> int:
    """List pages that are older than what they measure; how many."""
    late = {name: changed_since(PAGES / f"{name}.md", measured(STUDIES / f"{name}.py")) for name in names()}
    late = {name: rooms for name, rooms in late.items() if rooms}
    say(
        f"{len(late)} of {len(names())} studies are older than what they import. Modules changed since, and where most:"
    )
    for name, rooms in sorted(late.items(), key=lambda one: sum(one[1].values())):
        most = sorted(rooms, key=lambda room: -rooms[room])[:MOST_ROOMS]
        told = ", ".join(f"{room} {rooms[room]}" for room in most)
        say(f"{name}: {sum(rooms.values())} ({told}{', …' if len(rooms) > len(most) else ''})")
    return len(late)


def main(arguments: list[str] | None = None) -> None:
    """List the studies or their old pages, or run the one that is named."""
    parser = argparse.ArgumentParser(prog="run.py study")
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME", help="one of the studies that are listed")
    parser.add_argument("--only", metavar="TEXT", help="only rows with this in their names; the page is not written")
    parser.add_argument("--old", action="store_true", help="list the pages that are older than what they measure")
    asked = parser.parse_args(arguments)
    name = asked.name
    if asked.old:
        old()
        return
    if name is None:
        longest = max(map(len, names()))
        for one in names():
            say(f"{one:{longest}}  {about(one)}")
        return
    sys.path.insert(0, str(ROOT))  # for the motions of the tests
    from heft.studies.lib.journal import end_processes

    try:
        if asked.only is None:
            run(name, PAGES)
        else:
            show(name, asked.only)
    finally:
        end_processes()


if __name__ == "__main__":
    leave_after(main)
