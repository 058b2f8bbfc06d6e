# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong while a bake goes on, and whatever does leaves the file as it was or gives one whole result."""

import json
import locale
import os
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking import outcome, session
from heft.blender_addon.baking.output import write_all
from heft.blender_addon.baking.session import Session
from heft.blender_addon.worker import kernels
from heft.blender_addon.worker.keeper import Keeper, keeper, missing
from heft.core.control.methods import METHODS
from heft.core.job.progress import WORDS
from heft.core.worker.messages import Message

CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "scale")


def is_running(pid):
    """Neither gone nor a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def state(rig):
    """All that a bake could change."""
    pose = {}
    for part in CHANNELS:
        values = np.empty((4 if part == "rotation_quaternion" else 3) * len(rig.pose.bones), dtype=np.float32)
        rig.pose.bones.foreach_get(part, values)
        pose[part] = values.tolist()
    animation = rig.animation_data
    return (
        pose,
        [(action.name, action.users) for action in bpy.data.actions],
        [o.name for o in bpy.data.objects],
        (animation.action, animation.action_slot),
        bpy.context.scene.frame_current,
        rig.heft.report,
        len(rig.heft.feet),
    )


@pytest.fixture
def own(monkeypatch):
    """A keeper of this test's own, whose process may be ended."""
    own = Keeper()
    yield own
    own.stop()


@pytest.fixture
def going_on(rig, own, tmp_path, monkeypatch):
    """A bake of the mannequin as a window has it, with nothing in the cache, and its state before."""
    monkeypatch.setattr(session, "cache_folder", lambda: tmp_path)
    bpy.ops.heft.set_up()
    bpy.context.scene.frame_set(17)
    before = state(rig)
    going_on = Session(bpy.context, [rig], own, "bake")
    going_on.begin_showing()
    yield rig, going_on, before
    going_on.abandon()


