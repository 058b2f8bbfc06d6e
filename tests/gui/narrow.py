# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of panels that are closed at first, open in a sidebar of 240 pixels.

python3 run.py build --bare
blender-gui run tests/gui/narrow.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import guikit
import window

SHOWN = {  # pictures, and the panels that each shows
    "character": ("HEFT_PT_character", "HEFT_PT_body"),
    "roles": ("HEFT_PT_character", "HEFT_PT_roles"),
    "joints": ("HEFT_PT_character", "HEFT_PT_joints"),
    "controller": ("HEFT_PT_controller", "HEFT_PT_controller_reactions"),
    "advanced": ("HEFT_PT_controller", "HEFT_PT_controller_advanced"),
    "stage": ("HEFT_PT_stage", "HEFT_PT_system"),
}

guikit.steps(
    window.install,
    window.clear,
    window.opened(*dict.fromkeys(name for names in SHOWN.values() for name in names)),
    window.panels_alone("HEFT_PT_bake"),
    window.tab,
    window.add_mannequin,
    window.set_up,
    window.narrow,
    *(
        step
        for name, panels in SHOWN.items()
        for step in (window.panels_alone(*panels), 2.0, guikit.shot(f"narrow_{name}"))
    ),
)
