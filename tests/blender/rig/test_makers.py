# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin's walk as other makers would have written it, imported as an animator would, set up at once."""

import bpy
import pytest
from heft.blender_addon.rig.reading import frame_numbers, sample_armatures
from heft.examples import mannequin, walk

from tests.blender.rig import makers, rigs
from tests.blender.rig.makers_cases import cases

pytestmark = pytest.mark.usefixtures("heft_registered")


@pytest.fixture(scope="module")
def walking():
    """The mannequin's walk, 48 samples a second."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig)
    frames = frame_numbers(1.0, 60.0, 0.5)
    (sampling,) = sample_armatures(bpy.context.scene, bpy.context.view_layer, [rig], frames)
    return sampling.clip


@pytest.mark.parametrize("case", cases())
def test_another_makers_file_is_set_up(walking, case, tmp_path):
    maker, names = cases()[case]
    makers.write(maker, walking, tmp_path / "walk.bvh")
    bpy.ops.import_anim.bvh(filepath=str(tmp_path / "walk.bvh"), update_scene_fps=True)
    rig = rigs.armature()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert rig.heft.chosen_roles() == names
    assert rig.heft.up_in_motion() == ("-Y" if maker.up == "Z" else "Z")
    assert rig.heft.scale == pytest.approx(maker.unit, rel=0.3)
    assert bpy.context.scene.render.fps == maker.rate
    floor = [float(line.split(" cm")[0].split()[-1]) for line in rig.heft.found_floor.splitlines()]
    assert floor
    assert max(map(abs, floor)) < 2.0 + 100.0 * maker.stretch  # cm; longer legs reach below it
    assert bool(rig.heft.found_damage) == maker.first_pose
