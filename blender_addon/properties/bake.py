# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of a bake: its settings and what it measured, on the armature; its progress."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from . import course, methods, others, playback
from .overrides import OVERRIDABLE, OVERRIDABLE_LIST


class HEFT_PG_bone_choice(bpy.types.PropertyGroup):
    """A bone, by its `name`, that takes part in what is baked."""


class HEFT_PG_foot(bpy.types.PropertyGroup):
    """What a foot, by its `name`, bears; keyed by a bake."""

    force: FloatProperty(
        name="Contact Force",
        description="Force of the ground on this foot, in newtons; a bake keys it",
        override=OVERRIDABLE,
    )


class BakeSettings(methods.MethodSettings):
    """Settings of a bake, and what it measured: a part of `obj.heft`."""

    playback: PointerProperty(type=playback.HEFT_PG_playback, override=OVERRIDABLE)
    optimise: BoolProperty(
        name="Correct Physics First",
        description="Find the possible motion nearest to the action before it is simulated, as walks and runs need it. "
        "Without, the keys are followed as they are: for a few key poses, however rough",
        default=True,
        override=OVERRIDABLE,
    )
    course: PointerProperty(type=course.HEFT_PG_course, override=OVERRIDABLE)
    others: CollectionProperty(type=others.HEFT_PG_other_action, override=OVERRIDABLE_LIST)
    slider: FloatProperty(
        name="Blend",
        description="What to do between the actions: 0 is the source, 1 the last of the others. Key it: a walk looks "
        "at it as each stride begins",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    motion: IntProperty(
        name="Active Action",
        description="Which action to switch to from here on: 0 is the source, 1 the first of the others. Key it: each "
        "key is followed at the next occasion",
        min=0,
        soft_max=9,
        override=OVERRIDABLE,
    )
    source_action: PointerProperty(
        name="Source",
        description="The action to simulate; if none, the one that is assigned, or what that was baked from",
        type=bpy.types.Action,
        override=OVERRIDABLE,
    )
    use_frame_range: BoolProperty(
        name="Custom Range",
        description="Simulate a part of the action only; the rest stays as it is keyed",
        override=OVERRIDABLE,
    )
    frame_start: IntProperty(name="Start", description="First frame that is simulated", default=1, override=OVERRIDABLE)
    frame_end: IntProperty(name="End", description="Last frame that is simulated", default=250, override=OVERRIDABLE)
    rate: IntProperty(
        name="Steps per Second",
        description="Steps of simulation a second. More are slower, and follow fast motion better",
        default=120,
        min=30,
        soft_min=60,
        soft_max=480,
        max=2000,
        override=OVERRIDABLE,
    )
    loop: BoolProperty(
        name="Extend Cycle",
        description="Find the cycle that repeats in the action and go on with it for as long as wanted",
        override=OVERRIDABLE,
    )
    loop_seconds: FloatProperty(
        name="Seconds",
        description="How long to go on",
        default=10.0,
        min=0.5,
        soft_max=60.0,
        max=3600.0,
        override=OVERRIDABLE,
    )
    output: EnumProperty(
        name="Output",
        description="Where the baked motion goes. The source action is kept in any case",
        items=[
            ("AUTO", "Automatic", "A new action on this rig; on a proxy where constraints move its bones", 0),
            ("ACTION", "New Action", "A new action on this rig. Constraints on its bones still act on top of it", 1),
            ("MUTE", "New Action, Constraints Muted", "A new action, with the constraints of the keyed bones muted", 2),
            (
                "PROXY",
                "Proxy Armature",
                "A new armature of the deforming bones at the same place; this one stays as it is",
                3,
            ),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    bones: EnumProperty(
        name="Bones",
        description="What of the simulated motion is taken",
        items=[
            ("ALL", "Whole Body", "All bones move as simulated", 0),
            ("CHOSEN", "Chosen Bones", "The chosen bones move as simulated, the others as keyed", 1),
            ("OTHERS", "All but the Chosen", "The chosen bones move as keyed, the others as simulated", 2),
        ],
        default="ALL",
        override=OVERRIDABLE,
    )
    chosen_bones: CollectionProperty(type=HEFT_PG_bone_choice, override=OVERRIDABLE_LIST)
    influence: FloatProperty(
        name="Influence",
        description="How much of the simulated motion is taken: 0 is as keyed, 1 as simulated",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    blend_in: IntProperty(
        name="Blend In",
        description="Frames over which the keyed motion gives way to the simulated one",
        default=0,
        min=0,
        soft_max=50,
        override=OVERRIDABLE,
    )
    blend_out: IntProperty(
        name="Blend Out",
        description="Frames over which the simulated motion gives way to the keyed one at the end",
        default=0,
        min=0,
        soft_max=50,
        override=OVERRIDABLE,
    )
    reduce: BoolProperty(
        name="Simplify Keys",
        description="Leave out keys that straight lines replace, to a tenth of a degree and a millimetre",
        override=OVERRIDABLE,
    )
    write_diagnostics: BoolProperty(
        name="Diagnostics as Curves",
        description="Key contact force, tracking error and balance margin on the armature, for the Graph Editor",
        default=True,
        override=OVERRIDABLE,
    )

    proxy_of: PointerProperty(description="The armature whose bakes this one shows", type=bpy.types.Object)
    feet: CollectionProperty(type=HEFT_PG_foot, override=OVERRIDABLE_LIST)
    tracking_error: FloatProperty(
        name="Tracking Error",
        description="How far the joints are from the action, in degrees on average; a bake keys it",
        override=OVERRIDABLE,
    )
    root_error: FloatProperty(
        name="Distance",
        description="How far the hips are from where the action has them, in metres; a bake keys it",
        override=OVERRIDABLE,
    )
    balance_margin: FloatProperty(
        name="Balance Margin",
        description="How far inside the feet's outline the body comes to rest if it goes on as it moves, in metres; "
        "negative is outside. A bake keys it [extrapolated centre of mass, Hof et al. 2005]",
        override=OVERRIDABLE,
    )
    report: StringProperty(name="Report", description="What the last bake was like, as JSON text", override=OVERRIDABLE)

    show_ghost: BoolProperty(
        name="Action", description="Draw the action that is followed, as a stick figure", default=True
    )
    show_balance: BoolProperty(
        name="Balance",
        description="Draw the centre of mass, where it stands over the ground, and the outline of the feet",
        default=True,
    )
    show_forces: BoolProperty(name="Contact Forces", description="Draw the forces of the ground", default=True)
    show_pushes: BoolProperty(name="Pushes", description="Draw the pushes that act on the character", default=True)
    show_fall: BoolProperty(name="Fall", description="Mark where it fell", default=True)


class HEFT_PG_progress(bpy.types.PropertyGroup):
    """What the running bake is at; on the window manager, so it is in no file and no undo step."""

    running: BoolProperty(options={"SKIP_SAVE"})
    stop: BoolProperty(description="Somebody wants it to stop", options={"SKIP_SAVE"})
    who: StringProperty(description="Whose turn it is, where there are several", options={"SKIP_SAVE"})
    stage: StringProperty(options={"SKIP_SAVE"})
    share: FloatProperty(min=0.0, max=1.0, options={"SKIP_SAVE"})
    left: StringProperty(description="The time left, in words", options={"SKIP_SAVE"})

    @property
    def line(self) -> str:
        """Whose turn it is, where that needs to be told, and the stage."""
        return f"{self.who}: {self.stage}" if self.who else str(self.stage)


CLASSES = (
    *methods.CLASSES,
    *playback.CLASSES,
    *course.CLASSES,
    *others.CLASSES,
    HEFT_PG_bone_choice,
    HEFT_PG_foot,
    HEFT_PG_progress,
)


def register() -> None:
    """Hang the progress on the window manager."""
    bpy.types.WindowManager.heft = PointerProperty(type=HEFT_PG_progress)


def unregister() -> None:
    """Take it off."""
    del bpy.types.WindowManager.heft
