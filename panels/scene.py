# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of what surrounds the character: ground, pushes, grabs, props, gravity."""

import bpy

from ..blender_addon.properties.methods import method_of
from ..blender_addon.scene.choosing import chosen_character
from ..blender_addon.typed import settings_on
from ..operators.add_foothold import HEFT_OT_add_foothold
from ..operators.add_grab import HEFT_OT_add_grab
from ..operators.add_path import HEFT_OT_add_path
from ..operators.add_prop import HEFT_OT_add_prop
from ..operators.add_push import HEFT_OT_add_push
from ..operators.mark_terrain import HEFT_OT_mark_terrain
from .tab import Tab


class HEFT_PT_scene(Tab):
    """Scene: what the character meets."""

    bl_idname = "HEFT_PT_scene"
    bl_label = "Scene"
    bl_order = 10

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """For a character, or something of its."""
        return chosen_character(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """One part for each kind of thing; the settings of the selected thing in its part."""
        layout = self.layout
        layout.use_property_split = True
        armature = chosen_character(context)
        if armature != context.active_object:
            layout.label(text=armature.name, icon="ARMATURE_DATA", translate=False)
        empties = [other for other in context.view_layer.objects if other.type == "EMPTY"]
        draw_terrain(layout, context, armature)
        draw_pushes(layout, context, [other for other in empties if settings_on(other).push.armature == armature])
        draw_grabs(layout, context, [other for other in empties if settings_on(other).grab.armature == armature])
        if method_of(settings_on(armature)).needs.places_feet:
            draw_footholds(layout, [other for other in empties if settings_on(other).foothold.armature == armature])
        draw_props(layout, context, armature)
        draw_path(layout, armature)
        row = layout.row(heading="Gravity", align=True)
        row.prop(context.scene, "use_gravity", text="")
        inner = row.row(align=True)
        inner.active = context.scene.use_gravity
        inner.prop(context.scene, "gravity", text="", index=2)


def draw_terrain(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """What the character stands on."""
    header, body = layout.panel("heft_terrain")
    header.label(text="Ground")
    if body is None:
        return
    settings, active = settings_on(armature), context.active_object
    body.prop(settings, "terrain")
    body.operator(HEFT_OT_mark_terrain.bl_idname, icon="MESH_GRID")
    if settings.terrain is not None:
        body.prop(settings, "use_floor")
    if settings.terrain is None or settings.use_floor:
        column = body.column()
        column.use_property_split = False  # its name in the field: beside it a narrow sidebar cuts it
        column.prop(settings, "floor_friction")
    if active is not None and settings.terrain is not None and active.name in settings.terrain.all_objects:
        body.label(text=active.name, icon="MESH_GRID", translate=False)
        body.prop(settings_on(active).surface, "friction")


def draw_pushes(layout: bpy.types.UILayout, context: bpy.types.Context, pushes: list[bpy.types.Object]) -> None:
    """Arrows and their strengths."""
    header, body = layout.panel("heft_pushes")
    header.label(text="Pushes")
    if body is None:
        return
    for empty in pushes:
        if settings_on(empty).push.taken:
            body.label(text=empty.name, icon="REC", translate=False)
            if empty == context.active_object:
                body.prop(settings_on(empty).push, "force")
            continue
        body.prop(settings_on(empty).push, "strength", text=f"{empty.name} (N)", translate=False)
        if empty == context.active_object:
            body.prop_search(settings_on(empty).push, "bone", settings_on(empty).push.armature.data, "bones")
    body.operator(HEFT_OT_add_push.bl_idname, icon="EMPTY_SINGLE_ARROW")


def draw_grabs(layout: bpy.types.UILayout, context: bpy.types.Context, grabs: list[bpy.types.Object]) -> None:
    """Hands and what they hold."""
    header, body = layout.panel("heft_grabs", default_closed=True)
    header.label(text="Grabs")
    if body is None:
        return
    for empty in grabs:
        grab = settings_on(empty).grab
        body.prop(grab, "holding", text=empty.name, translate=False)
        if empty == context.active_object:
            body.prop_search(grab, "bone", grab.armature.data, "bones")
            body.prop(grab, "target")
            body.prop(grab, "kind")
    body.operator(HEFT_OT_add_grab.bl_idname, icon="VIEW_PAN")


def draw_footholds(layout: bpy.types.UILayout, footholds: list[bpy.types.Object]) -> None:
    """Where feet are to be set down; only for methods that can move steps."""
    header, body = layout.panel("heft_footholds", default_closed=True)
    header.label(text="Footholds")
    if body is None:
        return
    for empty in footholds:
        foothold = settings_on(empty).foothold
        body.prop_search(foothold, "bone", foothold.armature.data, "bones", text=empty.name, translate=False)
    body.operator(HEFT_OT_add_foothold.bl_idname, icon="MESH_CIRCLE")


def draw_props(layout: bpy.types.UILayout, context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Things and weights."""
    header, body = layout.panel("heft_props", default_closed=True)
    header.label(text="Props")
    if body is None:
        return
    collection, active = settings_on(armature).props, context.active_object
    body.prop(settings_on(armature), "props")
    if collection is not None:
        body.prop(settings_on(armature), "effort")
    if active is not None and collection is not None and active.name in collection.all_objects:
        weight = settings_on(active).weight
        if weight.armature is not None:
            body.label(text=active.name, icon="MESH_CUBE", translate=False)
            body.prop_search(weight, "bone", weight.armature.data, "bones")
            body.prop(weight, "mass")
            body.prop(weight, "surprise")
        elif active.rigid_body is not None:
            body.label(text=active.name, icon="MESH_CUBE", translate=False)
            body.prop(active.rigid_body, "mass")
            if settings_on(active).throw.taken:
                for name in ("frame", "place", "velocity"):
                    body.prop(settings_on(active).throw, name)
            else:
                body.prop(active.rigid_body, "collision_shape")
    row = body.row(align=True)
    row.operator(HEFT_OT_add_prop.bl_idname, icon="RIGID_BODY").carried = False
    row.operator(HEFT_OT_add_prop.bl_idname, text="Add Weight", icon="PINNED").carried = True


def draw_path(layout: bpy.types.UILayout, armature: bpy.types.Object) -> None:
    """Where a walk is to lead."""
    header, body = layout.panel("heft_path", default_closed=True)
    header.label(text="Path")
    if body is None:
        return
    settings = settings_on(armature)
    column = body.column()
    column.prop(settings, "path")
    inner = column.column()
    inner.active = settings.path is None
    inner.prop(settings, "target")
    if settings.path is None:
        body.operator(HEFT_OT_add_path.bl_idname, icon="CURVE_PATH")
    if settings.path is not None or settings.target is not None:
        column.prop(settings, "path_speed")
    if settings.path is not None and len(settings.path.data.splines) > 1:
        column.prop(settings, "path_wait")
