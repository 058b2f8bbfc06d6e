# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend that 0.1.0 saved: every setting of every method is what its user left, and it bakes by the method chosen."""

import json
from pathlib import Path

import bpy
import pytest
from heft.blender_addon.baking.gather import gather

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def old_rig(heft_enabled):
    bpy.ops.wm.open_mainfile(filepath=str(DATA / "version_0_1.blend"))
    return next(one for one in bpy.data.objects if one.type == "ARMATURE")


def test_settings_are_as_they_were_left(old_rig):
    """The file's settings were all moved from their defaults."""
    left = json.loads((DATA / "version_0_1.json").read_text(encoding="utf-8"))
    found = {}
    for path in left:
        owner, _, name = path.rpartition(".")
        found[path] = getattr(getattr(old_rig.heft, owner) if owner else old_rig.heft, name)
    assert found == {path: pytest.approx(value) if isinstance(value, float) else value for path, value in left.items()}


def test_the_job_says_the_same(old_rig):
    (made,) = gather(bpy.context, [old_rig])
    job = made.job
    assert (job.method, job.rate, len(job.clip.position)) == ("momentum", 240.0, 105)
    assert job.settings["damping"] == 3750.0
    assert job.settings["flexible_time"] is False
