# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command heft clean`: FBX, glTF and .blend files written back, and read again by Blender."""

import json
import struct
from functools import partial

import bpy
import numpy as np
import pytest
from heft.blender_addon import commands, exchange
from heft.blender_addon.cleaning import BlenderFormat
from heft.core.clean import command
from heft.registration import make_demo

from tests.core.clean.clips import HerePool

run = partial(commands.run, make_demo=make_demo)
LAST = 20  # frames of the mannequin's walk: less than a second


@pytest.fixture
def folder(rig, tmp_path, monkeypatch):
    """The mannequin's first steps, as three kinds of files, and one that is none."""
    monkeypatch.setattr(commands.keeper, "stop", lambda: None)
    monkeypatch.setattr(command, "make_pool", lambda *_: HerePool())
    place = tmp_path / "clips"
    place.mkdir()
    action = rig.animation_data.action
    for curve in [curve for bag in action.layers[0].strips[0].channelbags for curve in bag.fcurves]:
        for point in reversed([point for point in curve.keyframe_points if point.co.x > LAST]):
            curve.keyframe_points.remove(point)
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(place / "walk.blend"), copy=True)
    for name in ("walk.fbx", "walk.glb"):
        exchange.save_file(place / name, {action.name: rig.name})
    (place / "broken.glb").write_bytes(b"nonsense")
    return place


def test_each_format_is_read_back_where_it_was_written_to(folder, tmp_path, capsys):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    out = tmp_path / "out"
    assert run(["clean", str(folder), "--out", str(out)]) == commands.FAILED
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    rows = {row["file"]: row for row in json.loads((out / "clips.json").read_text(encoding="utf-8"))}
    assert rows["broken.glb"]["why"] == "broken.glb cannot be read: it is no glTF file."
    assert {row["outcome"] for name, row in rows.items() if name != "broken.glb"} == {"cleaned"}
    capsys.readouterr()
    for name in ("walk.blend", "walk.fbx", "walk.glb"):
        with np.load(out / "heft" / f"{name}.npz") as arrays:
            names, wanted, frames = (arrays[key] for key in ("joint_names", "joint_positions", "frames"))
        took, gave = BlenderFormat(), BlenderFormat()
        assert took.takes(folder / name) == [""]
        (source,) = took._motions(folder / name).values()
        bones = [bone.name for bone in bpy.data.objects[source.armature].data.bones]
        rate = bpy.context.scene.render.fps
        (written,) = gave._motions(out / name).values()
        assert (written.armature, written.action) == (source.armature, source.action)
        assert [bone.name for bone in bpy.data.objects[written.armature].data.bones] == bones
        assert bpy.context.scene.render.fps == rate
        clip = gave.job(out / name, "").clip
        rows_of = np.rint(frames - clip.first_frame).astype(int)
        assert 0 <= rows_of.min() <= rows_of.max() < len(clip.position)
        there = [clip.skeleton.index(bone) for bone in names.tolist()]
        assert np.abs(clip.position[rows_of][:, there] - wanted).max() < 1e-4, name


def test_a_file_without_motion_says_so(rig, tmp_path):
    rig.animation_data_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "still.blend"), copy=True)
    with pytest.raises(ValueError, match=r"still\.blend holds no motion of an armature"):
        BlenderFormat().takes(tmp_path / "still.blend")


def test_each_action_of_a_file_is_a_motion_by_itself(rig, tmp_path):
    other = rig.animation_data.action.copy()
    other.name = "Stroll"
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("Stroll", 1, other)
    track.mute = True
    exchange.save_file(tmp_path / "walks.glb", {"Walk": rig.name, "Stroll": rig.name})
    assert sorted(BlenderFormat().takes(tmp_path / "walks.glb")) == ["Stroll", "Walk"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Error: ASCII FBX files are not supported 'a.fbx'\n", "ASCII FBX files are not supported 'a.fbx'"),
        (
            (
                'Error: Python: Traceback (most recent call last):\n  File "a.py", line 7\n    x[1]\n    ~^^^\n'
                "KeyError: 1\nLocation: b.py:66\n"
            ),
            "KeyError: 1",
        ),
        ("", "Blender does not say why"),
    ],
)
def test_of_all_that_an_operator_prints_one_line_is_told(said, told):
    assert exchange.what_is_wrong(RuntimeError(said)) == told


@pytest.mark.parametrize(
    ("action", "take"),
    [
        ("Armature|mixamo.com|Layer0", "mixamo.com"),
        ("Armature|Take 001|BaseLayer", "Take 001"),
        ("Armature|Armature|Walk", "Armature|Walk"),
        ("Armature|Run|Upper Body", "Run|Upper Body"),
        ("Walk", "Walk"),
    ],
)
def test_takes_are_called_as_in_the_file(action, take):
    assert exchange.take_name(action, "Armature") == take


def test_the_rate_of_a_gltf_is_that_of_its_keys():
    def header(*spans):
        accessors = [{"count": count, "min": [0.0], "max": [seconds]} for count, seconds in spans]
        samplers = [{"input": number} for number in range(len(spans))]
        return {"accessors": accessors, "animations": [{"samplers": samplers}]}

    assert exchange.gltf_rate(header((31, 1.0), (61, 2.0), (2, 2.0))) == 30
    assert exchange.gltf_rate(header((1, 0.0))) is None
    assert exchange.gltf_rate({}) is None
    assert exchange.gltf_rate({"animations": [{"samplers": [{"input": 7}]}], "accessors": []}) is None


def test_the_header_of_a_binary_gltf_is_read(tmp_path):
    text = b'{"asset": {"version": "2.0"}}   '
    path = tmp_path / "a.glb"
    path.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    assert exchange.gltf_header(path)["asset"] == {"version": "2.0"}
