# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a linked rig that are changed in a shot: which may be (`OVERRIDABLE`), and that Blender keeps them.

Blender stores a group of settings when it is first read or set. From 5.0 on, one that the library file does not have
yet is not compared member by member, but noted as replaced as a whole, which is not possible: when the shot is opened
again, Blender prints "expected ID type", and the changes are lost. So before a file is saved the groups are made on
both sides, in the library's data in memory only.
"""

from typing import Literal

import bpy
from bpy.app.handlers import persistent

from ..typed import as_kind, settings_on

OVERRIDABLE: set[Literal["LIBRARY_OVERRIDABLE"]] = {"LIBRARY_OVERRIDABLE"}
OVERRIDABLE_LIST: set[Literal["LIBRARY_OVERRIDABLE", "USE_INSERTION"]] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}


@persistent  # type: ignore[untyped-decorator]
def make_groups(*_arguments: object) -> None:
    """Have all overrides of Heft's settings compared member by member."""
    names = groups()
    whole = {"heft", *(f"heft.{name}" for name in names)}
    for owner in bpy.data.objects:
        override = owner.override_library
        if override is None or override.reference is None or not owner.is_property_set("heft"):
            continue
        for either in (owner, override.reference):
            for name in names:
                getattr(settings_on(as_kind(either, bpy.types.Object)), name)  # to read it makes it
        for noted in [entry for entry in override.properties if entry.rna_path in whole]:
            override.properties.remove(noted)


def groups() -> list[str]:
    """Return the names of the groups of settings in `obj.heft`."""
    settings = as_kind(bpy.types.Object.bl_rna.properties["heft"], bpy.types.PointerProperty).fixed_type
    pointers = [entry for entry in settings.properties if isinstance(entry, bpy.types.PointerProperty)]
    return [entry.identifier for entry in pointers if is_group(entry.fixed_type.base)]


def is_group(base: bpy.types.Struct | None) -> bool:
    """Return whether what stands on this is a group of properties."""
    return base is not None and base.identifier == "PropertyGroup"


def register() -> None:
    """Be called before files are saved."""
    bpy.app.handlers.save_pre.append(make_groups)


def unregister() -> None:
    """Be called no more."""
    bpy.app.handlers.save_pre.remove(make_groups)
