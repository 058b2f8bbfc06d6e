# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test starts from an empty Blender; where the clips folder is absent, tests that need it skip."""

import pytest

pytest.importorskip("bpy", reason="bpy is not in this environment")

import bpy
import heft

from tests.blender.rig import rigs


@pytest.fixture(autouse=True)
def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.fixture
def heft_registered(empty):
    heft.register()
    yield
    heft.unregister()


@pytest.fixture
def clips():
    if not rigs.RIGS.is_dir():
        pytest.skip(f"the clips folder is not at {rigs.CLIPS}")
