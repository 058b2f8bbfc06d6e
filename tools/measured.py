# SPDX-License-Identifier: GPL-3.0-or-later
"""What a study measures, by what it imports; and which pages of studies are older than that, by the commits of both.

A module that a study imports is measured, of a package all that is in it: who imports `heft.core`, to bake, measures
all of it. What studies and tests share is looked through for what it imports in turn.
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.environment import ROOT

SHARED = ("studies", "tests")  # helpers, not what is measured
NOT_MEASURED = ("tools",)


def imported(source: str, root: Path = ROOT) -> Iterator[Path]:
    """Files and folders of the checkout that a source imports: of a package's names those that are modules, or all."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            within = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if place(name, root) else node.module for name in within]
        yield from filter(None, (place(name, root) for name in names))


def place(module: str, root: Path = ROOT) -> Path | None:
    """The file or the package's folder of a module of the checkout."""
    parts = module.split(".")
    found = root.joinpath(*(parts[1:] if parts[0] == "heft" else parts))
    if found.with_suffix(".py").is_file():
        return found.with_suffix(".py")
    return found if found != root and (found / "__init__.py").is_file() else None


def measured(study: Path, root: Path = ROOT) -> list[Path]:
    """Files and folders that a study measures, the study itself among them."""
    seen: set[Path] = set()
    waiting = [study]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if path.is_file() and _room(path, root) in SHARED:
            others = imported(path.read_text(encoding="utf-8"), root)
            waiting += [other for other in others if _room(other, root) not in NOT_MEASURED]
    inner = {path for path in seen if any(path != other and path.is_relative_to(other) for other in seen)}
    return sorted(seen - inner)


def changed_since(page: Path, paths: list[Path]) -> dict[str, int]:
    """How many modules of each room were changed by commits after the page's last; none where it has none yet."""
    commit = last_commit(page)
    if not commit:
        return {}
    lines = git("diff", "--name-only", commit, "HEAD", "--", *map(str, paths)).split("\n")
    rooms = [str(Path(line).parent) for line in lines if line.endswith(".py")]
    return {room: rooms.count(room) for room in sorted(set(rooms))}


def last_commit(page: Path) -> str:
    """The last one that changed a page; nothing where none did."""
    return git("log", "-1", "--format=%H", "--", str(page))


def _room(path: Path, root: Path) -> str:
    return path.relative_to(root).parts[0]


def git(*arguments: str) -> str:
    """What git says of the checkout."""
    line = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
