# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in characters against the tables and counts of their sources."""

import numpy as np
import pytest
from heft.core.character import Character, Corner
from heft.core.character.mass import Mass, combine
from heft.core.character.presets import NAMES, gait28, muico29, planar
from heft.core.character.three_link import neutral_frames

PEOPLE = ("muico29", "jain42", "gait28", "simbicon2d", "diver7")


def body(character, name):
    return character.bodies[character.index(name)]


def test_muico_table_1_total_mass():
    alone = ("pelvis", "torso", "neck", "head")
    total = sum(line[0] * (1 if part in alone else 2) for part, line in muico29.TABLE_1.items())
    assert Character.preset("muico29").total_mass == pytest.approx(total, rel=1e-15)
    assert total == pytest.approx(71.356, abs=1e-9)


def test_muico_figure_2_degrees_of_freedom():
    character = Character.preset("muico29")
    assert (character.nv, character.nq) == (29, 35)
    kinds = {joint.name: joint.kind for joint in character.joints}
    assert kinds["root"] == "free"
    assert kinds["trunk"] == "ball"
    for side in ("left", "right"):
        assert kinds[f"{side}_hip"] == kinds[f"{side}_shoulder"] == "ball"
        assert kinds[f"{side}_knee"] == kinds[f"{side}_elbow"] == "hinge"
        assert kinds[f"{side}_ankle"] == "universal"
        assert kinds[f"{side}_clavicle"] == kinds[f"{side}_hand"] == "fixed"


@pytest.mark.parametrize("part", sorted(muico29.TABLE_1))
def test_muico_table_1_masses_and_inertias(part):
    character = Character.preset("muico29")
    mass, side, up, forward = muico29.TABLE_1[part]
    found = [b for b in character.bodies if b.name.removeprefix("left_").removeprefix("right_") == part]
    assert len(found) == (1 if part in {"pelvis", "torso", "neck", "head"} else 2)
    for b in found:
        assert b.mass == mass
        assert np.array_equal(b.inertia, np.diag([forward, side, up]))


def test_muico_section_5_four_corners_per_foot():
    corners = [contact for contact in Character.preset("muico29").contacts if isinstance(contact, Corner)]
    assert len([corner for corner in corners if corner.body == "left_foot"]) == 4
    assert len(corners) == 8


def test_jain_section_7_18_links_42_degrees_of_freedom():
    character = Character.preset("jain42")
    assert len(character.bodies) == 18
    assert character.nv == 42
    assert character.total_mass == pytest.approx(67.0, rel=1e-12)


def test_da_silva_table_3_2_simbicon_3d():
    character = Character.preset("gait28")
    alone = ("hip", "trunk", "head")
    total = sum(line[0] * (1 if part in alone else 2) for part, line in gait28.TABLE_3_2.items())
    assert character.total_mass == pytest.approx(total, rel=1e-12)
    assert total == pytest.approx(89.57, abs=1e-9)
    assert character.nv == 6 + 28
    assert body(character, "pelvis").inertia == ((0.1882, 0.0, 0.0), (0.0, 0.0996, 0.0), (0.0, 0.0, 0.1284))


def test_gait28_foot_and_toes_together_are_the_printed_foot():
    character = Character.preset("gait28")
    parts = []
    for name, offset in (("left_foot", np.zeros(3)), ("left_toes", body(character, "left_toes").position)):
        b = body(character, name)
        parts.append(Mass(b.mass, np.array(b.center_of_mass) + offset, np.array(b.inertia)))
    whole = combine(parts)
    mass, side, up, forward = gait28.TABLE_3_2["foot"]
    assert whole.mass == pytest.approx(mass, rel=1e-14)
    assert whole.center == pytest.approx(np.subtract(gait28.FOOT_CENTER, gait28.ANKLE), abs=1e-14)
    assert whole.inertia == pytest.approx(np.diag([forward, side, up]), abs=1e-15)


