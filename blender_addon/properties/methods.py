# SPDX-License-Identifier: GPL-3.0-or-later
"""Which method controls an armature, and each method's settings: properties made from what the core says of them.

A setting is added in the method's own `settings.py`, a method by a folder of its own; nothing is to be done here.
"""

from collections.abc import Iterator
from typing import Any, get_type_hints

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from ...core.control.method import DEFAULT, Method
from ...core.control.methods import METHODS
from ...core.settings import SHARE, Setting, Shown, settings_of
from .overrides import OVERRIDABLE


def property_of(entry: Setting, kind: type, default: Any) -> Any:
    """Return a setting as a property; all may be changed in a linked rig."""
    said: dict[str, Any] = {"name": entry.label, "description": entry.description, "override": OVERRIDABLE}
    if entry.choices:
        items = [(one.value.upper(), one.label, one.tip, number) for number, one in enumerate(entry.choices)]
        return EnumProperty(items=items, default=default.upper(), **said)
    if kind is bool:
        return BoolProperty(default=default, **said)
    if entry.bounds is None:
        raise ValueError(f"The setting '{entry.label}' is a number, and so needs bounds.")
    low, high = entry.usual or entry.bounds
    said |= {"default": default, "min": entry.bounds[0], "max": entry.bounds[1], "soft_min": low, "soft_max": high}
    if kind is int:
        return IntProperty(**said)
    said["subtype"] = "FACTOR" if entry.unit == SHARE else "NONE"
    # dragged by ten of the last digit that is shown; Blender counts in hundredths
    said["step"] = min(max(100.0 * 10.0 ** (1 - entry.digits), 1e-2), 100.0)
    return FloatProperty(precision=entry.digits, **said)


def group_of(method: Method) -> type:
    """Return a method's settings as a group of properties."""
    kinds, default = get_type_hints(method.settings), method.settings()
    entries = settings_of(method.settings).items()
    return type(
        f"HEFT_PG_{method.name}",
        (bpy.types.PropertyGroup,),
        {
            "__doc__": f"Settings of {method.in_words}.",
            "__module__": __name__,
            "__annotations__": {name: property_of(one, kinds[name], getattr(default, name)) for name, one in entries},
        },
    )


GROUPS = {method.name: group_of(method) for method in METHODS.values()}

CONTROLLERS = [
    (method.name.upper(), method.label, f"{method.description} [{method.paper}]", method.number)
    for method in METHODS.values()
]


class MethodSettings:
    """The method, and every method's settings: a part of `obj.heft`."""

    controller: EnumProperty(
        name="Method",
        description="How the character is controlled while it is simulated",
        items=CONTROLLERS,
        default=DEFAULT.upper(),
        override=OVERRIDABLE,
    )


# Blender makes properties of annotations
MethodSettings.__annotations__ |= {
    name: PointerProperty(type=group, override=OVERRIDABLE) for name, group in GROUPS.items()
}


def method_of(settings: MethodSettings) -> Method:
    """Return the method that `obj.heft` has chosen."""
    return METHODS[settings.controller.lower()]


def group_in(settings: MethodSettings) -> bpy.types.PropertyGroup:
    """Return the chosen method's own settings."""
    group: bpy.types.PropertyGroup = getattr(settings, method_of(settings).name)
    return group


def names_shown(method: Method, shown: Shown) -> Iterator[str]:
    """Return the names of a method's settings that are shown at one place of the panel."""
    return (name for name, entry in settings_of(method.settings).items() if entry.shown == shown)


def values_in(settings: MethodSettings) -> dict[str, bool | int | float | str]:
    """Return the settings of the chosen method, by the core's names."""
    method, group = method_of(settings), group_in(settings)
    found: dict[str, bool | int | float | str] = {}
    for name, entry in settings_of(method.settings).items():
        value = getattr(group, name)
        known = {one.value.upper(): one.value for one in entry.choices}
        found[name] = known[value] if known else plain(value)
    return found


def plain(value: float) -> float:
    """Return a number as it was typed: Blender keeps seven digits, and 0.1 of them is not 0.1."""
    return float(np.format_float_positional(np.float32(value), unique=True)) if isinstance(value, float) else value


CLASSES = tuple(GROUPS.values())
