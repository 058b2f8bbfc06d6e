# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of look-ahead control, on the armature."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .overrides import OVERRIDABLE


class HEFT_PG_lookahead(bpy.types.PropertyGroup):
    """Settings of look-ahead control; `core.control.lookahead.Settings` has the same names and defaults."""

    adaptation: FloatProperty(
        name="Adaptation",
        description="How far the joints give way to contacts that come sooner, later or harder than planned. Too much "
        "makes a gait sway [gamma in Muico et al. 2009, equation 17]",
        default=0.002,
        min=0.0,
        soft_max=0.02,
        max=1.0,
        step=0.1,
        precision=4,
        override=OVERRIDABLE,
    )
    follow_ground: BoolProperty(
        name="Follow the Ground",
        description="Raise and lower the motion with the ground under the standing foot: stairs, slopes, kerbs",
        default=True,
        override=OVERRIDABLE,
    )
    reset_phase: BoolProperty(
        name="Early Contacts",
        description="When a foot touches the ground too early, go on from where it should have "
        "touched [phase reset, section 5.4]",
        default=False,
        override=OVERRIDABLE,
    )
    await_touchdown: BoolProperty(
        name="Late Contacts",
        description="When a foot touches the ground too late, wait for it, for an eighth of a second at most "
        "[phase reset, section 5.4]",
        default=False,
        override=OVERRIDABLE,
    )
    policy: EnumProperty(
        name="Feedback",
        description="How corrections are computed beforehand",
        items=[
            ("NQR", "Torques and Contacts", "Plan the contact forces together with the torques [NQR, equation 11]", 0),
            (
                "LQR",
                "Torques Alone",
                "Take contact forces as they come; loses its balance sooner [LQR, equation 10]",
                1,
            ),
        ],
        default="NQR",
        override=OVERRIDABLE,
    )
    effort: FloatProperty(
        name="Cost of Effort",
        description="Higher is softer: corrections use less torque [R and P]",
        default=0.1,
        min=1e-4,
        soft_max=10.0,
        max=1e4,
        precision=3,
        override=OVERRIDABLE,
    )
    force: FloatProperty(
        name="Cost of Contact Force",
        description="Higher lets corrections lean less on the ground [P]",
        default=0.1,
        min=1e-4,
        soft_max=10.0,
        max=1e4,
        precision=3,
        override=OVERRIDABLE,
    )
    location: FloatProperty(
        name="Keep Place",
        description="Higher returns sooner to where the action is, over the ground [Q on the root's x and y]",
        default=0.1,
        min=1e-4,
        soft_max=10.0,
        max=1e4,
        precision=3,
        override=OVERRIDABLE,
    )
    height: FloatProperty(
        name="Keep Height",
        description="Higher sags less after a step down or a push [Q on the root's z]",
        default=10.0,
        min=1e-4,
        soft_max=100.0,
        max=1e4,
        precision=2,
        override=OVERRIDABLE,
    )
    about_reference: BoolProperty(
        name="Measure Effort from the Motion",
        description="Count as effort only what differs from the motion's own torques; otherwise all torque, as "
        "the paper prints it",
        default=True,
        override=OVERRIDABLE,
    )
    cycles: IntProperty(
        name="Cycles Ahead",
        description="How many cycles of a repeating motion are looked ahead",
        default=2,
        min=1,
        soft_max=4,
        max=20,
        override=OVERRIDABLE,
    )
    settle: FloatProperty(
        name="Seconds beyond the End",
        description="How long beyond the end of other motions is looked ahead, standing in the last pose",
        default=2.0,
        min=0.0,
        soft_max=5.0,
        max=60.0,
        override=OVERRIDABLE,
    )
