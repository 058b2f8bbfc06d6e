# SPDX-License-Identifier: GPL-3.0-or-later
"""What nobody runs every day, as studies and scripts for windows, still imports names that exist."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("studies", "research", "tests", "tools", "examples")
PACKAGE = "heft"  # which the checkout itself is
PLACED = {"tests/blender/toy": "core/control/toy"}  # where a test puts a folder


@cache
def file_of(module: str) -> Path | None:
    """The file of a module of ours; None where there is no such module, or it is somebody else's."""
    parts = module.split(".")
    place = ROOT.joinpath(*(parts[1:] if parts[0] == PACKAGE else parts))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in {PACKAGE, *ROOMS}


@cache
def names_in(path: Path) -> frozenset[str]:
    """Names that a module has once it was imported: whatever stands in it but inside its functions and classes."""
    found = set()
    waiting = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(name.asname or name.name).split(".")[0] for name in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        else:
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


def imports_of(path: Path, text: str) -> Iterator[tuple[int, str, str | None]]:
    """Line, module, and name of everything that a file imports from us."""
    folder = path.relative_to(ROOT).parent.as_posix()
    inside = [PACKAGE, *PLACED.get(folder, folder).split("/")]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, one.name, None) for one in node.names if is_ours(one.name))
        elif isinstance(node, ast.ImportFrom):
            above = inside[: len(inside) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if is_ours(module):
                yield from ((node.lineno, module, one.name) for one in node.names)


def missing(path: Path, text: str) -> list[str]:
    """In words, what a file of that text would import from us in vain."""
    found = []
    for line, module, name in imports_of(path, text):
        file = file_of(module)
        place = f"{path.relative_to(ROOT).as_posix()}:{line}: "
        # a folder without __init__.py is a package as well
        inside = file_of(f"{module}.{name}") is not None
        if file is None and not inside:
            found.append(f"{place}there is no {module}")
        elif file is not None and name is not None and name not in names_in(file) and not inside:
            found.append(f"{place}{module} has no {name}")
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_that_is_imported_exists(room):
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    assert [line for path in files for line in missing(path, path.read_text(encoding="utf-8"))] == []


def test_names_that_do_not_exist_are_found():
    text = "from heft.core.job import BakeJob, Bakery\nimport heft.core.jobs\nfrom .conftest import LINE, LINES\n"
    text += "from heft.core import job, jobs\nfrom tests.blender import alone, lonely\n"
    assert missing(ROOT / "tests" / "blender" / "test_it.py", text) == [
        "tests/blender/test_it.py:1: heft.core.job has no Bakery",
        "tests/blender/test_it.py:2: there is no heft.core.jobs",
        "tests/blender/test_it.py:3: heft.tests.blender.conftest has no LINES",
        "tests/blender/test_it.py:4: heft.core has no jobs",
        "tests/blender/test_it.py:5: there is no tests.blender",
    ]
