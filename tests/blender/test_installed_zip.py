# SPDX-License-Identifier: GPL-3.0-or-later
"""The built zip, installed by Blender's own extension manager, as after dragging it into the window."""

# Runs in a Blender that has only the zip; `leftovers` names everything of Heft's that Blender knows of.
PREAMBLE = """
import sys
import bpy

MODULE = "bl_ext.user_default.heft"

def leftovers():
    found = [name for name in dir(bpy.types) if name.startswith("HEFT_")]
    found += ["heft." + name for name in dir(bpy.ops.heft)]
    for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager, bpy.types.PoseBone):
        found += [name for name in owner.bl_rna.properties.keys() if "heft" in name]
    for name in dir(bpy.types):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        found += [f"{name}: {f.__module__}" for f in getattr(draw, "_draw_funcs", ()) if MODULE in f.__module__]
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if isinstance(handlers, list):
            found += [f"{name}: {f.__module__}" for f in handlers if MODULE in getattr(f, "__module__", "")]
    return found

def install():
    assert leftovers() == []
    bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
    assert MODULE in bpy.context.preferences.addons, "not enabled"
"""


def test_zip_installs_enables_disables_and_leaves_nothing(run_in_blender, extension_zip):
    run_in_blender(
        PREAMBLE
        + """
install()
once = leftovers()
assert "HEFT_PT_character" in once and "heft.add_mannequin" in once, once
bpy.ops.preferences.addon_disable(module=MODULE)
assert leftovers() == [], leftovers()
bpy.ops.preferences.addon_enable(module=MODULE)
assert leftovers() == once
bpy.ops.script.reload()
assert leftovers() == once
bpy.ops.preferences.addon_disable(module=MODULE)
assert leftovers() == [], leftovers()
bpy.ops.extensions.package_uninstall(repo_index=[
    repo.module for repo in bpy.context.preferences.extensions.repos].index("user_default"), pkg_id="heft")
assert leftovers() == [], leftovers()
""",
        extension_zip,
    )


def test_zip_brings_the_packages_it_computes_with(run_in_blender, extension_zip):
    printed = run_in_blender(
        PREAMBLE
        + """
import importlib.util
assert importlib.util.find_spec("numba") is None, "this Blender already has numba"
install()
import numba, osqp, scipy
from bl_ext.user_default.heft.panels import system
assert system.missing_packages() == ()
assert numba.njit(lambda x: 2 * x)(21) == 42
print("packages", numba.__file__, system.version())
""",
        extension_zip,
    )
    assert "extensions" in printed.split("packages ")[1]


def test_mannequin_operator_adds_a_walking_armature_and_can_be_undone(run_in_blender, extension_zip):
    run_in_blender(
        PREAMBLE
        + """
bpy.ops.wm.read_factory_settings(use_empty=True)
install()
bpy.context.scene.cursor.location = (1.0, 2.0, 0.5)
bpy.ops.ed.undo_push(message="before")
assert bpy.ops.heft.add_mannequin() == {"FINISHED"}
armature = bpy.context.active_object
assert armature.type == "ARMATURE" and armature.animation_data.action is not None
assert tuple(armature.matrix_world.translation) == (1.0, 2.0, 0.5)
bpy.ops.ed.undo_push(message="added")
bpy.ops.ed.undo()
assert len(bpy.data.objects) == 0, list(bpy.data.objects)
""",
        extension_zip,
    )


def test_bake_in_a_blender_that_has_only_the_zip(run_in_blender, extension_zip):
    run_in_blender(
        PREAMBLE
        + """
from pathlib import Path
bpy.ops.wm.read_factory_settings(use_empty=True)
install()
from bl_ext.user_default import heft
from bl_ext.user_default.heft.blender_addon.worker import kernels
from bl_ext.user_default.heft.blender_addon.worker.keeper import keeper, missing
root = Path(heft.__file__).parent

def files(folder):
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}

before = files(root)
# the zip brings all kernels, and nothing is compiled
assert missing() == [], missing()
shipped = files(kernels.kernel_folder())
assert len(shipped) > 50, shipped
bpy.context.scene.render.fps = 24
assert bpy.ops.heft.add_mannequin() == {"FINISHED"}
assert bpy.ops.heft.set_up() == {"FINISHED"}
assert bpy.ops.heft.bake() == {"FINISHED"}
rig = bpy.context.active_object
assert rig.animation_data.action.name == "Walk Simulated"
assert '"outcome": "completed"' in rig.heft.report, rig.heft.report
assert files(kernels.kernel_folder()) == shipped, files(kernels.kernel_folder()) - shipped
user = Path(bpy.utils.extension_path_user(MODULE))
assert len(list((user / "cache").iterdir())) > 1
assert files(root) == before
worker = keeper.worker()
bpy.ops.preferences.addon_disable(module=MODULE)
assert not worker.alive
assert leftovers() == [], leftovers()
""",
        extension_zip,
    )
