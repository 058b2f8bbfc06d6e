# SPDX-License-Identifier: GPL-3.0-or-later
"""Where to walk, for methods that are led, on the armature."""

import bpy
from bpy.props import FloatProperty, PointerProperty

from .overrides import OVERRIDABLE

SLOWEST, FASTEST = -0.3, 2.0  # m/s forward; the method says which of them it can


class HEFT_PG_course(bpy.types.PropertyGroup):
    """Where to walk, and how fast: keyed like anything else. A step looks at it as it begins."""

    forward: FloatProperty(
        name="Speed",
        description="Walking speed forward, in metres per second",
        default=0.9,
        soft_min=SLOWEST,
        soft_max=FASTEST,
        min=-10.0,
        max=10.0,
        override=OVERRIDABLE,
    )
    left: FloatProperty(
        name="Sideways",
        description="Walking speed to the left, in metres per second; negative is to the right",
        soft_min=-0.2,
        soft_max=0.2,
        min=-10.0,
        max=10.0,
        override=OVERRIDABLE,
    )
    heading: FloatProperty(
        name="Heading",
        description="Walking direction, to the left of where the character faces at the start; full turns count",
        subtype="ANGLE",
        override=OVERRIDABLE,
    )
    walker: PointerProperty(
        name="Character",
        description="The armature that walks along the course of a take on the stage",
        type=bpy.types.Object,
        override=OVERRIDABLE,
    )


KEYED = ("forward", "left", "heading")

CLASSES = (HEFT_PG_course,)
