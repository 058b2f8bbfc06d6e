# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's operators in the installed zip: what they make is saved, read again, and gone with the extension."""

from tests.blender.test_installed_zip import PREAMBLE


def test_things_made_by_the_installed_zip(run_in_blender, extension_zip, tmp_path):
    run_in_blender(
        PREAMBLE
        + """
install()
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.heft.add_mannequin()
rig = bpy.context.active_object
rig.data.bones.active = rig.data.bones["chest"]
bpy.ops.mesh.primitive_cube_add(location=(0.0, -3.0, -0.9))
rig.select_set(True)
assert bpy.ops.heft.mark_terrain() == {"FINISHED"}
bpy.ops.mesh.primitive_cube_add(size=0.3, location=(2.0, 0.0, 0.15))
rig.select_set(True)
assert bpy.ops.heft.add_prop() == {"FINISHED"}
for operator in (bpy.ops.heft.add_push, bpy.ops.heft.add_grab):
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    assert operator() == {"FINISHED"}
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
bpy.ops.wm.open_mainfile(filepath=sys.argv[2])
rig = bpy.data.objects["Mannequin"]
push, grab = bpy.data.objects["Push chest"], bpy.data.objects["Grab chest"]
assert push.heft.push.armature == grab.heft.grab.armature == rig
curves = push.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
assert [curve.data_path for curve in curves] == ["heft.push.strength"]
bpy.context.scene.frame_set(2)
assert push.heft.push.strength == 100.0
bpy.context.scene.frame_set(40)
assert push.heft.push.strength == 0.0
assert len(rig.heft.terrain.objects) == len(rig.heft.props.objects) == 1
bpy.ops.preferences.addon_disable(module=MODULE)
assert leftovers() == [], leftovers()
""",
        extension_zip,
        tmp_path / "stage.blend",
    )
