# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that cannot be is refused when it is made, in one sentence that names the body or joint."""

import dataclasses
import math

import numpy as np
import pytest
from heft.core.character import Body, Capsule, Character, Cone, Corner, Joint, Range, Sphere

BALL = np.eye(3) * 0.1
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TWIST = Range(-1.0, 1.0)


def body(name="shank", parent=None, joint=None, **changes):
    joint = Joint(f"{name}_joint", "hinge", axes=(Y,)) if joint is None else joint
    return Body(name, parent, joint, **({"mass": 1.0, "inertia": BALL} | changes))


def hinge(**changes):
    return Joint("knee", "hinge", **({"axes": (Y,)} | changes))


BAD_PARTS = {
    "zero mass": (lambda: body(mass=0.0), "The mass of body 'shank' must be positive, not 0.0."),
    "negative mass": (lambda: body(mass=-2.0), "The mass of body 'shank' must be positive, not -2.0."),
    "nan mass": (lambda: body(mass=math.nan), "The mass of body 'shank' must be a finite number, not nan."),
    "infinite position": (
        lambda: body(position=(0, math.inf, 0)),
        "The position of body 'shank' must be a finite number, not inf.",
    ),
    "short position": (lambda: body(position=(0, 0)), "The position of body 'shank' must have 3 numbers, not 2."),
    "zero orientation": (lambda: body(orientation=(0, 0, 0, 0)), "The orientation of body 'shank' must not be zero."),
    "asymmetric inertia": (
        lambda: body(inertia=((1, 0.1, 0), (0, 1, 0), (0, 0, 1))),
        "The inertia of body 'shank' is not symmetric.",
    ),
    "flat inertia": (
        lambda: body(inertia=np.diag([1.0, 1.0, 0.0])),
        "The inertia of body 'shank' must be positive, but a principal moment is 0 kg m².",
    ),
    "triangle inequality": (
        lambda: body(inertia=np.diag([1.0, 2.0, 3.1])),
        (
            "The inertia of body 'shank' violates the triangle inequality: no rigid body has principal moments of "
            "1, 2 and 3.1 kg m²."
        ),
    ),
    "empty body name": (lambda: body(name=""), "The name of a body must be 1 to 200 printable characters, not ''."),
    "control characters": (
        lambda: Joint("a\nb", "fixed"),
        "The name of a joint must be 1 to 200 printable characters, not 'a\\nb'.",
    ),
    "unknown kind": (
        lambda: Joint("knee", "slide"),
        "The kind of joint 'knee' must be one of free, ball, universal, hinge, fixed, not 'slide'.",
    ),
    "no axis": (lambda: Joint("knee", "hinge"), "The hinge joint 'knee' must have 1 axes, not 0."),
    "zero axis": (lambda: hinge(axes=((0, 0, 0),)), "The axis of joint 'knee' must not be zero."),
    "parallel axes": (
        lambda: Joint("ankle", "universal", axes=(Y, (0, -2, 0))),
        "The two axes of joint 'ankle' are parallel.",
    ),
    "reversed limits": (
        lambda: hinge(limits=(Range(1.0, -1.0),)),
        "The limits of joint 'knee' must be in ascending order, not 1.0 to -1.0.",
    ),
    "too many limits": (
        lambda: hinge(limits=(TWIST, TWIST)),
        "The hinge joint 'knee' cannot be limited by 2 ranges.",
    ),
    "cone on a hinge": (
        lambda: hinge(limits=Cone(Z, Z, 1.0, TWIST)),
        "The hinge joint 'knee' cannot be limited by a cone.",
    ),
    "wide cone": (
        lambda: Joint("hip", "ball", limits=Cone(Z, Z, 4.0, TWIST)),
        "The swing of joint 'hip' must be at most π, not 4.0.",
    ),
    "closed cone": (
        lambda: Joint("hip", "ball", limits=Cone(Z, Z, 0.0, TWIST)),
        "The swing of joint 'hip' must be positive, not 0.0.",
    ),
    "reversed twist": (
        lambda: Joint("hip", "ball", limits=Cone(Z, Z, 1.0, Range(1, -1))),
        "The limits of joint 'hip' must be in ascending order, not 1.0 to -1.0.",
    ),
    "negative stiffness": (
        lambda: hinge(stiffness=-1.0),
        "The stiffness of joint 'knee' must not be negative, but is -1.0.",
    ),
    "nan damping": (
        lambda: hinge(damping=math.nan),
        "The damping of joint 'knee' must be a finite number, not nan.",
    ),
    "damped weld": (
        lambda: Joint("weld", "fixed", damping=1.0),
        "The fixed joint 'weld' cannot have stiffness or damping.",
    ),
    "rest of two angles": (lambda: hinge(rest=(0, 0)), "The rest of joint 'knee' must have 1 numbers, not 2."),
    "flat sphere": (lambda: Sphere("head", "head", X, 0.0), "The radius of contact 'head' must be positive, not 0.0."),
    "short capsule": (lambda: Capsule("arm", "arm", X, X, 0.1), "The ends of contact 'arm' coincide."),
}


