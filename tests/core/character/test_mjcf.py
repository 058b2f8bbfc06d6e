# SPDX-License-Identifier: GPL-3.0-or-later
"""The exported model in MuJoCo: same masses, inertias, joints and order of q and v."""

import math

import numpy as np
import pytest
from heft.core.character import Body, Character, Cone, Joint, Range
from heft.core.character.mjcf import largest_angle
from heft.core.character.presets import NAMES
from heft.core.character.storage import MOST_BODIES
from scipy.spatial.transform import Rotation

from tests.core.random_trees import random_character, random_state

mujoco = pytest.importorskip("mujoco")

CHARACTERS = [pytest.param(lambda name=name: Character.preset(name), id=name) for name in NAMES] + [
    pytest.param(
        lambda seed=seed: random_character(seed, bodies=2 + seed % 12, passive=seed % 2 == 1), id=f"random{seed}"
    )
    for seed in range(30)
]


def load(character, **options):
    return mujoco.MjModel.from_xml_string(character.to_mjcf(**options))


@pytest.mark.parametrize("make", CHARACTERS)
def test_mujoco_has_the_same_bodies(make):
    character = make()
    model, tree = load(character), character.tree
    assert [model.body(b + 1).name for b in range(model.nbody - 1)] == [body.name for body in character.bodies]
    assert np.array_equal(model.body_parentid[1:] - 1, tree.parent)
    assert np.array_equal(model.body_mass[1:], tree.mass)
    assert np.array_equal(model.body_ipos[1:], tree.center_of_mass)
    turns = Rotation.from_quat(model.body_iquat[1:], scalar_first=True).as_matrix()
    inertia = np.einsum("bij,bj,bkj->bik", turns, model.body_inertia[1:], turns)
    scale = np.abs(tree.inertia).max(axis=(1, 2), keepdims=True)
    assert np.abs((inertia - tree.inertia) / scale).max() < 1e-12


@pytest.mark.parametrize("make", CHARACTERS)
def test_mujoco_has_the_same_joints_in_the_same_order(make):
    character = make()
    model, tree = load(character), character.tree
    assert (model.nq, model.nv) == (character.nq, character.nv)
    assert np.array_equal(model.dof_bodyid - 1, tree.velocity_body)
    assert np.array_equal(model.dof_parentid, tree.velocity_parent)
    assert np.array_equal(model.qpos0, character.neutral())
    assert np.array_equal(model.dof_damping, tree.damping)
    assert np.array_equal(model.opt.gravity, tree.gravity)
    joint = 0
    for body, part in enumerate(character.joints):
        for k in range(0 if part.kind == "fixed" else max(1, len(part.axes))):
            assert model.jnt_bodyid[joint] == body + 1
            assert model.jnt_stiffness[joint] == part.stiffness
            if part.axes:
                assert model.jnt_axis[joint] == pytest.approx(part.axes[k], abs=1e-15)
                assert part.stiffness == 0.0 or model.qpos_spring[model.jnt_qposadr[joint]] == part.rest[k]
            joint += 1
    assert joint == model.njnt


@pytest.mark.parametrize("make", CHARACTERS)
def test_mujoco_has_the_same_limits(make):
    character = make()
    model = load(character)
    for part in character.joints:
        if part.kind == "ball":
            joint = model.joint(part.name).id
            assert model.jnt_limited[joint] == (part.limits is not None and largest_angle(part.limits) < math.pi)
        elif part.kind in {"hinge", "universal"}:
            for k in range(len(part.axes)):
                joint = model.joint(part.name if part.kind == "hinge" else f"{part.name}.{k + 1}").id
                assert model.jnt_limited[joint] == (part.limits is not None)
                if part.limits is not None:
                    assert model.jnt_range[joint].tolist() == [part.limits[k].lower, part.limits[k].upper]


