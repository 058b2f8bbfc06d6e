# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up with masses from the mesh, on the project's mannequin."""

import json

import bpy
import heft
import pytest
from heft.examples import mannequin, walk


@pytest.fixture
def armature():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    heft.register()
    made = mannequin.make_mannequin(bpy.context)
    walk.key_walk(made)
    bpy.context.view_layer.objects.active = made
    yield made
    heft.unregister()


def masses(armature):
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    return {body["name"]: body["mass"] for body in json.loads(armature.heft.character)["bodies"]}


def test_mannequin_weighs_about_what_its_wood_displaces(armature):
    """Hulls are somewhat larger than the parts; the wooden figure is slimmer than a person of its height."""
    armature.heft.masses_from = "MESH"
    by_mesh = masses(armature)
    assert 30.0 < sum(by_mesh.values()) < 75.0
    for name, mass in by_mesh.items():
        if name.startswith("left_"):
            assert mass == pytest.approx(by_mesh[name.replace("left_", "right_")], rel=1e-3)
    assert by_mesh["left_thigh"] > by_mesh["left_shank"] > by_mesh["left_foot"]


def test_total_mass_holds_whatever_the_masses_are_from(armature):
    armature.heft.use_total_mass = True
    armature.heft.total_mass = 60.0
    tables = masses(armature)
    armature.heft.masses_from = "MESH"
    by_mesh = masses(armature)
    assert sum(tables.values()) == pytest.approx(60.0)
    assert sum(by_mesh.values()) == pytest.approx(60.0)
    assert by_mesh["torso"] != pytest.approx(tables["torso"], rel=0.01)


def test_mesh_that_is_not_there_is_one_sentence(armature):
    for other in list(bpy.data.objects):
        if other.type == "MESH":
            bpy.data.objects.remove(other)
    armature.heft.masses_from = "MESH"
    with pytest.raises(RuntimeError, match="encloses no bone"):
        bpy.ops.heft.set_up()
    assert armature.heft.character == ""