@pytest.mark.parametrize("case", BAD_PARTS)
def test_bad_parts_are_refused(case):
    make, sentence = BAD_PARTS[case]
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole sentence is compared
        make()
    assert str(error.value) == sentence


BAD_TREES = {
    "no bodies": ((), "The character has no root: give it one body without a parent."),
    "two roots": ((body("a"), body("b")), "A character has exactly one root, but bodies 'a' and 'b' have no parent."),
    "unknown parent": ((body("a"), body("b", "c")), "The parent of body 'b' is unknown: 'c'."),
    "own parent": (
        (body("a"), body("b", "b")),
        "Body 'b' is attached to a loop: following its parents never reaches the root.",
    ),
    "cycle": (
        (body("a"), body("b", "c"), body("c", "b")),
        "Body 'b' is attached to a loop: following its parents never reaches the root.",
    ),
    "same body name": ((body("a"), body("a", "a")), "The name 'a' is used by 2 bodies."),
    "same joint name": (
        (body("a", joint=hinge()), body("b", "a", joint=hinge())),
        "The name 'knee' is used by 2 joints.",
    ),
    "free below the root": (
        (body("a"), body("b", "a", joint=Joint("loose", "free"))),
        "Only the root may be free, but body 'b' has a parent and a free joint.",
    ),
    "nothing moves": (
        (body("a", joint=Joint("weld", "fixed")),),
        "All joints are fixed: a character needs at least one that moves.",
    ),
}


@pytest.mark.parametrize("case", BAD_TREES)
def test_bad_trees_are_refused(case):
    bodies, sentence = BAD_TREES[case]
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole sentence is compared
        Character("bad", bodies)
    assert str(error.value) == sentence


def test_contacts_must_belong_to_a_body_and_have_their_own_names():
    corner = Corner("heel", "foot", X)
    with pytest.raises(ValueError, match="Contact 'heel' belongs to an unknown body 'foot'"):
        Character("bad", (body("a"),), (corner,))
    with pytest.raises(ValueError, match="The name 'heel' is used by 2 contacts"):
        Character("bad", (body("foot"),), (corner, corner))


def test_triangle_inequality_lets_rounding_pass():
    flat = body(inertia=np.diag([1.0, 2.0, 3.0 * (1.0 + 1e-9)]))
    assert flat.inertia[2][2] > 3.0


def test_triangle_inequality_holds_for_principal_moments_not_the_diagonal():
    """Turning a body can hide a violation from the diagonal."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    inertia = turn @ np.diag([1.0, 1.0, 2.5]) @ turn.T
    assert 2 * np.diag(inertia).max() < np.trace(inertia)
    with pytest.raises(ValueError, match="violates the triangle inequality"):
        body(inertia=0.5 * (inertia + inertia.T))


def test_directions_are_kept_at_unit_length():
    assert hinge(axes=((0, 3, 4),)).axes == ((0.0, 0.6, 0.8),)
    assert body(orientation=(2, 0, 0, 0)).orientation == (1.0, 0.0, 0.0, 0.0)


def test_bodies_may_come_in_any_order_and_are_kept_depth_first():
    character = Character("any", (body("d", "b"), body("b", "a"), body("c", "a"), body("e", "b"), body("a")))
    assert [b.name for b in character.bodies] == ["a", "b", "d", "e", "c"]
    assert character.tree.parent.tolist() == [-1, 0, 1, 1, 0]


def test_characters_are_values():
    character = Character("one", (body("a"),))
    assert character == Character("one", (body("a"),))
    assert hash(character) == hash(Character("one", (body("a"),)))
    assert character != Character("one", (body("a", mass=2.0),))
    with pytest.raises(dataclasses.FrozenInstanceError):
        character.name = "two"
    with pytest.raises(dataclasses.FrozenInstanceError):
        character.bodies[0].mass = 2.0
    for array in character.tree:
        assert not array.flags.writeable
        assert array.flags.c_contiguous
    assert character.tree is character.tree
