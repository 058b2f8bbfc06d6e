# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a mannequin with a few key poses, to be given weight by a bake."""

import bpy
from bpy.props import EnumProperty

from .adding import Adding
from .status import Status

SCENES = [
    ("CHIN_UP", "Mannequin on a Bar", "Hang and pull up: two key poses and two grabs"),
    ("SQUAT", "Mannequin with a Barbell", "Squat and stand up with 30 kg: three key poses"),
    ("JUMP_TO_BAR", "Mannequin Jumping to a Bar", "Crouch, jump, grab a bar and swing on it"),
    ("PICK_UP_BOX", "Mannequin with a Box", "Bend down, pick up a box and stand up with it"),
]


class HEFT_OT_add_key_poses(Adding):
    """Add a mannequin with a few key poses and the objects they need, ready to bake"""

    bl_idname = "heft.add_key_poses"
    bl_label = "Key Poses"
    bl_options = {"REGISTER", "UNDO"}

    scene: EnumProperty(name="Scene", description="What the mannequin does", items=SCENES)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add it at the 3D cursor and make it the active object."""
        from ..examples import jump_to_bar, key_poses, pick_up_box

        make = {
            "CHIN_UP": key_poses.chin_up,
            "SQUAT": key_poses.squat,
            "JUMP_TO_BAR": jump_to_bar.jump_to_bar,
            "PICK_UP_BOX": pick_up_box.pick_up_box,
        }[self.scene]
        x, y, z = context.scene.cursor.location.to_tuple()
        armature = make(context, (x, y, z))
        self.choose(context, armature)
        self.report({"INFO"}, f"Added {armature.name}: press Bake")
        return {"FINISHED"}


def draw_in_add_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Entries of Add ▸ Armature."""
    for identifier, name, _ in SCENES:
        menu.layout.operator(HEFT_OT_add_key_poses.bl_idname, text=name, icon="ARMATURE_DATA").scene = identifier
