# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of an armature: `obj.heft`."""

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

from ...core.motion.floor import Levelling
from ...core.motion.upright import Up
from ...core.rig.families import FAMILIES
from ...core.rig.role_names import ROLES, Roles
from . import automatic, bake, contacts, overrides, scene
from .overrides import OVERRIDABLE, OVERRIDABLE_LIST


class HEFT_PG_bone(bpy.types.PropertyGroup):
    """A bone of a role."""

    bone: StringProperty(name="Bone", description="A bone with this role", override=OVERRIDABLE)


class HEFT_PG_role(bpy.types.PropertyGroup):
    """A role, by its `name`, and the bones that play it, ordered from root to tip."""

    bones: CollectionProperty(type=HEFT_PG_bone, override=OVERRIDABLE_LIST)
    found: StringProperty(description="The bones that Set Up found, to detect choices by hand")
    score: FloatProperty(name="Score", description="Confidence of Set Up, from 0 to 1", min=0.0, max=1.0)

    def names(self) -> tuple[str, ...]:
        """The names of the bones, empty entries left out."""
        return tuple(entry.bone for entry in self.bones if entry.bone)

    def is_by_hand(self) -> bool:
        """Whether the bones are not those that Set Up found."""
        return bool("\n".join(self.names()) != self.found)

    def assign(self, names: tuple[str, ...]) -> None:
        """Make these the role's bones; it always has one entry at least, for the panel to show."""
        self.bones.clear()
        for name in names or ("",):
            self.bones.add().bone = name


