# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a walking mannequin, to try Heft on before you have a rig of your own."""

import bpy
from mathutils import Matrix, Vector

from .adding import Adding
from .status import Status

USUAL_END = 250  # Blender's own: a scene that ends there was not cut yet
LOW, TALL = 0.05, 1.75  # m: what is lower is ground, what is higher up is overhead
ROOM = 0.5  # m between a mannequin and what stands there already


def free_place(context: bpy.types.Context, wanted: Vector, armature: bpy.types.Object) -> Vector:
    """Return the place that is wanted, or the nearest to its side where no mesh stands as high as a mannequin walks."""
    place = wanted.copy()
    others = [bounds(other) for other in context.visible_objects if other.type == "MESH" and other.parent != armature]
    for low, high in sorted(others, key=lambda pair: pair[0].x):
        beside = low.x - ROOM < place.x < high.x + ROOM and low.y - ROOM < place.y < high.y + ROOM
        if beside and high.z > place.z + LOW and low.z < place.z + TALL:
            place.x = high.x + ROOM
    return place


def bounds(other: bpy.types.Object) -> tuple[Vector, Vector]:
    """Return the lowest and the highest corner of an object's box in the world."""
    corners = [other.matrix_world @ Vector(corner) for corner in other.bound_box]
    low = Vector([min(corner[axis] for corner in corners) for axis in range(3)])
    high = Vector([max(corner[axis] for corner in corners) for axis in range(3)])
    return low, high


class HEFT_OT_add_mannequin(Adding):
    """Add a rigged mannequin with a hand-keyed walk, ready to try Heft on"""

    bl_idname = "heft.add_mannequin"
    bl_label = "Walking Mannequin"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> Status:
        """Add it at the 3D cursor and make it the active object."""
        from ..examples import mannequin, walk

        armature = mannequin.make_mannequin(context)
        action = walk.key_walk(armature, frame_start=context.scene.frame_start)
        place = free_place(context, context.scene.cursor.location, armature)
        armature.matrix_world = Matrix.Translation(place.to_tuple())
        self.choose(context, armature)
        if context.scene.frame_end == USUAL_END:
            context.scene.frame_end = int(action.frame_range[1])
        self.report({"INFO"}, f"Added {armature.name} with the action {action.name}")
        return {"FINISHED"}


def draw_in_add_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """An entry of Add ▸ Armature."""
    menu.layout.operator(HEFT_OT_add_mannequin.bl_idname, icon="ARMATURE_DATA")
