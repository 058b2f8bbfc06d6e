# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the Controller panel with each method, its advanced settings open.

python3 run.py build --bare
blender-gui run tests/gui/controllers.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import bpy
import guikit
import window

ADVANCED = "HEFT_PT_controller_advanced"


def choose(method):
    """A step: that method."""

    def chosen():
        window.rig().heft.controller = method

    return chosen


def name_another():
    """An action to combine with the walk."""
    rig = window.rig()
    rig.heft.controller = "COMBINATION"
    with guikit.override():
        bpy.ops.heft.add_action()
    other = rig.animation_data.action.copy()
    other.name = "Walk with Long Strides"
    rig.heft.others[0].action = other
    for frame, place in ((1, 0.0), (105, 1.0)):
        rig.heft.slider = place
        rig.heft.keyframe_insert("slider", frame=frame)
    bpy.context.scene.frame_set(1)  # or the slider would be shown as changed since


def go_between():
    """A walk that goes on, from one action to the other where that is keyed."""
    window.rig().heft.controller = "BALANCE"
    window.rig().heft.loop = True


guikit.steps(
    window.install,
    window.opened("HEFT_PT_controller", ADVANCED),
    window.clear,
    window.add_mannequin,
    window.set_up,
    window.panels_alone("HEFT_PT_controller", ADVANCED),
    window.tab,
    *(
        step
        for method in ("LOOKAHEAD", "REPLANNING", "MOMENTUM", "BALANCE", "GAIT")
        for step in (choose(method), guikit.move(300, 300), 1.0, guikit.shot(f"controller_{method.lower()}"))
    ),
    name_another,
    guikit.move(300, 300),
    1.0,
    guikit.shot("controller_combination"),
    go_between,
    guikit.move(300, 300),
    1.0,
    guikit.shot("controller_go_to"),
)
