# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of momentum control, on the armature."""

import bpy
from bpy.props import BoolProperty, FloatProperty

from .overrides import OVERRIDABLE


class HEFT_PG_momentum(bpy.types.PropertyGroup):
    """Settings of momentum control; `core.control.momentum.Settings` has the same names and defaults."""

    flexible_time: BoolProperty(
        name="Give Way in Time",
        description="Let steps take longer or shorter after pushes and on stairs; the action's length may change",
        default=True,
        override=OVERRIDABLE,
    )
    step_aside: BoolProperty(
        name="Step Aside",
        description="Let a push from the side move the next steps so that they catch the body, and all that comes "
        "after with them. Only on level ground without footholds; otherwise feet go where the action has them",
        default=True,
        override=OVERRIDABLE,
    )
    damping: FloatProperty(
        name="Calm Turning",
        description="Higher turns and sways less, takes stronger pushes, and follows the action less "
        "[w_a in Ye and Liu 2010, section 6, there 500]",
        default=3000.0,
        min=0.0,
        soft_max=10000.0,
        max=1e6,
        precision=0,
        override=OVERRIDABLE,
    )
    tracking: FloatProperty(
        name="Keep to the Action",
        description="Higher keeps the body's path and speed nearer to the action's [w_t]",
        default=500.0,
        min=0.0,
        soft_max=5000.0,
        max=1e6,
        precision=0,
        override=OVERRIDABLE,
    )
    effort: FloatProperty(
        name="Cost of Contact Force",
        description="Higher uses less force on the ground [W1]",
        default=1.0,
        min=1e-3,
        soft_max=10.0,
        max=1e4,
        precision=3,
        override=OVERRIDABLE,
    )