def test_da_silva_table_3_2_simbicon_2d():
    character = Character.preset("simbicon2d")
    assert character.total_mass == pytest.approx(10 + 3 + 2 * (2 + 1 + 7 + 5 + 4), rel=1e-14)
    assert character.nv == 6 + 11
    for b in character.bodies:
        mass, inertia = planar.TABLE_3_2[b.name.removeprefix("left_").removeprefix("right_")]
        assert b.mass == mass
        assert b.inertia[1][1] == inertia


def test_da_silva_chapter_6_seven_link_diver():
    character = Character.preset("diver7")
    assert len(character.bodies) == 7
    assert {joint.kind for joint in character.joints[1:]} == {"hinge"}
    assert character.total_mass == pytest.approx(32.0, rel=1e-14)


@pytest.mark.parametrize("name", ["simbicon2d", "diver7", "gymnast2"])
def test_planar_bodies_lie_and_bend_in_the_plane_of_x_and_z(name):
    character = Character.preset(name)
    for b in character.bodies:
        assert b.position[1] == b.center_of_mass[1] == 0.0
        assert b.inertia[0][1] == b.inertia[1][2] == 0.0
        assert all(axis == (0.0, 1.0, 0.0) for axis in b.joint.axes)


def test_da_silva_chapter_6_gymnast_unit_masses_and_lengths():
    character = Character.preset("gymnast2")
    assert [b.mass for b in character.bodies] == [1.0, 1.0]
    assert [b.center_of_mass for b in character.bodies] == [(0.0, 0.0, -1.0)] * 2
    assert character.bodies[1].position == (0.0, 0.0, -1.0)
    assert (character.nq, character.nv) == (2, 2)


def test_da_silva_section_3_2_3_balance_model_has_18_numbers_of_state():
    character = Character.preset("balance3")
    assert [joint.kind for joint in character.joints] == ["ball"] * 3
    assert [b.parent for b in character.bodies] == [None, "base", "base"]
    assert 2 * character.nv == 18


def test_balance3_weighs_what_its_person_weighs_without_a_foot():
    assert Character.preset("balance3").total_mass == pytest.approx(71.356 - 0.757, rel=1e-13)


@pytest.mark.parametrize("name", PEOPLE)
def test_people_stand_upright_with_feet_flat_on_the_ground(name):
    character = Character.preset(name)
    places = dict(zip((b.name for b in character.bodies), neutral_frames(character)[0], strict=True))
    corners = [contact for contact in character.contacts if isinstance(contact, Corner)]
    heights = [places[corner.body][2] + corner.position[2] for corner in corners]
    assert np.abs(heights).max() < 1e-12
    tops = [places[c.body][2] + c.position[2] + c.radius for c in character.contacts if c.name == "head"]
    assert 1.55 < tops[0] < 1.85
    center = sum(b.mass * (places[b.name] + b.center_of_mass) for b in character.bodies) / character.total_mass
    assert 0.5 * tops[0] - 0.12 < center[2] < 0.5 * tops[0] + 0.15
    # The centre of mass projects into the support of the feet.
    forward = [places[corner.body][0] + corner.position[0] for corner in corners]
    assert min(forward) < center[0] < max(forward)
    assert abs(center[1]) < 1e-12


@pytest.mark.parametrize("name", PEOPLE)
def test_left_and_right_are_mirror_images(name):
    character = Character.preset(name)
    mirror = np.array([1.0, -1.0, 1.0])
    names = {b.name for b in character.bodies}
    for left in character.bodies:
        if not left.name.startswith("left_"):
            continue
        right = body(character, left.name.replace("left_", "right_"))
        assert right.name in names
        assert right.mass == left.mass
        assert np.array_equal(np.array(right.position) * mirror, left.position)
        assert right.center_of_mass == pytest.approx(np.array(left.center_of_mass) * mirror, abs=1e-15)
        assert np.array(right.inertia) == pytest.approx(np.array(left.inertia) * np.outer(mirror, mirror), abs=1e-15)


def test_every_preset_is_named_after_itself_and_made_the_same_each_time():
    for name in NAMES:
        assert Character.preset(name).name == name
        assert Character.preset(name) == Character.preset(name)


def test_unknown_preset_lists_the_known_ones():
    with pytest.raises(ValueError, match="no preset 'muico30'; choose from muico29, jain42"):
        Character.preset("muico30")
