# SPDX-License-Identifier: GPL-3.0-or-later
"""What Heft knows of a folder of clips that is to be cleaned."""

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty


class HEFT_PG_folder(bpy.types.PropertyGroup):
    """Settings of `heft clean`: `scene.heft.folder`."""

    source: StringProperty(
        name="Clips",
        description="Folder of BVH, FBX, glTF and .blend files to clean, with all folders in it. None is changed",
        subtype="DIR_PATH",
    )
    target: StringProperty(
        name="Output",
        description="Folder that cleaned clips are written to, with a table and a page of all that was found. "
        'Empty: beside the clips, by their folder\'s name and "cleaned"',
        subtype="DIR_PATH",
    )
    simulate: BoolProperty(
        name="Simulate",
        description="Also simulate each clip, and write what comes of that. Takes longer, and a character may fall",
    )
    opensim: BoolProperty(
        name="For OpenSim", description="Also write ground forces, joint torques and joints for OpenSim"
    )
    workers: IntProperty(
        name="Workers", description="How many clips are cleaned at the same time", default=1, min=1, soft_max=16
    )


CLASSES = (HEFT_PG_folder,)
