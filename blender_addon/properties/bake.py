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

from . import course, methods, others, playback, reactions
from .overrides import OVERRIDABLE, OVERRIDABLE_LIST


def is_another_armature(settings: bpy.types.PropertyGroup, other: bpy.types.Object) -> bool:
    """For the choice of a motion."""
    return other.type == "ARMATURE" and other != settings.id_data


class HEFT_PG_bone_choice(bpy.types.PropertyGroup):
    """A bone, by its `name`, that takes part in what is baked."""


class HEFT_PG_foot(bpy.types.PropertyGroup):
    """What a foot, by its `name`, bears; keyed by a bake."""

    force: FloatProperty(
        name="Contact Force",
        description="Force of the ground on this foot, in newtons; keyed by a bake",
        override=OVERRIDABLE,
    )


class BakeSettings(methods.MethodSettings, reactions.ReactionSettings):
    """Settings of a bake, and what it measured: a part of `obj.heft`."""

    playback: PointerProperty(type=playback.HEFT_PG_playback, override=OVERRIDABLE)
    optimise: BoolProperty(
        name="Correct Physics First",
        description="Simulate the physically correct motion nearest to the action, as walks and runs need. Off: follow "
        "the keys as they are, for a few key poses, however rough",
        default=True,
        override=OVERRIDABLE,
    )
    help: EnumProperty(
        name="Help",
        description="What carries a motion that nothing possible is near. The report says how much is given, and when",
        items=[
            ("NONE", "None", "Nothing: such a motion is refused", 0),
            ("AS_NEEDED", "As Needed", "The least help that keeps it near the action; none where it is possible", 1),
            ("AS_KEYED", "As Keyed", "The motion stays as it is keyed, and help carries whatever contacts cannot", 2),
        ],
        default="AS_NEEDED",
        override=OVERRIDABLE,
    )
    flights: EnumProperty(
        name="Flights",
        description="What becomes of jumps that are too slow or too quick for gravity. The report says how much it is",
        items=[
            ("AUTO", "Automatic", "What changes least, if that is little; else help carries them", 0),
            ("TIMING", "Timing", "As high as keyed, as quick as gravity has it: what stands around is stretched", 1),
            ("HEIGHT", "Height", "Take-off and landing when they are keyed, and as high as gravity has it", 2),
            ("AS_KEYED", "As Keyed", "As high and as slow as keyed: help carries them", 3),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    course: PointerProperty(type=course.HEFT_PG_course, override=OVERRIDABLE)
    others: CollectionProperty(type=others.HEFT_PG_other_action, override=OVERRIDABLE_LIST)
    slider: FloatProperty(
        name="Blend",
        description="Position between the actions: 0 is the source, 1 the last of the others. Key it; a walk reads it "
        "at the start of each stride",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    motion: IntProperty(
        name="Active Action",
        description="The action to switch to: 0 is the source, 1 the first of the others. Key it; each key takes "
        "effect at the next good moment",
        min=0,
        soft_max=9,
        override=OVERRIDABLE,
    )
    auto_bake: BoolProperty(
        name="Auto Bake",
        description="Bake again in the background whenever keys, settings, pushes or the ground have changed. The rig "
        "goes on playing what it plays",
        override=OVERRIDABLE,
    )
    source_action: PointerProperty(
        name="Source",
        description="The action to simulate; by default the assigned one, or what that was baked from",
        type=bpy.types.Action,
        override=OVERRIDABLE,
    )
    motion_from: PointerProperty(
        name="Motion From",
        description="Another armature whose motion this one takes over, at its own proportions; empty for its own",
        type=bpy.types.Object,
        poll=is_another_armature,
        override=OVERRIDABLE,
    )
    use_frame_range: BoolProperty(
        name="Custom Range",
        description="Simulate only part of the action; the rest stays as keyed",
        override=OVERRIDABLE,
    )
    frame_start: IntProperty(name="Start", description="First frame to simulate", default=1, override=OVERRIDABLE)
    frame_end: IntProperty(name="End", description="Last frame to simulate", default=250, override=OVERRIDABLE)
    rate: IntProperty(
        name="Steps per Second",
        description="Simulation steps per second. More are slower, but follow fast motion better",
        default=120,
        min=30,
        soft_min=60,
        soft_max=480,
        max=2000,
        override=OVERRIDABLE,
    )
    loop: BoolProperty(
        name="Extend Cycle",
        description="Find the repeating cycle in the action, and continue it for as long as you want",
        override=OVERRIDABLE,
    )
    loop_seconds: FloatProperty(
        name="Seconds",
        description="How long the motion lasts",
        default=10.0,
        min=0.5,
        soft_max=60.0,
        max=3600.0,
        override=OVERRIDABLE,
    )
    path: PointerProperty(
        name="Path",
        description="A curve to walk along, from its first point to its last, with the cycle of the action",
        type=bpy.types.Object,
        poll=lambda _settings, other: other.type == "CURVE",
        override=OVERRIDABLE,
    )
    target: PointerProperty(
        name="Target",
        description="An object to walk to, wherever it is at each moment; only without a path",
        type=bpy.types.Object,
        poll=lambda settings, other: other != settings.id_data,
        override=OVERRIDABLE,
    )
    path_wait: FloatProperty(
        name="Wait",
        description="How long to stand where one of the curve's splines ends and the next begins, in seconds",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        max=60.0,
        override=OVERRIDABLE,
    )
    path_speed: FloatProperty(
        name="Path Speed",
        description="How fast to walk along the path, in metres per second; 0 is as fast as the action goes",
        default=0.0,
        min=0.0,
        soft_max=4.0,
        max=10.0,
        override=OVERRIDABLE,
    )
    output: EnumProperty(
        name="Output",
        description="Where to bake the motion. The source action is always kept",
        items=[
            ("AUTO", "Automatic", "A new action on this rig, or on a proxy if constraints move its bones", 0),
            ("ACTION", "New Action", "A new action on this rig. Constraints on its bones still act on top", 1),
            ("MUTE", "Muted Constraints", "A new action on this rig, with the constraints of the keyed bones muted", 2),
            (
                "PROXY",
                "Proxy Armature",
                "A new armature with the deforming bones, in the same place; this one stays as it is",
                3,
            ),
            ("CONTROLS", "Controls", "A new action on this rig's controls. Nothing else of the action changes", 4),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    layer: EnumProperty(
        name="Layer",
        description="How the bake lies over the source action",
        items=[
            ("ACTION", "New Action", "The bake is an action of its own, in place of the source", 0),
            (
                "REPLACE",
                "Replace",
                "A strip over the source's in the NLA: dial its influence, and key by hand above",
                1,
            ),
            ("COMBINE", "Combine", "The same with the difference only, so that changes to the source come through", 2),
        ],
        default="ACTION",
        override=OVERRIDABLE,
    )
    bones: EnumProperty(
        name="Bones",
        description="Which bones take the simulated motion",
        items=[
            ("ALL", "Whole Body", "All bones move as simulated", 0),
            ("CHOSEN", "Chosen Bones", "The chosen bones move as simulated, the others as keyed", 1),
            ("OTHERS", "All but Chosen", "The chosen bones move as keyed, the others as simulated", 2),
        ],
        default="ALL",
        override=OVERRIDABLE,
    )
    chosen_bones: CollectionProperty(type=HEFT_PG_bone_choice, override=OVERRIDABLE_LIST)
    influence: FloatProperty(
        name="Influence",
        description="How much of the simulated motion to use: 0 is as keyed, 1 as simulated",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    blend_in: IntProperty(
        name="Blend In",
        description="Frames to blend from the keyed to the simulated motion",
        default=0,
        min=0,
        soft_max=50,
        override=OVERRIDABLE,
    )
    blend_out: IntProperty(
        name="Blend Out",
        description="Frames to blend from the simulated back to the keyed motion at the end",
        default=0,
        min=0,
        soft_max=50,
        override=OVERRIDABLE,
    )
    root_motion: EnumProperty(
        name="Root Motion",
        description="What becomes of the way over the ground, for games",
        items=[
            ("NONE", "As It Is", "The root bone stays as keyed, and the hips go their way", 0),
            ("ROOT", "Root Bone", "The topmost bone above the hips goes along on the ground below them", 1),
            ("IN_PLACE", "In Place", "The way is taken off: the character stays where it begins", 2),
        ],
        default="NONE",
        override=OVERRIDABLE,
    )
    root_turns: BoolProperty(name="Turn", description="The way turns with the hips", default=True, override=OVERRIDABLE)
    root_rises: BoolProperty(
        name="Height", description="The way goes up and down with the hips, as on stairs", override=OVERRIDABLE
    )
    reduce: BoolProperty(
        name="Fewer Keys",
        description="Bezier curves with keys on extremes and contacts instead of a key at every frame, to edit by hand",
        override=OVERRIDABLE,
    )
    key_tolerance: FloatProperty(
        name="Tolerance",
        description=(
            "How far hands and feet may be from where a key at every frame has them, in millimetres; they may turn by "
            "half as many degrees"
        ),
        default=2.0,
        min=0.1,
        soft_max=20.0,
        precision=1,
        override=OVERRIDABLE,
    )
    mark_asset: BoolProperty(
        name="Mark as Asset",
        description="The new action is marked as an asset, for animation libraries",
        override=OVERRIDABLE,
    )
    write_diagnostics: BoolProperty(
        name="Key Diagnostics",
        description="Key contact force, tracking error and balance margin on the armature, for the Graph Editor",
        default=True,
        override=OVERRIDABLE,
    )

    proxy_of: PointerProperty(description="The armature whose bakes this proxy shows", type=bpy.types.Object)
    feet: CollectionProperty(type=HEFT_PG_foot, override=OVERRIDABLE_LIST)
    tracking_error: FloatProperty(
        name="Tracking Error",
        description="Mean distance of the joints from the action, in degrees; keyed by a bake",
        override=OVERRIDABLE,
    )
    root_error: FloatProperty(
        name="Distance",
        description="Distance of the hips from the action, in metres; keyed by a bake",
        override=OVERRIDABLE,
    )
    balance_margin: FloatProperty(
        name="Balance Margin",
        description="How far inside the outline of the feet the body is heading, in metres; negative is outside. Keyed "
        "by a bake [extrapolated centre of mass, Hof et al. 2005]",
        override=OVERRIDABLE,
    )
    help_share: FloatProperty(
        name="Help",
        description="Help from nowhere, as a fraction of the character's weight. Keyed by a bake",
        min=0.0,
        override=OVERRIDABLE,
    )
    report: StringProperty(name="Report", description="Report of the last bake, as JSON", override=OVERRIDABLE)

    show_ghost: BoolProperty(name="Action", description="Draw the followed action as a stick figure", default=True)
    show_balance: BoolProperty(
        name="Balance",
        description="Draw the centre of mass, its point on the ground, and the outline of the feet",
        default=True,
    )
    show_forces: BoolProperty(name="Contact Forces", description="Draw the ground's forces", default=True)
    show_help: BoolProperty(name="Help", description="Draw the force from nowhere, in newtons", default=True)
    show_pushes: BoolProperty(name="Pushes", description="Draw the pushes that act on the character", default=True)
    show_fall: BoolProperty(name="Fall", description="Mark where the character fell", default=True)

    @property
    def extends(self) -> bool:
        """Whether a gait cycle goes on for as long as is wanted: it is asked to, or its method knows nothing else."""
        return self.loop or methods.method_of(self).needs.cycle


class HEFT_PG_progress(bpy.types.PropertyGroup):
    """What the running bake is at; on the window manager, so it is in no file and no undo step."""

    running: BoolProperty(options={"SKIP_SAVE"})
    following: BoolProperty(description="A bake that nobody asked for goes on", options={"SKIP_SAVE"})
    stop: BoolProperty(description="A cancel was requested", options={"SKIP_SAVE"})
    rehearses: BoolProperty(description="It rehearses, which can be skipped", options={"SKIP_SAVE"})
    skip: BoolProperty(description="No more rehearsals are wanted", options={"SKIP_SAVE"})
    who: StringProperty(description="The armature being baked, if there are several", options={"SKIP_SAVE"})
    stage: StringProperty(options={"SKIP_SAVE"})
    fraction: FloatProperty(min=0.0, max=1.0, options={"SKIP_SAVE"})
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
    bpy.types.WindowManager.heft = PointerProperty(type=HEFT_PG_progress)  # type: ignore[attr-defined]


def unregister() -> None:
    """Take it off."""
    del bpy.types.WindowManager.heft  # type: ignore[attr-defined]
