# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy: an armature of the same deforming bones, free of constraints, for a rig whose bones are driven by others."""

import bpy
import numpy as np
from numpy.typing import NDArray

from ..typed import settings_on
from .reading import ordered_bones


def is_driven(armature: bpy.types.Object) -> bool:
    """Whether a deforming bone is moved by constraints, so that keys on it would be overruled."""
    return any(
        armature.data.bones[bone.name].use_deform and any(not constraint.mute for constraint in bone.constraints)
        for bone in armature.pose.bones
    )


def proxy_bones(armature: bpy.types.Object) -> list[str]:
    """Return the bones that a proxy has: those that deform, or all where none is marked so."""
    names = [bone.name for bone in ordered_bones(armature) if bone.use_deform]
    return names or [bone.name for bone in ordered_bones(armature)]


def make_proxy(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object:
    """Add the proxy to the armature's collections, at its place, and return it; the source is not touched.

    Needs Object Mode. Each bone hangs from the nearest bone above it that the proxy has too, and keeps its rest pose.
    None is connected or takes its parent's scale: constraints may have pulled it away or stretched it, and it follows.
    """
    context.view_layer.update()
    source = {bone.name: bone for bone in armature.data.bones}
    names = proxy_bones(armature)
    proxy = bpy.data.objects.new(f"{armature.name} Baked", bpy.data.armatures.new(f"{armature.name} Baked"))
    proxy.matrix_world = armature.matrix_world
    for collection in armature.users_collection or (context.collection,):
        collection.objects.link(proxy)
    active, selected = context.view_layer.objects.active, list(context.selected_objects)
    for other in selected:
        other.select_set(state=False)
    context.view_layer.objects.active = proxy
    bpy.ops.object.mode_set(mode="EDIT")
    edit_bones = proxy.data.edit_bones
    for name in names:
        bone = source[name]
        edit_bone = edit_bones.new(name)
        edit_bone.length = bone.length
        edit_bone.matrix = bone.matrix_local
        edit_bone.inherit_scale = "NONE"
        above = bone.parent
        while above is not None and above.name not in edit_bones:
            above = above.parent
        edit_bone.parent = edit_bones[above.name] if above is not None else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in names:
        proxy.pose.bones[name].rotation_mode = armature.pose.bones[name].rotation_mode
    context.view_layer.objects.active = active
    for other in selected:
        other.select_set(state=True)
    return proxy


def columns_of(armature: bpy.types.Object, proxy: bpy.types.Object) -> NDArray[np.int64]:
    """Return where in the armature's order of bones each of the proxy's stands, to pick its poses."""
    place = {bone.name: index for index, bone in enumerate(ordered_bones(armature))}
    return np.array([place[bone.name] for bone in ordered_bones(proxy)], dtype=np.int64)


def proxy_of(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object:
    """Return the proxy that an earlier bake made, or a new one."""
    proxy = proxy_there(context, armature)
    if proxy is None:
        proxy = make_proxy(context, armature)
        settings_on(proxy).proxy_of = armature
    return proxy


def proxy_there(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object | None:
    """Return the proxy that an earlier bake made, None where there is none."""
    wanted = {bone.name for bone in armature.data.bones}
    for other in context.view_layer.objects:
        if (
            other.type == "ARMATURE"
            and settings_on(other).proxy_of == armature
            and {bone.name for bone in other.data.bones} <= wanted
        ):
            return other
    return None


def check_root(armature: bpy.types.Object) -> None:
    """ValueError where a proxy, which has deforming bones only, would lack the root that is to take the way."""
    settings = settings_on(armature)
    if settings.root_motion != "ROOT":
        return
    root = armature.data.bones[settings.chosen_roles()["pelvis"][0]].parent_recursive[-1].name
    if root not in proxy_bones(armature):
        raise ValueError(
            f"The root of {armature.name} does not deform, so that its proxy has none: switch on Deform of {root}, or "
            "choose In Place under Root Motion."
        )
