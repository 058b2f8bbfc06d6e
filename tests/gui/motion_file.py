# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a file with a mannequin whose reference is built, for motion_panel.py to look at: `motion_file.py OUT.blend`."""

import os
import sys
from pathlib import Path

import bpy
import heft

bpy.ops.wm.read_factory_settings(use_empty=False)
bpy.data.batch_remove([bpy.data.objects["Cube"]])
heft.register()
bpy.ops.heft.add_mannequin()
assert bpy.ops.heft.build_reference() == {"FINISHED"}
bpy.context.scene.frame_end = 105
bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[-1]).resolve()))
heft.unregister()
os._exit(0)