def go_on(running, condition, seconds=120.0):
    """Look at the worker as the timer does, until the condition is met."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, running.stage
        running.take(running._keeper.wait(0.01))
        running.show()


@pytest.mark.parametrize("stage", ["Starting", *WORDS.values()])
def test_stopping_at_every_stage_leaves_everything_as_it_was(going_on, stage):
    rig, running, before = going_on
    go_on(running, lambda: running.over or running.stage == stage)
    pid = running._keeper.worker().pid if not running.over else 0
    running.stop()
    running.close()
    assert state(rig) == before
    assert not bpy.context.window_manager.heft.running
    assert not is_running(pid)
    if running.turns[0].result is None:
        assert write_all(bpy.context, running.turns) == (0, [("INFO", "Mannequin: Cancelled. Nothing was written.")])
        assert state(rig) == before


def test_rig_moves_while_it_is_simulated_and_goes_back(going_on):
    rig, running, before = going_on
    shown = []
    while not running.over:
        running.take(running._keeper.wait(0.01))
        running.show()
        shown.append(tuple(rig.pose.bones["pelvis"].location))
    assert len(set(shown)) > 2
    running.close()
    assert state(rig) == before
    assert write_all(bpy.context, running.turns)[0] == 1


def test_killed_worker_gives_a_message_and_the_next_bake_works(going_on):
    rig, running, before = going_on
    go_on(running, lambda: running.stage == WORDS["reference"])
    os.kill(running._keeper.worker().pid, 9)
    go_on(running, lambda: running.over)
    running.close()
    written, [(level, text)] = write_all(bpy.context, running.turns)
    assert (written, level) == (0, "ERROR")
    assert text.startswith("Mannequin: The physics process ended unexpectedly")
    told = outcome.shown(rig)
    assert (told["outcome"], told["why"]) == ("failed", text.removeprefix("Mannequin: "))
    rig.heft.report = ""
    assert state(rig) == before
    again = Session(bpy.context, [rig], running._keeper, "bake")
    again.wait()
    assert write_all(bpy.context, again.turns)[0] == 1


def test_rig_deleted(going_on):
    rig, running, _ = going_on
    bpy.data.objects.remove(rig)
    pid = running._keeper.worker().pid
    running.take([])
    assert running.over
    assert not is_running(pid)
    running.close()
    names = [action.name for action in bpy.data.actions]
    assert write_all(bpy.context, running.turns) == (
        0,
        [("WARNING", "Mannequin was deleted during the bake: nothing was written.")],
    )
    assert [action.name for action in bpy.data.actions] == names


def test_rig_renamed_and_duplicated(going_on):
    rig, running, _ = going_on
    rig.name = "Anna"
    copy = rig.copy()
    copy.data = rig.data.copy()
    bpy.context.collection.objects.link(copy)
    copy.name = "Mannequin"
    go_on(running, lambda: running.over)
    running.close()
    assert write_all(bpy.context, running.turns)[0] == 1
    assert rig.animation_data.action.name == "Walk Simulated"
    assert copy.animation_data.action.name == "Walk"


def test_bones_changed(going_on):
    rig, running, _ = going_on
    rig.data.bones["head"].name = "skull"
    go_on(running, lambda: running.over)
    running.close()
    written, [(level, text)] = write_all(bpy.context, running.turns)
    assert (written, level, text) == (0, "ERROR", "The bones of Mannequin changed during the bake: bake again.")
    assert rig.animation_data.action.name == "Walk"


def test_source_action_deleted(going_on):
    rig, running, _ = going_on
    bpy.data.actions.remove(bpy.data.actions["Walk"])
    go_on(running, lambda: running.over)
    running.close()
    assert write_all(bpy.context, running.turns)[0] == 1
    assert rig.animation_data.action.name == "Walk Simulated"


def test_another_file_loaded(going_on):
    _, running, _ = going_on
    go_on(running, lambda: running.stage == WORDS["reference"])
    pid = running._keeper.worker().pid
    running.abandon()  # what Blender's call of the operator's `cancel` comes to
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert not is_running(pid)
    assert len(bpy.data.actions) == 0


def test_extension_disabled(going_on):
    rig, running, before = going_on
    go_on(running, lambda: running.stage == WORDS["simulate"] and running.turn.pose is None)
    pid = running._keeper.worker().pid
    session.unregister()
    assert not session.is_going_on(running)
    assert not is_running(pid)
    assert state(rig) == before


def test_undo_and_redo_after_a_bake(rig):
    bpy.ops.heft.set_up()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.heft.bake()
    report = rig.heft.report
    bpy.ops.ed.undo_push(message="bake")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Mannequin"]
    assert [action.name for action in bpy.data.actions] == ["Walk"]
    assert (rig.animation_data.action.name, rig.heft.report) == ("Walk", "")
    bpy.ops.ed.redo()
    rig = bpy.data.objects["Mannequin"]
    assert rig.animation_data.action.name == "Walk Simulated"
    assert rig.heft.report == report
    assert rig.animation_data.action_slot is not None


def test_saved_and_loaded(rig, tmp_path):
    bpy.ops.heft.bake()
    bpy.context.scene.frame_set(30)
    report, force = rig.heft.report, rig.heft.feet[0].force
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig = bpy.data.objects["Mannequin"]
    assert rig.heft.report == report
    assert rig.heft.feet[0].force == force
    assert rig.animation_data.action.heft.source.name == "Walk"
    assert bpy.ops.heft.bake() == {"FINISHED"}


def test_linked_rig_is_refused(rig, tmp_path):
    bpy.ops.heft.set_up()
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Mannequin"]
    linked = bpy.data.objects["Mannequin"]
    bpy.context.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    with pytest.raises(RuntimeError, match="linked from another file"):
        bpy.ops.heft.bake()


def refused(match):
    names = [action.name for action in bpy.data.actions]
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.heft.bake()
    assert [action.name for action in bpy.data.actions] == names


def test_empty_frame_range(rig):
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 50, 50
    refused("The frame range of Mannequin is empty")


def test_keys_at_one_frame_only(rig):
    action = bpy.data.actions.new("Pose")
    bag = (
        action.layers.new("Layer")
        .strips.new(type="KEYFRAME")
        .channelbag(action.slots.new("OBJECT", "Pose"), ensure=True)
    )
    bag.fcurves.new('pose.bones["head"].location', index=0).keyframe_points.insert(7, 0.0)
    rig.animation_data.action, rig.animation_data.action_slot = action, action.slots[0]
    refused("keys at frame 7 only")


def test_rest_position(rig):
    rig.data.pose_position = "REST"
    with pytest.raises(RuntimeError, match="is in Rest Position"):
        bpy.ops.heft.bake()


def test_time_stretching(rig):
    bpy.context.scene.render.frame_map_new = 200
    with pytest.raises(RuntimeError, match="Time Stretching would stretch"):
        bpy.ops.heft.bake()


def test_no_action(rig):
    rig.animation_data_clear()
    refused("Mannequin has no action")


def test_action_without_slot(rig):
    rig.animation_data.action_slot = None
    refused("without a slot")


def test_nla_in_tweak_mode(rig):
    action = rig.animation_data.action
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("Walk", 1, action)
    rig.heft.source_action = action.copy()
    rig.animation_data.action = None
    track.select = True
    rig.animation_data.use_tweak_mode = True
    refused("tweak mode")


@pytest.mark.parametrize(("fps", "base", "last"), [(24, 1.001, 105), (1, 1.0, 4), (1000, 1.0, 105)])
def test_odd_frame_rates(rig, fps, base, last):
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
    rig.heft.use_frame_range, rig.heft.frame_start, rig.heft.frame_end = True, 1, last
    assert bpy.ops.heft.bake() == {"FINISHED"}
    report = json.loads(rig.heft.report)
    seconds = report["simulated_seconds"]
    if base != 1.0:  # the end of the motion lies between two steps: none may lead beyond it, to a sudden stop
        assert report["peak_torque_nm"] < 250.0
    if fps == 1:  # nobody takes thirteen seconds for a step: it may fall
        assert 0.0 < seconds <= 3.1
    else:
        assert seconds == pytest.approx(104 * base / fps, rel=0.1)
        assert tuple(rig.animation_data.action.frame_range) == (1.0, 105.0)


def test_other_language_and_decimal_comma(rig):
    view = bpy.context.preferences.view
    before = view.language
    try:
        if "de_DE" in {item.identifier for item in view.bl_rna.properties["language"].enum_items}:
            view.language = "de_DE"
            view.use_translate_new_dataname = view.use_translate_interface = True
        for name in ("de_DE.UTF-8", "de_DE", "German"):
            try:
                locale.setlocale(locale.LC_ALL, name)
                break
            except locale.Error:
                continue
        assert bpy.ops.heft.bake() == {"FINISHED"}
    finally:
        locale.setlocale(locale.LC_ALL, "C")
        view.language = before


def test_cache_that_cannot_be_written_is_done_without(rig, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(session, "cache_folder", lambda: blocked / "cache")
    assert bpy.ops.heft.bake() == {"FINISHED"}
    notes = json.loads(rig.heft.report)["notes"]
    assert any("cache could not be written" in note for note in notes)


def test_full_disk_for_the_cache(rig, tmp_path, monkeypatch):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full")
    folder = tmp_path / "cache"
    folder.symlink_to(full)
    monkeypatch.setattr(session, "cache_folder", lambda: folder)
    assert bpy.ops.heft.bake() == {"FINISHED"}


def test_read_only_user_folder_means_a_temporary_one(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernels, "EXTENSION", "bl_ext.user_default.heft")
    monkeypatch.setattr(bpy.utils, "extension_path_user", lambda *_, **__: str(blocked))
    assert kernels.user_folder("cache") is None
    for folder in (kernels.kernel_folder.__wrapped__(), kernels.cache_folder()):
        assert Path(bpy.app.tempdir) in folder.parents


@pytest.fixture
def nothing_compiled(tmp_path, monkeypatch):
    """A folder of kernels in which there are none."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    kernels.kernel_folder.cache_clear()
    yield kernels.kernel_folder()
    kernels.kernel_folder.cache_clear()


