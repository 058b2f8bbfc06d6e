# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py study --holds [NAME]`: which pages of studies still hold though the code is newer, by a few of their lines.

Most changes of code alter nothing that a page says, and a study may take hours. So some quick lines of a page are
found anew (`studies/lib/witnesses.py`). Where each stands in the page to the last figure, the page says so in its last
line, and by its commit is as new as the code. This is a sample: a page whose lines differ is to be run anew, and so is
one whose study has been changed itself, for it may lack a part.
"""

import ast
import importlib
from pathlib import Path

from tools.environment import ROOT, say
from tools.measured import git, last_commit

MARK = "*Found anew and alike with the code of "


def holds(name: str, pages: Path, study: Path) -> bool:
    """Look through one page; what is said of it, and written in it."""
    from heft.studies.lib.witnesses import witness

    page = pages / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    lines = witness(name, importlib.import_module(f"heft.studies.{name}"))
    differ = unlike(text, lines)
    if differ:
        say("\n  ".join([f"{name}: run it anew. Not in its page:", *differ]))
        return False
    if is_another(study, last_commit(page)):
        say(f"{name}: found alike, {len(lines)} of them, but the study itself has changed: run it anew.")
        return False
    page.write_text(marked(text, len(lines), git("rev-parse", "--short", "HEAD")), encoding="utf-8")
    say(f"{name}: holds, by {len(lines)} of its lines.")
    return True


def unlike(page: str, found: list[str]) -> list[str]:
    """Of some lines, or their beginnings, those that are in no line of a page."""
    if not found:
        raise ValueError("There are no lines to look for.")
    stand = page.split("\n")
    return [one for one in found if not any(line.startswith(one.strip()) for line in stand)]


def marked(page: str, lines: int, commit: str) -> str:
    """A page that says in its last line that it holds."""
    text = page.partition(f"\n{MARK}")[0].rstrip()
    return f"{text}\n\n{MARK}{commit}: {lines} of its lines, by `run.py study --holds`.*\n"


def is_another(study: Path, commit: str) -> bool:
    """Whether a study does other things than at a commit: imports and comments aside."""
    before = git("show", f"{commit}:{study.relative_to(ROOT).as_posix()}")
    return acts(before) != acts(study.read_text(encoding="utf-8"))


def acts(source: str) -> list[str]:
    """What a module does, but for its imports."""
    nodes = ast.parse(source).body
    return [ast.dump(node) for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom)]
