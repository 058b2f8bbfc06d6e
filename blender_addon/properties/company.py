# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of a scene: how several characters in it are baked, and which folder is cleaned."""

import bpy
from bpy.props import BoolProperty, PointerProperty

from . import folder
from .overrides import OVERRIDABLE


class HEFT_PG_scene(bpy.types.PropertyGroup):
    """Settings of a scene: `scene.heft`."""

    together: BoolProperty(
        name="Bake Together",
        description="Selected characters are baked in one world: where they touch they push each other. Off: each is "
        "baked as if it were alone",
        default=True,
        override=OVERRIDABLE,
    )
    find_holds: BoolProperty(
        name="Find Holds",
        description="Hands that stay at another character in the actions hold on to it, and both are pulled. What "
        "grabs say of a hand comes first. Off: only grabs hold",
        default=True,
        override=OVERRIDABLE,
    )
    folder: PointerProperty(type=folder.HEFT_PG_folder)


CLASSES = (*folder.CLASSES, HEFT_PG_scene)


def register() -> None:
    """Hang the settings on every scene."""
    bpy.types.Scene.heft = PointerProperty(type=HEFT_PG_scene, override=OVERRIDABLE)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take them off."""
    del bpy.types.Scene.heft  # type: ignore[attr-defined]
