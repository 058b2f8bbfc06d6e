# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of gait control, and the course that it walks, on the armature."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .overrides import OVERRIDABLE


class HEFT_PG_gait(bpy.types.PropertyGroup):
    """Settings of gait control; `core.control.gait.Settings` has the same names and defaults."""

    style: EnumProperty(
        name="Style",
        description="The manner of the walk",
        items=[
            ("NORMAL", "Normal", "An even, upright walk", 0),
            ("MARCH", "March", "Knees and arms high, the body stiff", 1),
            ("SNEAK", "Sneak", "Low, bent forward, feet set down with care", 2),
            ("TIRED", "Tired", "Shoulders and head hang, feet hardly leave the ground", 3),
            ("WIDE", "Wide", "Legs apart, arms away from the body, swaying", 4),
        ],
        default="NORMAL",
        override=OVERRIDABLE,
    )
    stabiliser: BoolProperty(
        name="Stabilise Contact",
        description="Before each step of simulation, look ahead and correct the standing ankle and knee where the "
        "ground's force would lie on one edge of the sole. It takes about as long again as the walk",
        override=OVERRIDABLE,
    )


class HEFT_PG_course(bpy.types.PropertyGroup):
    """Where to walk, and how fast: keyed like anything else. A step looks at it as it begins."""

    forward: FloatProperty(
        name="Speed",
        description="How fast to walk ahead, in metres a second",
        default=0.7,
        soft_min=-0.3,
        soft_max=1.2,
        min=-10.0,
        max=10.0,
        override=OVERRIDABLE,
    )
    left: FloatProperty(
        name="Sideways",
        description="How fast to walk to the left, in metres a second; negative to the right",
        soft_min=-0.2,
        soft_max=0.2,
        min=-10.0,
        max=10.0,
        override=OVERRIDABLE,
    )
    heading: FloatProperty(
        name="Heading",
        description="Where to walk, to the left of where the character faces at the start; whole turns count",
        subtype="ANGLE",
        override=OVERRIDABLE,
    )
