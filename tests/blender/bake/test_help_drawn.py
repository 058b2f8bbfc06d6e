# SPDX-License-Identifier: GPL-3.0-or-later
"""Help from nowhere over the rig: an arrow with its newtons, in the frames that take it."""

import json

import bpy
import numpy as np
import pytest
from heft.blender_addon.overlay import record
from heft.examples import beginners

pytestmark = pytest.mark.usefixtures("heft_enabled")

OFF = {"ghost": False, "balance": False, "forces": False, "fall": False}


def test_who_hovers_is_held_up_by_an_arrow_with_newtons():
    rig = beginners.key(bpy.context, "hover")
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    kept = record.unpack(rig.animation_data.action.heft.overlay)
    most = int(np.linalg.norm(kept.help[:, :3], axis=1).argmax())
    force = kept.help[most, :3]
    assert force[2] > 0.5 * np.linalg.norm(force)
    assert report["help_max"] > 0.5
    arrow = record.lines_at(kept, kept.frames[most], **OFF, helped=True).vertices
    np.testing.assert_allclose(arrow[0], kept.center[most], atol=1e-4)
    np.testing.assert_allclose(arrow[1], kept.center[most] + record.FORCE_LENGTH * force, atol=1e-4)
    place, text = record.help_label(kept, kept.frames[most])
    assert text.startswith(f"Help {np.linalg.norm(force):.0f} N")
    np.testing.assert_allclose(place, arrow[1], atol=1e-4)
    # a moment alone is told, and what is too little for a word is not
    turned, light = (
        record.Record(**{**kept.__dict__, "help": np.tile(row, (len(kept.frames), 1))})
        for row in ((0.0, 0.0, 1.0, 40.0), (0.0, 0.0, 9.0, 9.0))
    )
    assert record.help_label(turned, kept.frames[0])[1] == "Help 40 N m"
    assert record.lines_at(turned, kept.frames[0], **OFF, helped=True) is None
    assert record.help_label(light, kept.frames[0]) is None
    assert record.help_label(kept, kept.frames[-1] + 9.0) is None
    # the same over time, as a curve
    curve = [bag.fcurves.find("heft.help_share") for bag in rig.animation_data.action.layers[0].strips[0].channelbags]
    assert curve[0].evaluate(kept.frames[most]) > 0.5


def test_a_bake_of_an_older_version_has_no_help_to_draw():
    rig = beginners.key(bpy.context, "hover")
    assert bpy.ops.heft.bake() == {"FINISHED"}
    kept = record.unpack(rig.animation_data.action.heft.overlay)
    older = record.Record(**{**kept.__dict__, "help": np.zeros((0, 4))})
    frame = older.frames[len(older.frames) // 2]
    assert record.lines_at(older, frame, **OFF, helped=True) is None
    assert record.help_label(older, frame) is None
