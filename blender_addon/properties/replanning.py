# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of replanning control, on the armature."""

import bpy
from bpy.props import FloatProperty

from .overrides import OVERRIDABLE


def weight(name: str, description: str, default: float) -> FloatProperty:
    """A factor that is never zero."""
    return FloatProperty(
        name=name, description=description, default=default, min=1e-6, max=1e6, precision=4, override=OVERRIDABLE
    )


class HEFT_PG_replanning(bpy.types.PropertyGroup):
    """Settings of replanning control; `core.control.replanning.Settings` has the same names and defaults."""

    window: FloatProperty(
        name="Seconds Ahead",
        description="How far each plan looks ahead; 0 chooses by the motion. Long windows give way softly, short ones "
        "keep to the keys [window size, Jain and Liu 2011, section 7]",
        default=0.0,
        min=0.0,
        soft_max=0.3,
        max=1.0,
        step=1,
        precision=3,
        override=OVERRIDABLE,
    )
    delay: FloatProperty(
        name="Reaction Time",
        description="Seconds until a push is answered; people need about 0.2. Until then the body only gives way "
        "[section 6]",
        default=0.0,
        min=0.0,
        soft_max=0.3,
        max=2.0,
        step=1,
        precision=3,
        override=OVERRIDABLE,
    )
    transition: FloatProperty(
        name="Transition",
        description="Seconds in which the body, once hands take hold or where Go Over is keyed on, goes over from its "
        "own way to the action's. 0 pulls it into the action at once [motion transition, section 6]",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        max=5.0,
        step=1,
        precision=2,
        override=OVERRIDABLE,
    )
    slowing: FloatProperty(
        name="Slow Down after a Push",
        description="By how much the motion is slower for a second after a push, and less in the next. It saves walks "
        "that are pushed back [time warping, section 7.3]",
        default=0.0,
        min=0.0,
        max=0.9,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    threshold: FloatProperty(
        name="Stiffness of One-Step Modes",
        description="Modes of the body that swing faster than this, squared, follow the keys from step to step; the "
        "others take the whole window [(rad/s)², section 4]",
        default=100.0,
        min=1.0,
        soft_max=500.0,
        max=1e6,
        precision=0,
        override=OVERRIDABLE,
    )
    translation: weight("Keep Place", "Higher returns sooner to where the action has the body [W1]", 1.0)
    rotation: weight("Keep Upright", "Higher returns sooner to how the action has it turned [W1]", 1.0)
    velocity: weight("Keep Speed", "Higher keeps the body's speed closer to the action's [W2]", 1.0)
    force: weight("Cost of Contact Force", "Higher leans less on the ground [W3, on kilonewtons]", 0.01)
    position_low: weight("Keep Pose", "Higher keeps the slow modes closer to the keyed poses [w4]", 5.0)
    velocity_low: weight("Keep Pace of Poses", "Higher keeps their speeds closer to the keyed ones [w5]", 2.0)
    effort_low: weight("Cost of Effort", "Higher is softer: poses are reached with less torque [W6]", 5e-3)
    effort_correction: weight("Cost of Answering Contact", "Higher answers unplanned contact less [Wa]", 1e-3)
    bracing: FloatProperty(
        name="Brace against Contact",
        description="How firmly quick modes resist contact that was not planned; with hands that hold on it must be 0 "
        "[section 5.4]",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    friction: FloatProperty(
        name="Use of Friction",
        description="How much of the ground's friction plans rely on",
        default=0.8,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
