# SPDX-License-Identifier: GPL-3.0-or-later
"""Each test starts from an empty Blender with Heft enabled and leaves no process behind; one cache serves all."""

import bpy
import heft
import pytest
from heft.blender_addon.baking import session
from heft.blender_addon.worker.keeper import keeper


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def one_worker():
    """Starting a process takes longer than most tests; it is ended with the last."""
    yield
    keeper.stop()


@pytest.fixture
def heft_enabled(cache, one_worker, monkeypatch):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    monkeypatch.setattr(session, "cache_folder", lambda: cache)
    yield
    monkeypatch.setattr(keeper, "stop", lambda: None)
    heft.unregister()


@pytest.fixture
def rig(heft_enabled):
    """The mannequin with its walk, active and selected."""
    bpy.context.scene.render.fps = 24
    bpy.ops.heft.add_mannequin()
    return bpy.context.active_object
