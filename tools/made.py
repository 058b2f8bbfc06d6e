# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py made`: writes what is made from the source: tables of settings, presets, pages of panels, reference, gallery.

What a page says outside the marks is written by hand and stays. `check` fails where anything is not as it would be
made.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import gallery_page, panels, reference
from tools.environment import ROOT, say
from tools.leaving import leave_after

if TYPE_CHECKING:
    from heft.core.control.method import Method, Preset
    from heft.core.settings import Setting

BEGIN, END = "<!-- made by run.py made -->\n", "<!-- end -->\n"
LICENCE = "# SPDX-License-Identifier: GPL-3.0-or-later\n"
COLUMNS = "| setting | in Python | default | what it does | in the paper |\n|---|---|---|---|---|\n"
HEADERS = {
    "basic": "In the panel:",
    "advanced": "Under **Advanced**:",
    "hidden": "In Python only, for comparison with the papers:",
}


def number(value: Any) -> str:
    """A value as a table shows it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def row(name: str, entry: Setting, default: Any) -> str:
    """One setting's row."""
    labels = {choice.value: choice.label for choice in entry.choices}
    tip = panels.with_choices(entry.tip, [(one.label, one.tip) for one in entry.choices])
    unit = "" if entry.unit in {"", "share"} or isinstance(default, bool | str) else f" {entry.unit}"
    shown = labels.get(default, number(default)) + unit
    return f"| {entry.label} | `{name}` | {shown} | {tip} | {entry.symbol} |\n"


def table(method: Method) -> str:
    """All of a method's settings."""
    from heft.core.settings import settings_of

    entries, default = settings_of(method.settings), method.settings()
    text = ""
    for shown, header in HEADERS.items():
        names = [name for name, entry in entries.items() if entry.shown == shown]
        if names:
            text += f"\n{header}\n\n{COLUMNS}"
            text += "".join(row(name, entries[name], getattr(default, name)) for name in names)
    return text + "\n"


def needs(method: Method) -> str:
    """What a method asks for, in a line or two."""
    asked = method.needs
    said = [
        (asked.follows_keys, "can follow keys as they are, at any speed"),
        (asked.no_motion, "needs only a pose to start from"),
        (asked.blends, "blends several actions"),
        (asked.switches, "switches between actions while Extend Cycle is on"),
        (asked.places_feet, "places feet on the scene's ground and on footholds"),
        (asked.recovers, "catches itself with steps of its own after a push"),
        (not asked.props, "does not support props"),
        (asked.least_rate > 0.0, f"needs at least {asked.least_rate:g} simulation steps per second"),
    ]
    found = [text for true, text in said if true]
    return f"\nThis method {' and '.join(found)}.\n" if found else ""


def page(method: Method, before: str | None) -> str:
    """The page of a method; what was written by hand is kept."""
    made = BEGIN + needs(method) + table(method) + END
    if before is not None and BEGIN in before and END in before:
        head, _, rest = before.partition(BEGIN)
        return head + made + rest.partition(END)[2]
    return f"# {method.label}\n\n{method.description} ({method.paper}).\n\n{made}"


def overview(methods: list[Method], before: str) -> str:
    """The list of all methods, in the page on baking."""
    rows = "".join(f"| [{m.label}](methods/{m.name}.md) | {m.description} | {m.paper} |\n" for m in methods)
    head, _, rest = before.partition(BEGIN)
    return (
        head
        + BEGIN
        + "\n| method | what it does | paper |\n|---|---|---|\n"
        + rows
        + "\n"
        + END
        + rest.partition(END)[2]
    )


def preset(method: Method, chosen: Preset) -> str:
    """A file of Blender's menu of presets."""
    from heft.core.settings import settings_of

    values = dataclasses.asdict(method.choose(chosen.settings))  # type: ignore[call-overload]
    lines = [f"heft.controller = {quoted(method.name.upper())}", f"heft.rate = {chosen.rate}"]
    if method.needs.follows_keys:
        lines.append(f"heft.optimise = {chosen.optimise}")
    for name, entry in settings_of(method.settings).items():
        value = quoted(values[name].upper()) if entry.choices else repr(values[name])
        lines.append(f"heft.{method.name}.{name} = {value}")
    begin = f'{LICENCE}"""{chosen.description}"""\n\nimport bpy\n\nheft = bpy.context.active_object.heft\n'
    return begin + "".join(f"{line}\n" for line in lines)


def quoted(text: str) -> str:
    """As ruff writes it."""
    return f'"{text}"'


def files(root: Path = ROOT) -> dict[Path, str]:
    """Everything that is made, by the file it belongs in."""
    from heft.core.control.methods import METHODS

    found = {}
    for method in METHODS.values():
        path = root / "docs" / "methods" / f"{method.name}.md"
        found[path] = page(method, path.read_text(encoding="utf-8") if path.is_file() else None)
        for chosen in method.presets:
            name = chosen.name.replace(" ", "_")
            found[root / "presets" / "heft" / "controller" / f"{name}.py"] = preset(method, chosen)
    baking = root / "docs" / "bake.md"
    found[baking] = overview(list(METHODS.values()), baking.read_text(encoding="utf-8"))
    return found | panels.files(root) | reference.files(root) | gallery_page.files(root)


def stale(root: Path = ROOT) -> list[str]:
    """What is not as it would be made."""
    return [
        f"{path.relative_to(root)} is not up to date: run python3 run.py made"
        for path, text in files(root).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main() -> int:
    """Write all that is not as it should be; with --stale only say what, and fail if there is any."""
    if sys.argv[1:] == ["--stale"]:
        found = stale()
        say("\n".join(found))
        return 1 if found else 0
    for path, text in files().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            say(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    leave_after(main)
