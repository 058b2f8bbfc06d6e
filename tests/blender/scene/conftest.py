# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test starts from an empty Blender with Heft registered and a mannequin that was set up."""

import pytest

pytest.importorskip("bpy", reason="bpy is not in this environment")

import bpy

from tests.blender.rig.conftest import empty, heft_registered

__all__ = ["empty", "heft_registered"]


@pytest.fixture
def rig(heft_registered):
    bpy.ops.heft.add_mannequin()
    bpy.ops.heft.set_up()
    return bpy.context.active_object
