# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses from the mesh around the bones: hulls of water, against solids in closed form."""

import numpy as np
import pytest
from heft.core.character.mass import Mass, box
from heft.core.motion import masses
from heft.core.motion.body_plan import make_body_plan

from tests.core.motion.skeletons import wooden, wooden_roles

SIZE = np.array([0.3, 0.2, 0.1])
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
TABLES = {name: [Mass(kg, np.zeros(3), kg * np.eye(3))] for name, kg in (("pelvis", 30.0), ("head", 10.0))}


def turned(points):
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    return points @ turn.T, turn


def test_hull_of_a_blocks_corners_weighs_what_a_block_of_water_does():
    points, turn = turned(CORNERS * SIZE)
    place = np.array([1.0, -2.0, 3.0])
    [found] = masses.from_mesh({"pelvis": [points + place]}, {"pelvis": TABLES["pelvis"]}, None)["pelvis"]
    block = box(6.0, tuple(SIZE))
    assert found.mass == pytest.approx(6.0, rel=1e-12)
    np.testing.assert_allclose(found.center, place, atol=1e-12)
    np.testing.assert_allclose(found.inertia, turn @ block.inertia @ turn.T, atol=1e-12)


def test_hull_of_a_fine_sphere_is_a_ball():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(20000, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1)[:, None]
    [found] = masses.from_mesh({"pelvis": [points]}, {"pelvis": TABLES["pelvis"]}, None)["pelvis"]
    ball = 1000.0 * 4.0 / 3.0 * np.pi * 0.1**3
    assert found.mass == pytest.approx(ball, rel=2e-3)
    np.testing.assert_allclose(found.inertia, 0.4 * ball * 0.01 * np.eye(3), atol=2e-3 * 0.4 * ball * 0.01)


def test_body_without_a_mesh_keeps_its_share_of_the_tables():
    found = masses.from_mesh({"pelvis": [CORNERS * SIZE], "head": [CORNERS[:4] * SIZE]}, TABLES, None)
    assert found["pelvis"][0].mass == pytest.approx(6.0)
    assert found["head"][0].mass == pytest.approx(2.0)


def test_given_mass_is_the_whole():
    found = masses.from_mesh({"pelvis": [CORNERS * SIZE]}, TABLES, 80.0)
    assert found["pelvis"][0].mass == pytest.approx(60.0)
    assert found["head"][0].mass == pytest.approx(20.0)


@pytest.mark.parametrize("cloud", [np.zeros((0, 3)), np.zeros((9, 3)), CORNERS * [1.0, 1.0, 0.0]])
def test_mesh_without_volume_is_refused(cloud):
    with pytest.raises(ValueError, match="encloses no bone"):
        masses.from_mesh({"pelvis": [cloud]}, TABLES, None)


def test_character_weighs_what_its_mesh_does():
    """Blocks around the thighs: twice as heavy where the mesh is twice as large, with the centre where the mesh is."""
    some, roles = wooden(), wooden_roles()
    middle = {name: some.head[some.names.index(name)] for name in ("thigh.L", "thigh.R")}
    clouds = {
        "thigh.L": CORNERS * [0.1, 0.1, 0.4] + middle["thigh.L"] - [0.0, 0.0, 0.2],
        "thigh.R": CORNERS * [0.1, 0.2, 0.4] + middle["thigh.R"] - [0.0, 0.0, 0.2],
    }
    plan = make_body_plan(some, roles, vertices=clouds, masses_from_mesh=True)
    by_name = {body.name: body for body in plan.character.bodies}
    left, right = by_name["left_thigh"], by_name["right_thigh"]
    assert left.mass == pytest.approx(4.0)
    assert right.mass == pytest.approx(8.0)
    np.testing.assert_allclose(left.center_of_mass, (0.0, 0.0, -0.2), atol=1e-9)
    heavier = make_body_plan(some, roles, vertices=clouds, masses_from_mesh=True, total_mass=50.0)
    assert heavier.character.total_mass == pytest.approx(50.0)
