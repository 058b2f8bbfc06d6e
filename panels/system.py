# SPDX-License-Identifier: GPL-3.0-or-later
"""The last panel: which Heft this is, and whether the packages it computes with are there."""

import importlib.util
from functools import cache
from pathlib import Path

import bpy

from ..blender_addon.words import interface as _
from .tab import Tab

NEEDED_PACKAGES = ("numpy", "scipy", "osqp", "numba")


@cache
def missing_packages() -> tuple[str, ...]:
    """The needed packages that this Blender's Python cannot find; looked up once, since a panel draws often."""
    return tuple(name for name in NEEDED_PACKAGES if importlib.util.find_spec(name) is None)


@cache
def version() -> str:
    """The extension's version, from its manifest."""
    import tomllib

    manifest = Path(__file__).parent.parent / "blender_manifest.toml"
    return str(tomllib.loads(manifest.read_text(encoding="utf-8"))["version"])


class HEFT_PT_system(Tab):
    """System: the version and the packages."""

    bl_idname = "HEFT_PT_system"
    bl_label = "System"
    bl_order = 100
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """What a bug report should name."""
        column = self.layout.column(align=True)
        column.label(text=f"Heft {version()}")
        missing = missing_packages()
        if missing:
            column.label(text=_("Not found: {}").format(", ".join(missing)), icon="ERROR", translate=False)
            column.label(text="Install the zip for this Blender")
        else:
            column.label(text="Physics packages found", icon="CHECKMARK")
