# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of combined actions, and which they are, on the armature."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty

from .overrides import OVERRIDABLE


class HEFT_PG_other_action(bpy.types.PropertyGroup):
    """An action beside the source."""

    action: PointerProperty(
        name="Action",
        description="An action of the same rig, to combine with the source or to go to: a longer stride, standing",
        type=bpy.types.Action,
        override=OVERRIDABLE,
    )


class HEFT_PG_combination(bpy.types.PropertyGroup):
    """Settings of combined actions; `core.control.combination.Settings` has the same names and defaults."""

    choose: BoolProperty(
        name="Choose When Pushed",
        description="Do what costs the body least from each moment on, such as a shorter step when pushed back. "
        "The slider then only says how to begin [coordination, da Silva 2010, section 6.3.2]",
        override=OVERRIDABLE,
    )
    softness: FloatProperty(
        name="Softness of the Choice",
        description="High mixes the actions when pushed, low takes one of them [lambda, as a share of by how much "
        "costs typically differ between the actions, da Silva 2010, equation 6.1]",
        default=0.1,
        min=1e-3,
        soft_max=5.0,
        max=1e3,
        override=OVERRIDABLE,
    )
    adaptation: FloatProperty(
        name="Adaptation",
        description="How far the joints give way to contacts that come sooner, later or harder than planned "
        "[gamma in Muico et al. 2009, equation 17]",
        default=0.002,
        min=0.0,
        soft_max=0.02,
        max=1.0,
        precision=4,
        step=0.05,
        override=OVERRIDABLE,
    )
    follow_ground: BoolProperty(
        name="Follow the Ground",
        description="Raise and lower the motion with the ground under the standing foot",
        default=True,
        override=OVERRIDABLE,
    )