class HEFT_PG_joint(bpy.types.PropertyGroup):
    """A joint of the character, by its `name`, and the kind that it is to have."""

    kind: EnumProperty(
        name="Kind",
        description="How the joint moves",
        items=[
            ("AUTO", "Automatic", "Decide from the rest pose and the motion", 0),
            ("HINGE", "Hinge", "Turns about one axis, like a knee", 1),
            ("UNIVERSAL", "Universal", "Turns about two axes, like an ankle", 2),
            ("BALL", "Ball", "Turns in any direction, like a hip", 3),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )


class HEFT_PG_armature(bpy.types.PropertyGroup, bake.BakeSettings):
    """Heft's settings of one armature, and what Set Up made of it."""

    family: EnumProperty(
        name="Rig",
        description="Naming scheme of the bones",
        items=[
            ("AUTO", "Automatic", "Detect bones by their names and the skeleton's shape", 0),
            *(
                (key, family.label, f"Detect bones by the names of {family.label}", n)
                for n, (key, family) in enumerate(FAMILIES.items(), 1)
            ),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    roles: CollectionProperty(type=HEFT_PG_role, override=OVERRIDABLE_LIST)
    joints: CollectionProperty(type=HEFT_PG_joint, override=OVERRIDABLE_LIST)
    unsure: StringProperty(description="What Set Up was unsure of, one sentence per line")
    detail: EnumProperty(
        name="Detail",
        description="Number of joints of the character",
        items=[
            ("SIMPLE", "Simple", "One trunk, with hands and head fixed to it: about 31 degrees of freedom", 0),
            (
                "FULL",
                "Full",
                "A trunk of two parts, with joints for collar bones, hands and head: 42 to 54 degrees of freedom",
                1,
            ),
        ],
        default="SIMPLE",
        override=OVERRIDABLE,
    )
    sex: EnumProperty(
        name="Proportions",
        description="Whose mean masses are used",
        items=[("MALE", "Male", "Mean masses of men", 0), ("FEMALE", "Female", "Mean masses of women", 1)],
        default="MALE",
        override=OVERRIDABLE,
    )
    masses_from: EnumProperty(
        name="Masses",
        description="How mass is distributed over the body",
        items=[
            ("AUTO", "Automatic", "From the mesh for builds unlike people's, where it is skinned; else from tables", 2),
            ("TABLES", "Tables", "From the lengths of the bones and mean proportions", 0),
            ("MESH", "Mesh", "From the volume of the mesh around the bones, for unusual builds", 1),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    use_total_mass: BoolProperty(
        name="Custom Mass",
        description="Set the mass yourself instead of deriving it from the figure's height",
        override=OVERRIDABLE,
    )
    total_mass: FloatProperty(
        name="Mass",
        description="Mass of the whole character, in kilograms",
        default=75.0,
        min=0.1,
        soft_max=200.0,
        max=100000.0,
        precision=1,
        override=OVERRIDABLE,
    )
    scale: FloatProperty(
        name="Scale",
        description="Metres per metre of the scene, for rigs that are not built to scale",
        default=1.0,
        min=1e-6,
        max=1e6,
        precision=4,
        override=OVERRIDABLE,
    )
    up: EnumProperty(
        name="Up",
        description="Up axis of the motion; a motion that lies on its side is simulated standing",
        items=[
            ("AUTO", "Automatic", "Detect the axis along which the trunk is above the legs", 0),
            ("Z", "Z", "The motion is upright", 1),
            ("X", "X", "The motion lies on its side", 2),
            ("-X", "-X", "The motion lies on its side", 3),
            ("Y", "Y", "The motion lies on its back or its front", 4),
            ("-Y", "-Y", "The motion lies on its back or its front", 5),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    facing: EnumProperty(
        name="Facing",
        description="Which way the figure faces: it tells its left from its right",
        items=[
            ("AUTO", "Automatic", "By the names of the bones; where they have none by feet and knees", 0),
            ("REVERSED", "Reversed", "The other way round: left and right change places", 1),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    travel: EnumProperty(
        name="Travel",
        description="Whether the motion travels, or walks in place as game animations do",
        items=[
            ("AUTO", "Automatic", "In place if standing feet slide back steadily under hips that stay", 0),
            ("IN_PLACE", "In Place", "Move it at the speed of its feet for the simulation, then bring it back", 1),
            ("TRAVELLING", "Travelling", "The motion travels as keyed", 2),
        ],
        default="AUTO",
        override=OVERRIDABLE,
    )
    level_height: BoolProperty(
        name="Height",
        description="Move a motion that floats over the floor, or is sunk in it, onto it",
        default=True,
        override=OVERRIDABLE,
    )
    level_tilt: BoolProperty(
        name="Tilt",
        description="Straighten a motion whose floor leans by up to 2 degrees",
        default=True,
        override=OVERRIDABLE,
    )
    level_drift: BoolProperty(
        name="Drift",
        description="Take off a steady sinking, rising or gliding of all that stands, as of suits of sensors",
        default=True,
        override=OVERRIDABLE,
    )
    found_floor: StringProperty(description="What Set Up found of the floor, one sentence per line")
    found_damage: StringProperty(description="Where the motion is damaged and what was done, as JSON")
    found_up: StringProperty(description="The axis that Set Up found to be up", default="Z", override=OVERRIDABLE)
    found_facing: StringProperty(description="The axis that the figure faces in the first frame", override=OVERRIDABLE)
    character: StringProperty(
        name="Character", description="The physical character, as text of a character file", override=OVERRIDABLE
    )

    layout: IntProperty(description="Since when these settings are laid out like this", override=OVERRIDABLE)
    rides: StringProperty(description="How the character's bodies follow the bones", override=OVERRIDABLE)
    show_character: BoolProperty(
        name="Show",
        description="Draw bodies, joint axes, feet and the centre of mass over the selected rig",
        default=True,
        override=OVERRIDABLE,
    )

    show_physics: BoolProperty(
        name="Show Physics",
        description="Show what physics says of the action before any bake: centre of mass, arc and balance, and what "
        "is wrong with feet. Impossible frames are marked in the Dope Sheet",
        override=OVERRIDABLE,
    )
    show_contacts: BoolProperty(
        name="Show as Bars",
        description="Draw contacts as bars along the bottom of the Dope Sheet and the Timeline: left red, right green",
        default=True,
        override=OVERRIDABLE,
    )
    show_damage: BoolProperty(
        name="Show Damage",
        description="Draw where the motion was damaged along the bottom of the Dope Sheet: mended, or only guessed",
        default=True,
        override=OVERRIDABLE,
    )
    contacts: PointerProperty(type=contacts.HEFT_PG_contacts, override=OVERRIDABLE)
    changes: PointerProperty(type=contacts.HEFT_PG_changes, override=OVERRIDABLE)
    reference_report: StringProperty(description="Quality of the last reference, as JSON")

    terrain: PointerProperty(
        name="Terrain",
        description="Collection whose meshes are ground, as the viewport shows them",
        type=bpy.types.Collection,
        override=OVERRIDABLE,
    )
    use_floor: BoolProperty(
        name="Floor",
        description="Add an endless floor at height 0 to the terrain's meshes",
        default=True,
        override=OVERRIDABLE,
    )
    floor_friction: FloatProperty(
        name="Floor Friction",
        description="How well feet hold on the floor: 0 is ice, 1 is rubber on stone",
        default=1.0,
        min=0.0,
        soft_max=2.0,
        max=100.0,
        override=OVERRIDABLE,
    )
    props: PointerProperty(
        name="Props",
        description="Collection whose rigid bodies can be kicked, carried and leant on",
        type=bpy.types.Collection,
        override=OVERRIDABLE,
    )

    surface: PointerProperty(type=scene.HEFT_PG_surface, override=OVERRIDABLE)
    push: PointerProperty(type=scene.HEFT_PG_push, override=OVERRIDABLE)
    throw: PointerProperty(type=scene.HEFT_PG_throw, override=OVERRIDABLE)
    take: PointerProperty(type=scene.HEFT_PG_take, override=OVERRIDABLE)
    grab: PointerProperty(type=scene.HEFT_PG_grab, override=OVERRIDABLE)
    foothold: PointerProperty(type=scene.HEFT_PG_foothold, override=OVERRIDABLE)
    weight: PointerProperty(type=scene.HEFT_PG_weight, override=OVERRIDABLE)

    def up_in_motion(self) -> Up:
        """The axis of the world that is up in the motion, as chosen or else as found."""
        up: Up = self.found_up if self.up == "AUTO" else self.up
        return up

    def levelling(self) -> Levelling:
        """What of a floor askew is mended."""
        return Levelling(self.level_height, self.level_tilt, self.level_drift)

    def chosen_roles(self) -> dict[str, tuple[str, ...]]:
        """The roles that have bones."""
        return {role.name: role.names() for role in self.roles if role.names()}

    def by_hand(self) -> dict[str, tuple[str, ...]]:
        """The roles that the user changed, those that were emptied too."""
        return {role.name: role.names() for role in self.roles if role.is_by_hand()}

    def store_roles(self, found: Roles, chosen: dict[str, tuple[str, ...]]) -> None:
        """Keep every role: what was found, and what was chosen instead."""
        self.roles.clear()
        for name in ROLES:
            role = self.roles.add()
            role.name, role.found, role.score = name, "\n".join(found[name]), found.score.get(name, 0.0)
            role.assign(chosen.get(name, ()))
        self.unsure = "\n".join(found.unsure)

    def store_joints(self, names: list[str]) -> None:
        """Keep an entry for each of the character's joints, with the kinds chosen so far."""
        kinds = {joint.name: joint.kind for joint in self.joints}
        self.joints.clear()
        for name in names:
            joint = self.joints.add()
            joint.name, joint.kind = name, kinds.get(name, "AUTO")


CLASSES = (
    *scene.CLASSES,
    *contacts.CLASSES,
    *bake.CLASSES,
    HEFT_PG_bone,
    HEFT_PG_role,
    HEFT_PG_joint,
    HEFT_PG_armature,
)


def register() -> None:
    """Hang the settings on every object; only armatures use them."""
    bake.register()
    whole = PointerProperty(type=HEFT_PG_armature, override=OVERRIDABLE)
    bpy.types.Object.heft = whole  # type: ignore[attr-defined]
    overrides.register()
    automatic.register()


def unregister() -> None:
    """Take them off."""
    automatic.unregister()
    overrides.unregister()
    del bpy.types.Object.heft  # type: ignore[attr-defined]
    bake.unregister()
