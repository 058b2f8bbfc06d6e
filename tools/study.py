# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py study NAME`: a long experiment, written down as a page of docs/studies.

A study is a module of tests/studies with `study(folder) -> str`: it returns the page in Markdown and may leave pictures
in the folder, whose names start with its own.
"""

import argparse
import importlib
import sys
import time

from tools.environment import ROOT, say

FOLDER = ROOT / "docs" / "studies"


def names() -> list[str]:
    """The studies that there are."""
    return sorted(path.stem for path in (ROOT / "tests" / "studies").glob("*.py") if path.stem != "__init__")


def main() -> None:
    """Run one study and write its page."""
    parser = argparse.ArgumentParser(prog="run.py study")
    parser.add_argument("name", choices=names(), metavar="NAME", help=", ".join(names()))
    name = parser.parse_args().name
    sys.path.insert(0, str(ROOT))
    FOLDER.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    page = importlib.import_module(f"tests.studies.{name}").study(FOLDER)
    # the page is written whole or not at all
    unfinished = FOLDER / f".{name}.unfinished"
    unfinished.write_text(page.rstrip() + "\n", encoding="utf-8")
    unfinished.replace(FOLDER / f"{name}.md")
    say(page)
    say(f"docs/studies/{name}.md  ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
