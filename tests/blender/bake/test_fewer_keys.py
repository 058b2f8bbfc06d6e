# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys like an animator's: within the tolerance at hands and feet, on curves that Blender itself evaluates."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.blender_addon.baking.output import write
from heft.blender_addon.baking.sought import events_of
from heft.blender_addon.rig.reading import rotations_of
from heft.blender_addon.writer import assigned_curves
from heft.core.motion import quaternions

from tests.blender.bake.keyed import disturbed
from tests.blender.bake.test_bake import poses
from tests.blender.bake.test_control_rigs import animate
from tests.blender.bake.test_control_rigs import poses as poses_to_24
from tests.blender.rig import control_rigs

ENDS = ("hand", "foot", "toe")


def bake(rig):
    (found,) = gather(bpy.context, [rig])
    write(bpy.context, rig, found, disturbed(found.job, degrees=2.0))


def off(rig, one, other):
    """Millimetres and degrees at hands and feet, at worst."""
    names = [bone.name for bone in rig.data.bones]
    roles = rig.heft.chosen_roles()
    columns = [names.index(name) for role in roles if role.startswith(ENDS) for name in roles[role]]
    assert len(columns) >= 6
    one, other = one[:, columns], other[:, columns]
    turns = [quaternions.from_matrix(rotations_of(pose[..., :3, :3])) for pose in (one, other)]
    away = np.linalg.norm(one[..., :3, 3] - other[..., :3, 3], axis=-1)
    return 1e3 * away.max(), np.degrees(quaternions.angle(*turns).max())


def pose_curves(rig):
    return [c for c in assigned_curves(rig, rig.animation_data.action) if c.data_path.startswith("pose")]


@pytest.mark.parametrize("tolerance", [2.0, 5.0])
def test_a_walk_is_within_the_tolerance_on_few_keys(rig, tolerance):
    frames = range(1, 106)
    bake(rig)
    before = poses(rig, frames)
    rig.heft.reduce, rig.heft.key_tolerance = True, tolerance
    bake(rig)
    millimetres, degrees = off(rig, before, poses(rig, frames))
    assert millimetres <= 1.02 * tolerance
    assert degrees <= 0.51 * tolerance
    counts = [len(curve.keyframe_points) for curve in pose_curves(rig)]
    assert np.mean(counts) / (105 / 24) < 10.0
    kinds = {curve.keyframe_points[0].interpolation for curve in pose_curves(rig) if len(curve.keyframe_points) > 2}
    assert kinds == {"BEZIER"}


@pytest.mark.parametrize("layer", ["ACTION", "COMBINE"])
def test_so_are_controls_and_layers(heft_enabled, layer):
    rig = control_rigs.hand_made()
    animate(rig)
    bpy.context.view_layer.objects.active = rig
    rig.heft.output, rig.heft.layer = "CONTROLS", layer
    bake(rig)
    before = poses_to_24(rig)
    rig.heft.reduce = True
    bake(rig)
    millimetres, degrees = off(rig, before, poses_to_24(rig))
    assert millimetres <= 2.2
    assert degrees <= 1.1


def test_keys_are_where_feet_come_down_and_lift():
    """The left one at rows 3 and 6; the right one's forces are no matter, and hands have none."""
    forces = {
        "contact_force_left_foot_n": np.array([0.0, 0.0, 0.0, 500.0, 600.0, 500.0, 0.0, 0.0]),
        "contact_force_right_foot_n": np.array([700.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    }
    result = SimpleNamespace(curves=forces, frames=np.arange(1.0, 9.0))
    assert events_of("foot.L", result, result.frames).tolist() == [3, 6]
    assert events_of("toe.R", result, result.frames).tolist() == [1]
    assert events_of("hand.L", result, result.frames).tolist() == []


def test_what_never_moves_has_two_keys(rig):
    rig.heft.reduce = True
    bake(rig)
    still = [curve for curve in pose_curves(rig) if "thigh" in curve.data_path and "location" in curve.data_path]
    assert still
    assert {len(curve.keyframe_points) for curve in still} == {2}
