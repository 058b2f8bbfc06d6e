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

from .balance import HEFT_PG_balance
from .combination import HEFT_PG_combination, HEFT_PG_other_action
from .gait import HEFT_PG_course, HEFT_PG_gait
from .lookahead import HEFT_PG_lookahead
from .momentum import HEFT_PG_momentum
from .overrides import OVERRIDABLE, OVERRIDABLE_LIST
from .playback import HEFT_PG_playback
from .replanning import HEFT_PG_replanning

FOLLOW_KEYS = {"REPLANNING"}
"""Methods that can follow the keys as they are, and play them at other speeds."""
WALKS_ITSELF = {"GAIT"}
"""Methods that take no more than a pose from the action."""
COMBINES = {"COMBINATION"}
"""Methods that combine other actions with the source."""
GOES_BETWEEN = {"BALANCE"}
"""Methods that go from the source to other actions and back, while they walk on."""
LEAST_RATE = {"GAIT": 300}
"""Steps a second that a method takes at least."""


class HEFT_PG_bone_choice(bpy.types.PropertyGroup):
    """A bone, by its `name`, that takes part in what is baked."""


class HEFT_PG_foot(bpy.types.PropertyGroup):
    """What a foot, by its `name`, bears; keyed by a bake."""

    force: FloatProperty(
        name="Contact Force",
        description="Force of the ground on this foot, in newtons; a bake keys it",
        override=OVERRIDABLE,
    )


class BakeSettings:
    """Settings of a bake, and what it measured: a part of `obj.heft`."""

    controller: EnumProperty(
        name="Method",
        description="How the character is controlled while it is simulated",
        items=[
            (
                "LOOKAHEAD",
                "Look Ahead",
                "Follows the action closely and plans its steps ahead: walking, running, turning [Muico et al. 2009]",
                0,
            ),
            (
                "REPLANNING",
                "Replan",
                "Plans forces anew at every step: key poses, hanging, squats, pushed walks [Jain and Liu 2011]",
                1,
            ),
            (
                "MOMENTUM",
                "Momentum",
                "Takes pushes, stairs, other steps; poses may be kinematic, torques beyond anyone's [Ye and Liu 2010]",
                2,
            ),
            (
                "BALANCE",
                "Style and Balance",
                "Follows every joint, weighs balance against it: level walks, marches, squats [da Silva 2010]",
                3,
            ),
            (
                "GAIT",
                "Walk",
                "Walks by itself from the action's first pose, at keyed speeds, to a keyed heading [Carensac et al.]",
                4,
            ),
            (
                "COMBINATION",
                "Combine",
                "Anything between several actions by a keyed slider, or what is easiest when pushed [da Silva 2010]",
                5,
            ),
        ],
        default="LOOKAHEAD",
        override=OVERRIDABLE,
    )
    lookahead: PointerProperty(type=HEFT_PG_lookahead, override=OVERRIDABLE)
    replanning: PointerProperty(type=HEFT_PG_replanning, override=OVERRIDABLE)
    playback: PointerProperty(type=HEFT_PG_playback, override=OVERRIDABLE)
    optimise: BoolProperty(
        name="Make It Possible First",
        description="Find the possible motion nearest to the action before it is simulated, as walks and runs need it. "
        "Without, the keys are followed as they are: for a few key poses, however rough",
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
    momentum: PointerProperty(type=HEFT_PG_momentum, override=OVERRIDABLE)
    balance: PointerProperty(type=HEFT_PG_balance, override=OVERRIDABLE)
    gait: PointerProperty(type=HEFT_PG_gait, override=OVERRIDABLE)
    course: PointerProperty(type=HEFT_PG_course, override=OVERRIDABLE)
    combination: PointerProperty(type=HEFT_PG_combination, override=OVERRIDABLE)
    others: CollectionProperty(type=HEFT_PG_other_action, override=OVERRIDABLE_LIST)
    slider: FloatProperty(
        name="Between",
        description="What to do between the actions: 0 is the source, 1 the last of the others. Key it: a walk looks "
        "at it as each stride begins",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    motion: IntProperty(
        name="Go To",
        description="Which action to go to from here on: 0 is the source, 1 the first of the others. Key it: each key "
        "is gone to at the next occasion",
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
        name="Own Range",
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
        name="Walk On",
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
            ("AUTO", "Find Out", "A new action on this rig; on a proxy where constraints move its bones", 0),
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
        name="Fewer Keys",
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
    help_share: FloatProperty(
        name="Help",
        description="Help from nowhere, as a share of the character's weight; a bake keys it",
        min=0.0,
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
    HEFT_PG_lookahead,
    HEFT_PG_replanning,
    HEFT_PG_playback,
    HEFT_PG_momentum,
    HEFT_PG_balance,
    HEFT_PG_gait,
    HEFT_PG_course,
    HEFT_PG_combination,
    HEFT_PG_other_action,
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
