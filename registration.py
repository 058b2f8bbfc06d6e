# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender is told when the extension is enabled, in order, and takes back in the mirror of that order.

The one module that knows every room, so it stands above them all.
"""

from pathlib import Path

import bpy

from .blender_addon import commands, folder_run, presets, slices
from .blender_addon.baking import following, session
from .blender_addon.overlay import bars
from .blender_addon.overlay import draw as overlay
from .blender_addon.properties import action as action_properties
from .blender_addon.properties import armature as armature_properties
from .blender_addon.properties import company as company_properties
from .blender_addon.worker import keeper
from .operators import (
    add_foothold,
    add_grab,
    add_key_poses,
    add_mannequin,
    add_path,
    add_preset,
    add_prop,
    add_push,
    add_supports,
    bake,
    build_reference,
    cancel,
    change_pace,
    choose_actions,
    choose_bones,
    clean_folder,
    clear_cache,
    find_contacts,
    mark_terrain,
    merge_down,
    precompute,
    set_up,
    skip_rehearsals,
    stage,
)
from .panels import bake as bake_panel
from .panels import character, controller, folder, motion, scene, status, system
from .panels import stage as stage_panel

CLASSES = (
    *action_properties.CLASSES,
    *armature_properties.CLASSES,
    *company_properties.CLASSES,
    add_mannequin.HEFT_OT_add_mannequin,
    add_key_poses.HEFT_OT_add_key_poses,
    set_up.HEFT_OT_set_up,
    set_up.HEFT_OT_edit_role,
    mark_terrain.HEFT_OT_mark_terrain,
    add_push.HEFT_OT_add_push,
    add_grab.HEFT_OT_add_grab,
    add_foothold.HEFT_OT_add_foothold,
    add_prop.HEFT_OT_add_prop,
    add_path.HEFT_OT_add_path,
    add_supports.HEFT_OT_add_supports,
    change_pace.HEFT_OT_change_pace,
    build_reference.HEFT_OT_build_reference,
    find_contacts.HEFT_OT_find_contacts,
    bake.HEFT_OT_bake,
    merge_down.HEFT_OT_merge_down,
    cancel.HEFT_OT_cancel,
    skip_rehearsals.HEFT_OT_skip_rehearsals,
    precompute.HEFT_OT_precompute,
    stage.HEFT_OT_stage,
    stage.HEFT_OT_drop_take,
    clear_cache.HEFT_OT_clear_cache,
    clean_folder.HEFT_OT_clean_folder,
    clean_folder.HEFT_OT_stop_cleaning,
    choose_actions.HEFT_OT_add_action,
    choose_actions.HEFT_OT_remove_action,
    choose_bones.HEFT_OT_choose_bones,
    add_preset.HEFT_OT_add_preset,
    character.HEFT_PT_character,
    character.HEFT_PT_body,
    character.HEFT_PT_roles,
    character.HEFT_PT_joints,
    motion.HEFT_PT_motion,
    motion.HEFT_PT_contacts,
    controller.HEFT_PT_controller_presets,
    controller.HEFT_PT_controller,
    controller.HEFT_PT_controller_reactions,
    controller.HEFT_PT_controller_advanced,
    scene.HEFT_PT_scene,
    stage_panel.HEFT_PT_stage,
    bake_panel.HEFT_PT_bake,
    bake_panel.HEFT_PT_bake_blend,
    bake_panel.HEFT_PT_bake_output,
    bake_panel.HEFT_PT_bake_overlay,
    folder.HEFT_PT_folder,
    system.HEFT_PT_system,
)


def make_demo(output: Path) -> None:
    """Make the demo, which is read only when it is asked for."""
    from .examples import demo

    demo.main(output)


def register() -> None:
    """Register every class, then the properties and the menu entries."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    action_properties.register()
    armature_properties.register()
    company_properties.register()
    slices.register()
    keeper.register()
    presets.register()
    commands.register(make_demo)
    following.register()
    overlay.register()
    bars.register()
    status.register()
    bpy.types.VIEW3D_MT_armature_add.append(add_mannequin.draw_in_add_menu)  # type: ignore[arg-type]
    bpy.types.VIEW3D_MT_armature_add.append(add_key_poses.draw_in_add_menu)  # type: ignore[arg-type]


def unregister() -> None:
    """Undo `register`, last things first."""
    bpy.types.VIEW3D_MT_armature_add.remove(add_key_poses.draw_in_add_menu)  # type: ignore[arg-type]
    bpy.types.VIEW3D_MT_armature_add.remove(add_mannequin.draw_in_add_menu)  # type: ignore[arg-type]
    status.unregister()
    bars.unregister()
    overlay.unregister()
    session.unregister()
    following.unregister()
    commands.unregister()
    presets.unregister()
    folder_run.unregister()
    keeper.unregister()
    slices.unregister()
    company_properties.unregister()
    armature_properties.unregister()
    action_properties.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
