# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py study [NAME]`: a long experiment, written down as a page of docs/studies; without a name, which there are.

A study is a module of studies/ with `study(folder) -> str`: it returns the page in Markdown and may leave pictures in
the folder, whose names start with its own. What studies share is in studies/lib.
"""

import argparse
import ast
import importlib
import sys
import time
from pathlib import Path

from tools.environment import ROOT, say
from tools.leaving import leave_after

STUDIES = ROOT / "studies"
PAGES = ROOT / "docs" / "studies"


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


def main(arguments: list[str] | None = None) -> None:
    """List the studies, or run the one that is named."""
    parser = argparse.ArgumentParser(prog="run.py study")
    parser.add_argument("name", nargs="?", choices=names(), metavar="NAME", help="one of the studies that are listed")
    name = parser.parse_args(arguments).name
    if name is None:
        longest = max(map(len, names()))
        for one in names():
            say(f"{one:{longest}}  {about(one)}")
        return
    sys.path.insert(0, str(ROOT))  # for the motions of the tests
    run(name, PAGES)


if __name__ == "__main__":
    leave_after(main)
