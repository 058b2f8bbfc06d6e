# SPDX-License-Identifier: GPL-3.0-or-later
"""A page for each panel, from the texts of its own settings and buttons.

The panels are drawn into a layout that notes what it is given, over scenes in which all of them have something to show.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from tools.environment import ROOT

if TYPE_CHECKING:
    import bpy

FOLDER = Path("docs") / "panels"
OWN = "HEFT_"  # how the names of Heft's own classes begin
GUIDES = {
    "Bake": ("Baking", "bake.md"),
    "Scene": ("The scene", "scene.md"),
    "Stage": ("On the stage", "stage.md"),
    "Motion": ("From the action to a possible motion", "motion.md"),
    "Character": ("Setting up a character", "character.md"),
    "Controller": ("The methods", "bake.md"),
    "Folder": ("Cleaning a folder of clips", "clean.md"),
}
HEAD = "| | in Python | to begin with | what it does |\n|---|---|---|---|\n"


class Entry(NamedTuple):
    """A setting or a button of a panel."""

    label: str
    python: str
    default: str
    tip: str


class Drawn:
    """A layout that notes entries under the headings that it was given; all its parts note in one place."""

    def __init__(self, noted: dict[str, dict[str, Entry]], heading: str, *, is_header: bool = False) -> None:
        self._noted, self._heading, self._is_header = noted, heading, is_header

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Whatever else a layout can do shows nothing that is told of here."""
        return lambda *_, **__: self

    def panel(self, _: str, **__: Any) -> tuple[Drawn, Drawn]:
        """A part that folds: what its header says is the heading of its body."""
        body = Drawn(self._noted, self._heading)
        header = Drawn(self._noted, self._heading, is_header=True)
        header._body = body  # type: ignore[attr-defined]
        return header, body

    def label(self, *, text: str = "", **_: Any) -> None:
        """A text; that of a header is a heading."""
        if self._is_header:
            self._body._heading = text  # type: ignore[attr-defined]  # noqa: SLF001

    def prop(self, owner: Any, name: str, **_: Any) -> None:
        """A setting, if it is one of Heft's own."""
        if owner.bl_rna.identifier.startswith(OWN):
            entry = setting(owner, name)
            self._noted.setdefault(self._heading, {}).setdefault(entry.python, entry)

    def prop_search(self, owner: Any, name: str, *_: Any, **__: Any) -> None:
        """The same, chosen from a list."""
        self.prop(owner, name)

    def operator(self, name: str, **_: Any) -> SimpleNamespace:
        """A button, if it is one of Heft's own."""
        if name.startswith("heft."):
            entry = button(name)
            self._noted.setdefault(self._heading, {}).setdefault(entry.python, entry)
        return SimpleNamespace()


def setting(owner: Any, name: str) -> Entry:
    """What is told of a setting."""
    entry = owner.bl_rna.properties[name]
    path = owner.path_from_id()
    of = {"Object": "obj", "Scene": "scene", "WindowManager": "wm"}.get(type(owner.id_data).__name__, "id")
    tip = entry.description
    if entry.type == "ENUM":
        tip = with_choices(tip, [(one.name, one.description) for one in entry.enum_items])
    return Entry(entry.name, f"{of}.{_plain(path)}.{name}", _default(entry), tip)


def with_choices(tip: str, choices: list[tuple[str, str]]) -> str:
    """A setting's tip, and below it what each of its choices does."""
    said = [f"*{name}*: {does[:1].lower()}{does[1:]}" for name, does in choices]
    return "<br>".join([f"{tip}:", *said]) if said else tip


def _plain(path: str) -> str:
    """Without the numbers of entries in lists."""
    return "".join(part.partition("]")[2] if "]" in part else part for part in path.split("["))


def _default(entry: Any) -> str:
    if entry.type == "BOOLEAN":
        return "on" if entry.default else "off"
    if entry.type == "ENUM":
        known = [one.name for one in entry.enum_items if one.identifier == entry.default]
        return known[0] if known else ""
    if entry.type in {"INT", "FLOAT"} and not entry.is_array:
        value = round(entry.default, 6)
        return f"{value:g}"
    return ""


