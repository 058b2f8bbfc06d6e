# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of other makers, imported as an animator would and set up at the first press."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.baking.gather import gather
from heft.core.motion.travel import carry_along
from heft.core.motion.upright import up_of

from tests.blender.rig import rigs

SKELETONS = rigs.CLIPS / "skeletons"
ACCAD = sorted((SKELETONS / "accad").glob("*.bvh"))[::6]
DRAWINGS = sorted((SKELETONS / "animated-drawings").glob("*.bvh"))

pytestmark = [
    pytest.mark.usefixtures("heft_registered"),
    pytest.mark.skipif(not ACCAD, reason=f"the skeletons are not at {SKELETONS}"),
]


def set_up(path):
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True)
    rig = rigs.armature()
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    return rig


def check_sides(rig):
    roles = rig.heft.chosen_roles()
    for role in ("thigh", "shin", "foot", "toe", "upper_arm", "forearm", "hand", "clavicle"):
        assert roles[f"{role}.L"][0].startswith("Left")
        assert roles[f"{role}.R"][0].startswith("Right")
    assert roles["pelvis"] == ("Hips",)
    assert rig.heft.unsure == ""


@pytest.mark.parametrize("path", ACCAD, ids=lambda path: path.stem)
def test_a_rest_pose_that_is_no_pose(path):
    rig = set_up(path)
    check_sides(rig)
    assert rig.heft.scale == pytest.approx(0.01)
    assert rig.heft.up_in_motion() == "Z"


@pytest.mark.parametrize("path", [path for path in DRAWINGS if "rokoko" not in path.stem], ids=lambda path: path.stem)
def test_what_was_made_with_another_axis_up_is_simulated_standing(path):
    rig = set_up(path)
    check_sides(rig)
    assert rig.heft.up_in_motion() == "-Y"
    assert 0.03 < rig.heft.scale < 0.05
    (found,) = gather(bpy.context, [rig])
    assert up_of(found.job.clip, found.job.roles) == "Z"
    rig.heft.up = "Z"
    (lying,) = gather(bpy.context, [rig])
    back = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    assert found.job.clip.position @ back == pytest.approx(lying.job.clip.position, abs=1e-5)


def test_a_suit_with_bones_along_one_axis():
    rig = set_up(SKELETONS / "animated-drawings" / "rokoko_dance.bvh")
    check_sides(rig)
    assert rig.heft.scale == pytest.approx(0.01)


def test_a_bird_with_bent_legs_and_a_level_trunk_is_upright():
    bpy.ops.import_scene.gltf(filepath=str(rigs.CLIPS / "animals" / "bird-animations.glb"))
    bpy.context.view_layer.objects.active = rigs.armature()
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rigs.armature().heft.up_in_motion() == "Z"


def test_a_fox_in_place_walks_as_fast_as_its_front_feet_say_too():
    """Its hind feet are keyed to sweep at up to 3.5 m/s, its front ones stand at 0.8 to 1.3."""
    bpy.ops.import_scene.gltf(filepath=str(rigs.CLIPS / "animals" / "fox-animations.glb"))
    fox, walk = rigs.armature(), bpy.data.actions["Walk"]
    bpy.context.scene.render.fps = 24
    bpy.context.view_layer.objects.active = fox
    for track in list(fox.animation_data.nla_tracks):
        fox.animation_data.nla_tracks.remove(track)
    fox.animation_data.action, fox.animation_data.action_slot = walk, walk.slots[0]
    (found,) = gather(bpy.context, [fox])
    assert 0.8 < carry_along(found.job.clip, found.job.roles).speed < 1.3
