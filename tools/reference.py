# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of what scripts may use: `heft.core` by its docstrings, and Blender's operators by their own texts.

What is told comes from the source, so that it reads the same on every Python.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.environment import ROOT

FOLDER = Path("docs") / "reference"
NEXT, NEXT_QUOTED = "\n", "\n> "
BEGIN = """# heft.core

All that `from heft import core` offers, by its own docstrings. [From Python](../python.md) shows how it goes together.
Lengths are in metres, angles in radians, forces in newtons; Z is up.
"""
OPERATORS = """# Operators

What Heft's buttons do from a script: `bpy.ops.heft.bake()`. Settings are on the armature object; the pages of the
panels name them, from [Bake](../panels/bake.md) on. In background mode `bake()` returns when all is done.
"""


def core() -> str:
    """The page of `heft.core`."""
    from heft import core as offered

    kinds: dict[str, list[str]] = {"Classes": [], "Functions": []}
    for name in sorted(offered.__all__, key=str.lower):
        one = getattr(offered, name)
        if inspect.isclass(one):
            kinds["Classes"].append(of_class(name, one))
        elif callable(one):
            kinds["Functions"].append(of_function(name, _source(inspect.unwrap(one))))
    return BEGIN + "".join(f"\n## {kind}\n{''.join(parts)}" for kind, parts in kinds.items())


def of_class(name: str, kind: type) -> str:
    """A class: what it is, what it is made of, what it does."""
    tree = _source(kind)
    text = f"\n### {name}\n\n{_doc(tree)}\n"
    fields, enumerated = list(_fields(kind)), [f"`{value}`" for value in getattr(kind, "__members__", ())]
    if enumerated:
        text += f"\nOne of {', '.join(enumerated)}.\n"
    if fields:
        text += "\n| field | type | |\n|---|---|---|\n" + "".join(fields)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
            called = node.name if marks & {"property", "cached_property"} else _call(node)
            text += f"\n`{name}.{called}`\n\n> {_doc(node).replace(NEXT, NEXT_QUOTED)}\n"
    return text


def of_function(name: str, node: Any) -> str:
    """A function: how it is called, and what it does."""
    return f"\n### {name}\n\n`{_call(node)}`\n\n{_doc(node)}\n"


def operators() -> str:
    """The page of Blender's operators."""
    found: list[str] = []
    for path in sorted((ROOT / "operators").glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        kinds = [node for node in body if isinstance(node, ast.ClassDef) and "bl_idname" in _given(node)]
        found += map(of_operator, kinds)
    return OPERATORS + "".join(sorted(found))


def of_operator(node: ast.ClassDef) -> str:
    """An operator: its name, and what it may be given."""
    given = _given(node)
    name = ast.literal_eval(given["bl_idname"]).removeprefix("heft.")
    text = f"\n## heft.{name}\n\n{_doc(node)}.\n"
    rows = [_row(one) for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.annotation, ast.Call)]
    return text + ("\n| option | | |\n|---|---|---|\n" + "".join(rows) if rows else "")


def _row(node: ast.AnnAssign) -> str:
    words = {word.arg: word.value for word in node.annotation.keywords}  # type: ignore[attr-defined]
    default = ast.unparse(words["default"]) if "default" in words else ""
    tip = words.get("description")
    said = ast.literal_eval(tip) if tip is not None else ""
    return f"| `{ast.unparse(node.target)}` | {f'`{default}`' if default else ''} | {said} |\n"


def _given(node: ast.ClassDef) -> dict[str, ast.expr]:
    """What a class says of itself, by name."""
    found = [one for one in node.body if isinstance(one, ast.Assign)]
    return {one.targets[0].id: one.value for one in found if isinstance(one.targets[0], ast.Name)}


def _source(one: Any) -> Any:
    """The tree of its definition."""
    lines, _ = inspect.getsourcelines(one)
    text = inspect.cleandoc("".join(lines)) if lines[0][:1].isspace() else "".join(lines)
    return ast.parse(text).body[0]


def _fields(kind: type) -> Iterator[str]:
    """Rows of the annotated fields, with the comments beside them."""
    lines = inspect.getsource(kind).splitlines()
    for node in _source(kind).body:
        if isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            comment = lines[node.end_lineno - 1].partition("  # ")[2]
            default = f" = {ast.unparse(node.value)}" if node.value is not None else ""
            kind_of = f"`{ast.unparse(node.annotation)}{default}`".replace("|", "\\|")
            yield f"| `{node.target.id}` | {kind_of} | {_cell(comment)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _call(node: ast.FunctionDef) -> str:
    """How it is called: its arguments without its own self, and what it returns."""
    arguments = node.args
    for kept in (arguments.posonlyargs, arguments.args):
        if kept and kept[0].arg in {"self", "cls"}:
            del kept[0]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{node.name}({ast.unparse(arguments)}){returns}".replace("'", "")


def _doc(node: Any) -> str:
    """The docstring, in paragraphs of Markdown; formulas that stand apart stay so."""
    return (ast.get_docstring(node) or "").replace("<", "&lt;")


def files(root: Path = ROOT) -> dict[Path, str]:
    """The pages, by where they belong."""
    return {root / FOLDER / "core.md": core(), root / FOLDER / "operators.md": operators()}
