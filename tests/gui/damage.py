# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of the Character panel and the Dope Sheet, where a bone flips and frames are guessed.

python3 run.py build --bare
blender-gui run tests/gui/damage.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json

import bpy
import guikit
import window


def break_it():
    """A shin that flips for a frame; and a stretch that is only a guess, as of a suit that lost a sensor."""
    rig = window.rig()
    for frame in (49, 50, 51):
        bpy.context.scene.frame_set(frame)
        if frame == 50:
            rig.pose.bones["shin.L"].rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
        rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=frame)
    window.set_up()
    rig.heft.found_damage = json.dumps(json.loads(rig.heft.found_damage) | {"guessed": [[70, 82]]})


guikit.steps(
    window.install,
    window.clear,
    window.add_mannequin,
    window.set_up,
    window.split,
    break_it,
    window.tab,
    guikit.shot("damage"),
)
