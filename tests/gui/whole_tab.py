# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the whole tab: nothing selected, the mannequin, the report of a bake that went wrong, all at 240 pixels.

python3 run.py build --bare
blender-gui run tests/gui/whole_tab.py -o out/gui dist/heft-*-bare.zip tests/gui/window.py
"""

import json

import guikit
import window

REPORT = {
    "outcome": "fell",
    "good": False,
    "action": "Walk Simulated",
    "when": "2030-01-01 12:00",
    "why": "Fell down at frame 66 (2.7 s), after the push 'Push'. Try less force, or Momentum.",
    "notes": ["Method: Look Ahead, because it suits most motions."],
    "upright_seconds": 2.7,
    "simulated_seconds": 4.3,
    "joint_rms_deg": 12.3,
    "root_rms_m": 0.1,
    "root_max_m": 0.123,
    "max_foot_slide_m": 0.0213,
    "peak_torque_nm": 423.0,
    "too_fast": 1.8,
    "worst": {"root_max_m": {"frame": 64, "what": "pelvis"}, "max_foot_slide_m": {"frame": 61, "what": "foot.R"}},
}


def report():
    """As a bake that fell leaves it."""
    window.rig().heft.report = json.dumps(REPORT)


guikit.steps(
    window.install,
    window.clear,
    window.tab,
    guikit.shot("tab_empty"),
    window.add_mannequin,
    guikit.shot("tab_mannequin"),
    window.set_up,
    report,
    1.0,
    guikit.shot("tab_report"),
    window.narrow,
    guikit.shot("tab_narrow"),
    window.opened("HEFT_PT_controller", "HEFT_PT_character", "HEFT_PT_bake_output", "HEFT_PT_bake_overlay"),
    window.panels_alone("HEFT_PT_controller", "HEFT_PT_bake_output", "HEFT_PT_bake_overlay", "HEFT_PT_motion"),
    2.0,
    guikit.shot("tab_narrow_others"),
)
