# SPDX-License-Identifier: GPL-3.0-or-later
"""The flat arrays that kernels read, on a small tree that can be checked by eye."""

import numpy as np
from heft.core.character import Body, Character, Joint
from heft.core.character.tree import BALL, FIXED, FREE, HINGE, UNIVERSAL

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def small():
    def body(name, parent, kind, axes=(), **joint):
        return Body(name, parent, Joint(name, kind, axes, **joint), 1.0, 0.1 * np.eye(3), Z, X)

    return Character(
        "small",
        (
            body("root", None, "free"),
            body("weld", "root", "fixed"),
            body("ball", "weld", "ball", stiffness=2.0),
            body("hinge", "root", "hinge", (Y,), stiffness=3.0, damping=0.5, rest=(0.25,)),
            body("universal", "hinge", "universal", (Y, X), damping=1.0),
        ),
    )


def test_layout_of_positions_and_velocities():
    character = small()
    tree = character.tree
    assert tree.joint.tolist() == [FREE, FIXED, BALL, HINGE, UNIVERSAL]
    assert (character.nq, character.nv) == (7 + 0 + 4 + 1 + 2, 6 + 0 + 3 + 1 + 2)
    assert tree.position_start.tolist() == [0, 7, 7, 11, 12]
    assert tree.velocity_start.tolist() == [0, 6, 6, 9, 10]
    assert tree.velocity_body.tolist() == [0] * 6 + [2] * 3 + [3] + [4] * 2
    assert tree.velocity_parent.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, 9, 10]


def test_free_root_has_its_pose_in_its_positions():
    character = small()
    assert character.neutral().tolist() == [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert character.tree.offset_position[0].tolist() == [0, 0, 0]
    assert character.tree.offset_position[1].tolist() == [1, 0, 0]


def test_passive_elements_act_per_velocity_about_the_rest():
    tree = small().tree
    assert tree.stiffness.tolist() == [0] * 6 + [2] * 3 + [3, 0, 0]
    assert tree.damping.tolist() == [0] * 9 + [0.5, 1, 1]
    assert tree.rest.tolist() == [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.25, 0, 0]


def test_arrays_have_the_types_kernels_expect():
    for name, array in small().tree._asdict().items():
        integers = {"parent", "joint", "position_start", "velocity_start", "velocity_body", "velocity_parent"}
        assert array.dtype == (np.int64 if name in integers else np.float64), name
