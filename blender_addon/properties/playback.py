# SPDX-License-Identifier: GPL-3.0-or-later
"""How the action is played while it is simulated, on the armature: keyed beside the action's own channels."""

import bpy
from bpy.props import BoolProperty, FloatProperty

from ...core.motion.playback import FASTEST, SLOWEST
from .overrides import OVERRIDABLE


class HEFT_PG_playback(bpy.types.PropertyGroup):
    """Time warp and transitions: read at every frame of the action."""

    speed: FloatProperty(
        name="Speed",
        description="Playback speed of the action; key it where it changes. At 0.5 it takes twice as long. Gravity "
        "stays, so feet and hands work harder [time warping, Jain and Liu 2011, section 6]",
        default=1.0,
        min=SLOWEST,
        soft_min=0.25,
        soft_max=2.0,
        max=FASTEST,
        step=1,
        precision=2,
        override=OVERRIDABLE,
    )
    go_over: BoolProperty(
        name="Transition",
        description="Key it on where another motion starts in the action, or where the body should return to it. From "
        "there it blends to the action over the Transition Time [motion transition, section 6]",
        override=OVERRIDABLE,
    )


KEYED = ("speed", "go_over")

CLASSES = (HEFT_PG_playback,)
