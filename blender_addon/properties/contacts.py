# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sees of a reference in the Dope Sheet: which point touches when, and what was changed where.

A property for every contact point and every joint that a character can have, under the core's own names.
"""

import bpy
from bpy.props import BoolProperty, FloatProperty

from .overrides import OVERRIDABLE

SIDES = ("left", "right")

FEET = {
    f"{side}_{part}": f"{side.title()} {label}"
    for part, label in (("foot_heel", "Heel"), ("foot_toe", "Toe"), ("foot", "Foot"))
    for side in SIDES
}
OTHER_POINTS = {
    **{
        f"{side}_{part}": f"{side.title()} {label}"
        for part, label in (
            ("hand", "Hand"),
            ("hand_heel", "Paw, Rear"),
            ("hand_toe", "Paw, Front"),
            ("shank_start", "Knee"),
            ("thigh_start", "Seat"),
            ("forearm_start", "Elbow"),
            ("arm_start", "Shoulder"),
            ("forearm_end", "Wrist"),
            ("shank_end", "Ankle"),
            ("metatarsus_start", "Heel of a Paw"),
            ("metatarsus_end", "Toes' Joint"),
            ("metacarpus_start", "Wrist of a Paw"),
            ("metacarpus_end", "Fingers' Joint"),
            ("arm_end", "Upper Arm's End"),
            ("thigh_end", "Thigh's End"),
        )
        for side in SIDES
    },
    "head": "Head",
    "pelvis": "Hips",
    "pelvis_start": "Hips, Left",
    "pelvis_end": "Hips, Right",
    **{
        f"{trunk}_{end}".removesuffix("_"): label
        for trunk in ("torso", "thorax")
        for end, label in (("", "Back"), ("start", "Lower Back"), ("end", "Upper Back"))
    },
}
POINTS = FEET | OTHER_POINTS
JOINTS = {
    "trunk": "Trunk",
    "lower_back": "Lower Back",
    "upper_back": "Upper Back",
    "neck": "Neck",
    "tail": "Tail",
    **{
        f"{side}_{joint}": f"{side.title()} {label}"
        for joint, label in (
            ("hip", "Hip"),
            ("knee", "Knee"),
            ("ankle", "Ankle"),
            ("clavicle", "Collar Bone"),
            ("shoulder", "Shoulder"),
            ("elbow", "Elbow"),
            ("wrist", "Wrist"),
            ("toes", "Toes"),
            ("fingers", "Fingers"),
        )
        for side in SIDES
    },
}

# Blender makes properties of annotations; these are too many and too alike to be written one by one.
HEFT_PG_contacts = type(
    "HEFT_PG_contacts",
    (bpy.types.PropertyGroup,),
    {
        "__doc__": "Which points of a character bear weight; keyed.",
        "__module__": __name__,
        "__annotations__": {
            name: BoolProperty(
                name=label,
                description=f"{label} touches the ground or an object. Key it on and off",
                override=OVERRIDABLE,
            )
            for name, label in POINTS.items()
        },
    },
)
HEFT_PG_changes = type(
    "HEFT_PG_changes",
    (bpy.types.PropertyGroup,),
    {
        "__doc__": "How the reference differs from the action; keyed by Build Reference.",
        "__module__": __name__,
        "__annotations__": {
            "place": FloatProperty(
                name="Position",
                description="How far the reference moved the character from the action",
                subtype="DISTANCE",
                override=OVERRIDABLE,
            ),
            "heading": FloatProperty(
                name="Hips",
                description="How far the reference turned the hips from the action",
                subtype="ANGLE",
                override=OVERRIDABLE,
            ),
            **{
                name: FloatProperty(
                    name=label,
                    description=f"How far the reference bent this joint from the action: {label}",
                    subtype="ANGLE",
                    override=OVERRIDABLE,
                )
                for name, label in JOINTS.items()
            },
        },
    },
)

CLASSES = (HEFT_PG_contacts, HEFT_PG_changes)
