# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab from top to bottom, and what its first panel shows."""

import json
from types import SimpleNamespace

import bpy
from heft.blender_addon.baking import outcome
from heft.panels import bake, character, controller, motion, scene, system

REPORT = {
    "outcome": "fell",
    "good": False,
    "action": "Walk Simulated",
    "when": "2030-01-01 12:00",
    "why": "Fell down at frame 66.",
    "notes": ["A note."],
    "upright_seconds": 2.7,
    "simulated_seconds": 4.3,
    "joint_rms_deg": 12.3,
    "root_rms_m": 0.1,
    "root_max_m": 0.123,
    "max_foot_slide_m": 0.0213,
    "peak_torque_nm": 423.0,
    "worst": {"root_max_m": {"frame": 64, "what": "pelvis"}},
}


class Layout:
    """Notes what it is given."""

    def __init__(self, shown):
        self.shown, self.scale_y = shown, 1.0

    def inner(self, **_):
        return Layout(self.shown)

    row = column = split = box = grid_flow = inner

    def label(self, *, text="", **_):
        self.shown.append(text)

    def operator(self, name, **_):
        self.shown.append(name)

    def prop(self, _owner, name, **_):
        self.shown.append(name)

    def progress(self, *, text="", **_):
        self.shown.append(text)


def drawn(panel, width=None):
    region = None if width is None else SimpleNamespace(width=width)
    context = SimpleNamespace(
        window_manager=bpy.context.window_manager,
        active_object=bpy.context.active_object,
        selected_objects=bpy.context.selected_objects,
        scene=bpy.context.scene,
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0), ui_styles=bpy.context.preferences.ui_styles),
        region=region,
    )
    shown = []
    panel.draw(SimpleNamespace(layout=Layout(shown)), context)
    return shown


def test_the_order_of_the_tab():
    order = [
        bake.HEFT_PT_bake,
        scene.HEFT_PT_scene,
        motion.HEFT_PT_motion,
        character.HEFT_PT_character,
        controller.HEFT_PT_controller,
        system.HEFT_PT_system,
    ]
    assert [panel.bl_order for panel in order] == sorted({panel.bl_order for panel in order})
    folded = [panel for panel in order if "DEFAULT_CLOSED" in getattr(panel, "bl_options", ())]
    assert folded == [character.HEFT_PT_character, controller.HEFT_PT_controller, system.HEFT_PT_system]


def test_with_nothing_selected_it_says_how_to_begin(heft_enabled):
    assert not hasattr(bake.HEFT_PT_bake, "poll")
    assert drawn(bake.HEFT_PT_bake) == ["heft.bake", "Select an armature", "heft.add_mannequin"]


def test_several_are_asked_whether_they_are_together(rig):
    assert "together" not in drawn(bake.HEFT_PT_bake)
    bpy.ops.heft.add_mannequin()
    rig.select_set(True)
    assert drawn(bake.HEFT_PT_bake)[:4] == ["heft.bake", "together", "find_holds", "auto_bake"]
    bpy.context.scene.heft.together = False
    assert drawn(bake.HEFT_PT_bake)[:3] == ["heft.bake", "together", "auto_bake"]


def test_who_is_carried_gets_no_tick_and_is_told_of(rig):
    good = REPORT | {"outcome": "completed", "good": True}
    for share, told, ticked in ((0.0, False, True), (0.05, True, True), (0.9, True, False)):
        report = good | {"help_mean": share, "help_max": 1.2}
        rig.heft.report = json.dumps(report)
        shown = " ".join(drawn(bake.HEFT_PT_bake))
        assert (f"Help {100 * share:.0f} % of its weight, at most 120 %" in shown) == told
        assert outcome.is_carried(report) != ticked


def test_the_method_and_what_went_wrong_come_after_the_button(rig, monkeypatch):
    monkeypatch.setattr(bake, "are_ready", lambda name: name == "momentum")
    assert " ".join(drawn(bake.HEFT_PT_bake)) == "heft.bake auto_bake Look Ahead: compiles at the first bake"
    rig.heft.controller, rig.heft.unsure = "MOMENTUM", "The left hand may be another bone."
    rig.heft.report = json.dumps(REPORT)
    shown = " ".join(drawn(bake.HEFT_PT_bake))
    told = "Set Up was unsure: see Character Fell down at frame 66. A note. Upright 2.7 of 4.3 s"
    assert shown.startswith(f"heft.bake auto_bake Momentum: ready {told}")
    assert shown.endswith("Walk Simulated 2030-01-01 12:00")
    assert "Upright: 2.7 of 4.3 s" in " ".join(drawn(bake.HEFT_PT_bake, 10))
