# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of the things around a character: on each object, so that they are keyed and duplicated with it."""

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...core.live.take import LONGEST
from .overrides import OVERRIDABLE


def is_armature(_owner: bpy.types.PropertyGroup, other: bpy.types.Object) -> bool:
    """For the pickers of pointers."""
    return other.type == "ARMATURE"


class HEFT_PG_surface(bpy.types.PropertyGroup):
    """A mesh as ground."""

    friction: FloatProperty(
        name="Friction",
        description="How well feet hold on this mesh: 0 is ice, 1 is rubber on stone",
        default=1.0,
        min=0.0,
        soft_max=2.0,
        max=100.0,
        override=OVERRIDABLE,
    )


class HEFT_PG_push(bpy.types.PropertyGroup):
    """An arrow that pushes: along the object's Z axis, at its origin."""

    armature: PointerProperty(
        name="Character",
        description="The armature to push",
        type=bpy.types.Object,
        poll=is_armature,
        override=OVERRIDABLE,
    )
    bone: StringProperty(name="Bone", description="The bone to push", override=OVERRIDABLE)
    strength: FloatProperty(
        name="Strength",
        description="Force along the arrow, in newtons. Key it: the push lasts while it is not zero",
        soft_min=0.0,
        soft_max=500.0,
        step=1000,
        precision=0,
        override=OVERRIDABLE,
    )

    taken: IntProperty(
        description="The number of a push from a take on the stage, in the order in which they act; 0 of other pushes",
        min=0,
        override=OVERRIDABLE,
    )
    force: FloatVectorProperty(
        name="Force",
        description="Force of a push from a take, in the world, in newtons. It has a key for each simulation step",
        size=3,
        precision=1,
        override=OVERRIDABLE,
    )
    point: FloatVectorProperty(
        name="Point",
        description="Where a push from a take acts, in its body's own axes, in metres",
        size=3,
        precision=3,
        override=OVERRIDABLE,
    )


class HEFT_PG_throw(bpy.types.PropertyGroup):
    """How a prop was thrown on the stage. Until then it is nowhere."""

    taken: IntProperty(
        description="The number of a ball from a take on the stage, in the order of throws; 0 of other props",
        min=0,
        override=OVERRIDABLE,
    )
    frame: FloatProperty(name="Thrown", description="The frame at which it is thrown", override=OVERRIDABLE)
    place: FloatVectorProperty(
        name="From", description="Where it is thrown from, in metres", size=3, precision=2, override=OVERRIDABLE
    )
    velocity: FloatVectorProperty(
        name="Velocity",
        description="How fast it is thrown, in metres per second",
        size=3,
        precision=1,
        override=OVERRIDABLE,
    )
    radius: FloatProperty(
        name="Radius", description="Radius, in metres", default=0.125, min=0.005, max=10.0, override=OVERRIDABLE
    )


class HEFT_PG_take(bpy.types.PropertyGroup):
    """A take on the stage, and what its director has at hand."""

    seconds: FloatProperty(
        name="Length",
        description="How long the take lasts, in seconds; 0 where there is none. A bake plays the take again",
        min=0.0,
        max=LONGEST,
        precision=2,
        override=OVERRIDABLE,
    )
    loops: BoolProperty(description="The take repeats the action's gait cycle", override=OVERRIDABLE)
    strongest: FloatProperty(
        name="Pull (N)",
        description="How hard the mouse pulls at most, in newtons",
        default=300.0,
        min=1.0,
        soft_max=1000.0,
        max=10000.0,
        step=1000,
        precision=0,
        override=OVERRIDABLE,
    )
    shove: FloatProperty(
        name="Shove (N)",
        description="How hard a shove is, in newtons. It lasts a tenth of a second",
        default=150.0,
        min=1.0,
        soft_max=1000.0,
        max=10000.0,
        step=1000,
        precision=0,
        override=OVERRIDABLE,
    )
    ball_mass: FloatProperty(
        name="Ball (kg)",
        description="Mass of a thrown ball, in kilograms",
        default=3.0,
        min=0.05,
        soft_max=10.0,
        max=100.0,
        precision=1,
        override=OVERRIDABLE,
    )
    ball_speed: FloatProperty(
        name="Ball Speed (m/s)",
        description="How fast a ball is thrown, in metres per second",
        default=8.0,
        min=0.5,
        soft_max=15.0,
        max=40.0,
        precision=1,
        override=OVERRIDABLE,
    )


class HEFT_PG_grab(bpy.types.PropertyGroup):
    """A place at which a bone holds on."""

    armature: PointerProperty(
        name="Character",
        description="The armature that holds on",
        type=bpy.types.Object,
        poll=is_armature,
        override=OVERRIDABLE,
    )
    bone: StringProperty(name="Bone", description="The bone that holds on, usually a hand", override=OVERRIDABLE)
    target: PointerProperty(
        name="Held Object",
        description="The object to hold. A prop is carried along. Another character is held where the hand is then, if "
        "both are baked together. Any other object, or none, stays where it is",
        type=bpy.types.Object,
        override=OVERRIDABLE,
    )
    holding: BoolProperty(
        name="Holding",
        description="Key it on where the hand takes hold, and off where it lets go",
        override=OVERRIDABLE,
    )
    kind: EnumProperty(
        name="Grip",
        description="What the grip fixes",
        items=[
            ("POINT", "Turns Freely", "The hand stays in place but may turn, as around a bar", 0),
            ("FULL", "Firm", "The hand neither moves nor turns", 1),
        ],
        default="POINT",
        override=OVERRIDABLE,
    )


class HEFT_PG_foothold(bpy.types.PropertyGroup):
    """A place where a foot is to be set down: the middle of its sole at the object's origin."""

    armature: PointerProperty(
        name="Character",
        description="The armature that steps there",
        type=bpy.types.Object,
        poll=is_armature,
        override=OVERRIDABLE,
    )
    bone: StringProperty(name="Bone", description="The bone of the foot", override=OVERRIDABLE)


class HEFT_PG_weight(bpy.types.PropertyGroup):
    """A thing that a character carries all the time: a rucksack, a helmet."""

    armature: PointerProperty(
        name="Character",
        description="The armature that carries it",
        type=bpy.types.Object,
        poll=is_armature,
        override=OVERRIDABLE,
    )
    bone: StringProperty(name="Bone", description="The bone that carries it", override=OVERRIDABLE)
    mass: FloatProperty(
        name="Mass",
        description="Mass of the object, in kilograms",
        default=5.0,
        min=0.001,
        soft_max=50.0,
        max=100000.0,
        precision=1,
        override=OVERRIDABLE,
    )
    surprise: BoolProperty(
        name="Unexpected",
        description="The character does not know about the weight and has to cope with it",
        override=OVERRIDABLE,
    )


CLASSES = (
    HEFT_PG_surface,
    HEFT_PG_push,
    HEFT_PG_throw,
    HEFT_PG_take,
    HEFT_PG_grab,
    HEFT_PG_foothold,
    HEFT_PG_weight,
)
