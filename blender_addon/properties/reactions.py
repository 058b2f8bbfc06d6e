# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of how a character reacts to pushes: a part of `obj.heft`."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, PointerProperty

from ...core.job.job import EFFORT, MOST_EFFORT, MOST_RECOVERY_EFFORT, RECOVERY_EFFORT, STRENGTH
from ...core.simulation.looseness import NATURAL, REGIONS, Region
from .overrides import OVERRIDABLE

LABELS: dict[Region, str] = {"legs": "Legs", "trunk": "Trunk", "arms": "Arms", "head": "Head"}
BY_REGION = tuple(f"looseness_{region}" for region in REGIONS)


class ReactionSettings:
    """How the character reacts: a part of `obj.heft`."""

    strength: FloatProperty(
        name="Strength",
        description="Limit of every joint's torque: 1 is the average of young adults of this sex and mass. Key it "
        "where the character tires or faints",
        default=STRENGTH,
        min=0.0,
        soft_max=4.0,
        max=100.0,
        step=10,
        precision=2,
        override=OVERRIDABLE,
    )
    effort: FloatProperty(
        name="Effort",
        description="How far the body leans and bends to carry weights and held props with less effort: 0 keeps the "
        "action's poses, 1 is natural. It changes nothing where nothing is carried",
        default=EFFORT,
        min=0.0,
        soft_max=3.0,
        max=MOST_EFFORT,
        step=10,
        precision=2,
        options=set(),
        override=OVERRIDABLE,
    )
    recovery: BoolProperty(
        name="Recover",
        description="After a push, take extra steps rather than fall, then continue with the action from there",
        default=True,
        options=set(),
        override=OVERRIDABLE,
    )
    recovery_effort: IntProperty(
        name="Attempts",
        description="How many ways of stepping to try after each push, at most. More are slower and save more falls",
        default=RECOVERY_EFFORT,
        min=1,
        max=MOST_RECOVERY_EFFORT,
        options=set(),
        override=OVERRIDABLE,
    )
    return_to_path: BoolProperty(
        name="Return to Path",
        description="Once it has caught itself, step back to where the action would have been, a little with each step",
        default=False,
        options=set(),
        override=OVERRIDABLE,
    )
    get_up: BoolProperty(
        name="Get Up",
        description="After a fall, once it lies still, get up and continue with the action from there. Help carries "
        "what the body cannot do, if Help allows that",
        default=False,
        options=set(),
        override=OVERRIDABLE,
    )
    get_up_action: PointerProperty(
        name="By Action",
        description="An action of this rig, on level ground, that leads from lying to standing. It is joined in the "
        "pose nearest to how the body lies; empty for a way up that Heft makes",
        type=bpy.types.Action,
        override=OVERRIDABLE,
    )
    looseness: FloatProperty(
        name="Looseness",
        description="How far the body yields while it recovers from a push: 0 keeps the action's poses, 1 bends and "
        "throws its arms freely",
        default=NATURAL,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        override=OVERRIDABLE,
    )


# Blender makes properties of annotations
ReactionSettings.__annotations__ |= {
    name: FloatProperty(
        name=LABELS[region],
        description="How much of Looseness this part of the body has",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options=set(),
        override=OVERRIDABLE,
    )
    for name, region in zip(BY_REGION, REGIONS, strict=True)
}


def looseness_in(settings: ReactionSettings) -> dict[Region, float]:
    """Return the looseness of each region that has any."""
    found = {region: settings.looseness * getattr(settings, f"looseness_{region}") for region in REGIONS}
    return {region: round(value, 6) for region, value in found.items() if value > 0.0}