def test_methods_are_ready_one_by_one_and_for_one_version(nothing_compiled, monkeypatch):
    assert not kernels.are_ready("gait")
    kernels.note_ready("gait")
    assert kernels.are_ready("gait")
    assert not kernels.are_ready("balance")
    monkeypatch.setattr(kernels, "digest_of_core", lambda: "another")
    assert not kernels.are_ready("gait")
    assert [path.name for path in nothing_compiled.iterdir()] == ["ready.json"]


def test_the_method_that_is_chosen_is_prepared_first(rig, nothing_compiled):
    bpy.context.view_layer.objects.active = rig
    rig.heft.controller = "GAIT"
    assert missing()[0] == "gait"
    kernels.note_ready("gait")
    assert sorted(missing()) == sorted(set(METHODS) - {"gait"})


@pytest.mark.usefixtures("rig")
def test_what_a_preparation_says(own, nothing_compiled):
    own.take([Message("progress", {"method": "momentum", "fraction": 0.4}, {})])
    assert (own.preparing, own.fraction) == ("Momentum", 0.4)
    own.take([Message("prepared", {"method": "momentum"}, {})])
    assert kernels.are_ready("momentum")
    own.take([Message("ended", {"why": "It was too cold."}, {})])
    assert own.trouble == "It was too cold."


def test_a_preparation_gives_way_to_a_bake_and_goes_on_after_it(rig, own, monkeypatch):
    monkeypatch.setattr(kernels, "are_ready", lambda _: False)
    monkeypatch.setattr(session, "are_ready", lambda _: False)
    assert own._look() is not None
    preparer = own._preparer
    assert preparer.alive
    baking = Session(bpy.context, [rig], own, "bake")
    assert not preparer.alive
    assert baking.stage == session.COMPILING
    bpy.context.window_manager.heft.running = True
    own._look()
    assert own._preparer is None
    baking.wait()
    assert baking.turns[0].result is not None
    bpy.context.window_manager.heft.running = False
    own._look()
    assert own._preparer.alive
    own.give_way()


@pytest.mark.usefixtures("rig", "nothing_compiled")
def test_no_timer_is_left_where_the_extension_is_disabled(own):
    assert not own.prepares
    own.prepare()
    assert own.prepares
    own.prepare()
    own.forget_timer()
    assert not own.prepares


def test_one_at_a_time(going_on):
    rig, _, _ = going_on
    bpy.context.view_layer.objects.active = rig
    with pytest.raises(RuntimeError, match="A bake is running: wait for it"):
        bpy.ops.heft.bake()
    assert bpy.ops.heft.cancel() == {"FINISHED"}
    assert bpy.context.window_manager.heft.stop


def test_nothing_to_cancel(heft_enabled):
    with pytest.raises(RuntimeError, match="No bake is running"):
        bpy.ops.heft.cancel()
    assert not keeper.preparing