def button(name: str) -> Entry:
    """What is told of a button."""
    import bpy

    kind = getattr(bpy.ops.heft, name.removeprefix("heft.")).get_rna_type()
    return Entry(f"**{kind.name}**", f"bpy.ops.{name}()", "", kind.description)


def scenes() -> Iterator[None]:
    """Scenes one after another: between them all panels show all that they can."""
    import bpy
    from heft.core.control.methods import METHODS

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.heft.add_mannequin()
    rig = bpy.context.active_object
    yield
    bpy.ops.heft.set_up()
    for name in METHODS:
        rig.heft.controller = name.upper()
        yield
    rig.heft.controller, rig.heft.loop, rig.heft.use_frame_range = "MOMENTUM", True, True
    for add in ("add_push", "add_grab", "add_foothold"):
        rig.data.bones.active = rig.data.bones["foot.L" if add == "add_foothold" else "hand.L"]
        getattr(bpy.ops.heft, add)()
        yield
        _choose(rig)
    rig.heft.controller = "AUTO"
    for add, words in (("mark_terrain", {}), ("add_prop", {}), ("add_prop", {"carried": True})):
        bpy.ops.mesh.primitive_cube_add()
        cube = bpy.context.active_object
        cube.select_set(state=True)
        rig.select_set(state=True)
        bpy.context.view_layer.objects.active = rig
        getattr(bpy.ops.heft, add)(**words)
        bpy.context.view_layer.objects.active = cube
        yield
        _choose(rig)
    bpy.ops.heft.add_path()
    yield
    bpy.ops.heft.add_mannequin()
    rig.select_set(state=True)
    yield


def _choose(rig: bpy.types.Object) -> None:
    import bpy

    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig


def drawn() -> dict[type, dict[str, dict[str, Entry]]]:
    """All panels of the tab: their entries by heading."""
    import bpy
    from heft.panels.tab import Tab

    found: dict[type, dict[str, dict[str, Entry]]] = {}
    for _ in scenes():
        for panel in sorted(_below(Tab), key=lambda one: (getattr(one, "bl_order", 0), one.__name__)):
            if not hasattr(panel, "bl_label") or not getattr(panel, "poll", bool)(bpy.context):
                continue
            noted = found.setdefault(panel, {})
            panel.draw(SimpleNamespace(layout=Drawn(noted, "")), bpy.context)
    return found


def _below(kind: type) -> Iterator[Any]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def files(root: Path = ROOT) -> dict[Path, str]:
    """The pages, by where they belong."""
    import heft

    heft.register()
    try:
        found = drawn()
    finally:
        heft.unregister()
    parents: dict[str, Any] = {panel.bl_idname: panel for panel in found if not hasattr(panel, "bl_parent_id")}
    pages = {}
    for name, panel in parents.items():
        parts = [one for one in found if getattr(one, "bl_parent_id", None) == name]
        if any(found[one] for one in (panel, *parts)):
            pages[root / FOLDER / f"{panel.bl_label.lower()}.md"] = page(panel, parts, found)
    return pages


def page(panel: Any, parts: list[Any], found: dict[type, dict[str, dict[str, Entry]]]) -> str:
    """A panel and the panels in it."""
    title, guide = GUIDES[panel.bl_label]
    text = f"# The panel {panel.bl_label}\n\n{_said(panel)} [{title}](../{guide}) says how to use it.\n"
    for part in (panel, *parts):
        if part is not panel:
            text += f"\n## {part.bl_label}\n\n{_said(part)}\n"
        for heading, entries in found[part].items():
            text += f"\n{'###' if part is not panel else '##'} {heading}\n" if heading else ""
            rows = [f"| {one.label} | `{one.python}` | {one.default} | {one.tip} |\n" for one in entries.values()]
            text += "".join(["\n", HEAD, *rows]) if rows else ""
    return text


def _said(panel: Any) -> str:
    """What a panel's docstring says of it, without its name."""
    said = (inspect.getdoc(panel) or "").partition("\n")[0]
    name, colon, rest = said.partition(": ")
    return f"{rest[:1].upper()}{rest[1:]}" if colon and name == panel.bl_label else said
