# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py study [NAME]`: a long experiment, written down as a page of docs/studies; without a name, which there are.

`--old` lists the pages that are older than what they measure, with the rooms that have changed since; `--holds` tells
of those, or of one that is named, which hold all the same (`tools/holding.py`). `--only TEXT` finds of a study that
keeps its rows just those with TEXT in their names, and shows the page without writing it.

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
from tools.holding import holds
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
    """Run one study and write its page, whole or not at all; with what tells later whether it holds."""
    from heft.studies.lib.witnesses import told_by_bits

    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    study = importlib.import_module(f"heft.studies.{name}")
    witness = told_by_bits(name, study)  # first, for it takes seconds, and the rest perhaps hours
    page = "\n\n".join([study.study(folder).rstrip(), *witness])
    unfinished = folder / f".{name}.unfinished"
    unfinished.write_text(page + "\n", encoding="utf-8")
    unfinished.replace(folder / f"{name}.md")
    say(page)
    say(f"{name}.md  ({time.perf_counter() - start:.0f} s)")


def show(name: str, only: str) -> None:
    """Find those rows of a study that have this in their names; they stand there when it is run whole."""
    from heft.studies.lib.journal import Journal

    Journal.only = only
    with tempfile.TemporaryDirectory() as folder:
        say(importlib.import_module(f"heft.studies.{name}").study(Path(folder)))


def late_pages() -> dict[str, dict[str, int]]:
    """Pages that are older than what they measure, and how many modules of each room have changed since."""
    late = {name: changed_since(PAGES / f"{name}.md", measured(STUDIES / f"{name}.py")) for name in names()}
    return {name: rooms for name, rooms in late.items() if rooms}


def old() -> int:
    """List pages that are older than what they measure; how many."""
    late = late_pages()
    say(
        f"{len(late)} of {len(names())} studies are older than what they import. Modules changed since, and where most:"
    )
    for name, rooms in sorted(late.items(), key=lambda one: sum(one[1].values())):
        most = sorted(rooms, key=lambda room: -rooms[room])[:MOST_ROOMS]
        told = ", ".join(f"{room} {rooms[room]}" for room in most)
        say(f"{name}: {sum(rooms.values())} ({told}{', …' if len(rooms) > len(most) else ''})")
    return len(late)


def look_through(name: str | None) -> None:
    """Of one page, or of all that are older than what they measure, whether they hold."""
    from heft.studies.lib.witnesses import BITS, WITNESSES

    asked = [name] if name else list(late_pages())
    without = [one for one in asked if one not in {*WITNESSES, *BITS}]
    for one in asked:
        if one not in without:
            holds(one, PAGES, STUDIES / f"{one}.py")
    if without:
        say(f"Nothing tells quickly whether these hold: {', '.join(without)}. Run them anew.")


def main(arguments: list[str] | None = None) -> None:
    """List the studies or their old pages, or run the one that is named."""
    parser = argparse.ArgumentParser(prog="run.py study")
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME", help="one of the studies that are listed")
    parser.add_argument("--only", metavar="TEXT", help="only rows with this in their names; the page is not written")
    parser.add_argument("--old", action="store_true", help="list the pages that are older than what they measure")
    parser.add_argument("--holds", action="store_true", help="tell which old pages hold all the same, by some lines")
    asked = parser.parse_args(arguments)
    name = asked.name
    if asked.old:
        old()
        return
    if name is None and not asked.holds:
        longest = max(map(len, names()))
        for one in names():
            say(f"{one:{longest}}  {about(one)}")
        return
    sys.path.insert(0, str(ROOT))  # for the motions of the tests
    from heft.studies.lib.journal import end_processes

    try:
        if asked.holds:
            look_through(name)
        elif asked.only is None:
            run(name, PAGES)
        else:
            show(name, asked.only)
    finally:
        end_processes()


if __name__ == "__main__":
    leave_after(main)
