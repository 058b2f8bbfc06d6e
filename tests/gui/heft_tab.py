# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the Heft tab in a windowed Blender: nothing selected, the mannequin added, set up, and playing.

python3 run.py build --bare
blender-gui run tests/gui/heft_tab.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import guikit
import window

guikit.steps(
    window.install,
    window.clear,
    window.tab,
    guikit.shot("heft_tab_empty"),
    window.add_mannequin,
    guikit.shot("heft_tab_mannequin"),
    window.set_up,
    1.0,
    guikit.shot("heft_tab_set_up"),
    guikit.key("space"),
    1.0,
    guikit.shot("heft_tab_playing"),
)
