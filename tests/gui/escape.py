# SPDX-License-Identifier: GPL-3.0-or-later
"""Esc while a bake goes on: over the view it is Blender's, over the tab it asks. Pictures of both, and of the panels.

python3 run.py build --bare
blender-gui run tests/gui/escape.py -t 300 -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import guikit
import window
from window import running, start_bake

VIEW, TAB = (500, 450), (1150, 400)


def goes_on():
    assert running()


def was_cancelled():
    assert not running()
    assert not window.rig().heft.report


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    window.add_mannequin,
    window.set_up,
    1.0,
    guikit.shot("escape_panels"),
    start_bake,
    guikit.move(*VIEW),
    guikit.key("Escape"),
    1.0,
    goes_on,
    guikit.move(*TAB),
    1.0,
    guikit.key("Escape"),
    1.0,
    goes_on,
    guikit.shot("escape_asks"),
    guikit.key("Return"),
    1.0,
    was_cancelled,
    guikit.shot("escape_cancelled"),
)
