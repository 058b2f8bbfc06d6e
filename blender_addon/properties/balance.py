# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of balance control, on the armature."""

import bpy
from bpy.props import BoolProperty, FloatProperty

from .overrides import OVERRIDABLE


class HEFT_PG_balance(bpy.types.PropertyGroup):
    """Settings of balance control; `core.control.balance.Settings` has the same names and defaults."""

    balance: FloatProperty(
        name="Style against Balance",
        description="At 0 every joint only follows the action; higher lets stance leg, trunk and swing leg move "
        "otherwise to keep the balance while one foot stands [w_b and w_s in da Silva 2010, equation 3.9]",
        default=0.1,
        min=0.0,
        max=0.95,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    stiffness: FloatProperty(
        name="Keep Style",
        description="Higher returns joints and hips sooner to the action [k_s, equation 3.8, 1/s²]",
        default=1200.0,
        min=1.0,
        soft_max=3000.0,
        max=1e4,
        precision=0,
        override=OVERRIDABLE,
    )
    contact: FloatProperty(
        name="Keep Feet Still",
        description="Higher lets what stands on the ground move less for the sake of the pose [equation 3.9c]",
        default=70.0,
        min=1e-6,
        soft_max=1e4,
        max=1e6,
        precision=1,
        override=OVERRIDABLE,
    )
    friction: FloatProperty(
        name="Use of Friction",
        description="How much of the ground's friction is relied on",
        default=0.8,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    arms: BoolProperty(
        name="Arms Balance Too",
        description="Let the arms, each by itself, move otherwise to keep the balance, for styles that swing them. "
        "Needs Style against Balance above 0 [additional links, section 3.4.1]",
        override=OVERRIDABLE,
    )
    strength: FloatProperty(
        name="Hold against Surprise",
        description="How stiffly the joints resist what was not foreseen, such as a foot that touches early "
        "[strength, section 3.3.3, 1/s²]",
        default=100.0,
        min=0.0,
        soft_max=400.0,
        max=1e4,
        precision=0,
        override=OVERRIDABLE,
    )