def place(tree, q):
    """Slow twin of the conventions in tree.py: world positions and rotation matrices of all bodies."""
    positions, rotations = [], []
    for b, parent in enumerate(tree.parent):
        start = tree.position_start[b]
        position, turn = tree.offset_position[b], matrix(tree.offset_quaternion[b])
        if parent >= 0:
            position = positions[parent] + rotations[parent] @ position
            turn = rotations[parent] @ turn
        match int(tree.joint[b]):
            case 1:
                turn = turn @ about(tree.axis[b, 0], q[start])
            case 2:
                turn = turn @ about(tree.axis[b, 0], q[start]) @ about(tree.axis[b, 1], q[start + 1])
            case 3:
                turn = turn @ matrix(q[start : start + 4])
            case 4:
                position, turn = q[start : start + 3], matrix(q[start + 3 : start + 7])
        positions.append(position)
        rotations.append(turn)
    return np.array(positions), np.array(rotations)


def matrix(quaternion):
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def about(axis, angle):
    return Rotation.from_rotvec(angle * axis).as_matrix()


@pytest.mark.parametrize("make", CHARACTERS)
def test_mujoco_puts_bodies_where_the_tree_says(make):
    character = make()
    model = load(character)
    data = mujoco.MjData(model)
    for seed in range(3):
        q, _ = random_state(character, np.random.default_rng(seed))
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        positions, rotations = place(character.tree, q)
        assert data.xpos[1:] == pytest.approx(positions, abs=1e-12)
        assert data.xmat[1:].reshape(-1, 3, 3) == pytest.approx(rotations, abs=1e-12)


LR = ("left", "right")


def test_corners_of_muico29_carry_it_on_the_ground():
    character = Character.preset("muico29")
    model = load(character)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touching = {model.geom(int(contact.geom[1])).name for contact in data.contact}
    assert touching == {f"{side}_{end}_{edge}" for side in LR for end in ("heel", "toe") for edge in LR}


def test_without_contacts_there_is_nothing_to_touch():
    model = load(Character.preset("muico29"), contacts=False)
    assert model.ngeom == 0
    assert model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT


@pytest.mark.parametrize("name", ["muico29", "jain42", "gait28"])
def test_motors_stand_in_the_order_of_velocities(name):
    character = Character.preset(name)
    model = load(character, motors=True)
    data = mujoco.MjData(model)
    torque = np.arange(1.0, character.nv - 5.0)
    data.ctrl[:] = torque
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator.tolist() == [0.0] * 6 + torque.tolist()


def test_names_survive_xml():
    joint = Joint('a <"hinge"> & more', "hinge", axes=((0, 1, 0),))
    character = Character("Ünï & <co>", (Body("mixamorig:Hips'", None, joint, 1.0, np.eye(3)),))
    model = load(character)
    assert model.body(1).name == "mixamorig:Hips'"
    assert model.joint(0).name == 'a <"hinge"> & more'


def test_the_longest_chain_that_a_file_may_hold_loads():
    chain = Character(
        "chain",
        tuple(
            Body(f"b{i}", f"b{i - 1}" if i else None, Joint(f"j{i}", "hinge", axes=((0, 1, 0),)), 1.0, np.eye(3))
            for i in range(MOST_BODIES)
        ),
    )
    assert load(chain).nv == chain.nv == MOST_BODIES


def test_ball_limit_of_mujoco_permits_whatever_the_cone_permits():
    """Rotations from swing and twist within a random cone never exceed the exported angle, and some nearly reach it."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        axis, center = rng.normal(size=(2, 3))
        axis /= np.linalg.norm(axis)
        center = axis + 0.3 * center / np.linalg.norm(center)
        center /= np.linalg.norm(center)
        cone = Cone(
            tuple(axis), tuple(center), rng.uniform(0.2, 1.5), Range(-rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0))
        )
        twists = Rotation.from_rotvec(np.outer(rng.uniform(cone.twist.lower, cone.twist.upper, 4000), axis))
        swings = Rotation.from_rotvec(np.cross(axis, rng.normal(size=(4000, 3))))
        directions = swings.apply(axis)
        inside = directions @ center >= math.cos(cone.swing)
        angles = (swings * twists).magnitude()[inside]
        assert angles.max() <= largest_angle(cone) + 1e-12
        assert angles.max() > 0.8 * largest_angle(cone)
