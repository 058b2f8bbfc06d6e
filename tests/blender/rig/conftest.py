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
    yield
    if "rigify" in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_disable(module="rigify")


@pytest.fixture
def heft_registered(empty):
    heft.register()
    yield
    heft.unregister()


@pytest.fixture
def clips():
    if not rigs.RIGS.is_dir():
        pytest.skip(f"the clips folder is not at {rigs.CLIPS}")


@pytest.fixture(scope="session")
def rigify_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rigify") / "rig.blend"
    rigs.generate_rigify(path)
    return path
