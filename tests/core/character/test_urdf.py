# SPDX-License-Identifier: GPL-3.0-or-later
"""The exported model as robot tools read it: the same masses in the same places."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.character.urdf import INERTIALESS, MASSLESS, hinges, to_urdf
from heft.core.dynamics import body_poses, center_of_mass

from tests.core.random_trees import random_character

CHARACTERS = [pytest.param(lambda name=name: Character.preset(name), id=name) for name in ("muico29", "gait28")] + [
    pytest.param(lambda seed=seed: random_character(seed, bodies=3 + seed), id=f"random{seed}") for seed in range(6)
]


def between(character):
    """How many links stand between hinges of one joint."""
    return sum(max(len(hinges(body.joint)) - 1, 0) for body in character.bodies if body.parent is not None)


@pytest.mark.parametrize("make", CHARACTERS)
def test_mujoco_reads_it_with_the_same_masses(make):
    mujoco = pytest.importorskip("mujoco")
    character = make()
    text = to_urdf(character)
    keep = '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="false"/></mujoco></robot>'
    model = mujoco.MjModel.from_xml_string(text.replace("</robot>", keep))
    masses = {model.body(b).name: float(model.body_mass[b]) for b in range(1, model.nbody)}
    for body in character.bodies:
        if body.name in masses:  # a root that is not free is part of the world there
            assert masses[body.name] == pytest.approx(body.mass, rel=1e-12)
    assert len(masses) >= len(character.bodies) - 1 + between(character)
    assert model.nv == sum(len(hinges(body.joint)) for body in character.bodies if body.parent is not None)


@pytest.mark.parametrize("make", CHARACTERS)
def test_pinocchio_puts_links_and_the_centre_of_mass_where_they_are(make):
    pinocchio = pytest.importorskip("pinocchio")
    character = make()
    model = pinocchio.buildModelFromXML(to_urdf(character), pinocchio.JointModelFreeFlyer())
    data = model.createData()
    q = pinocchio.neutral(model)
    rest = np.ascontiguousarray(character.neutral())
    place, turn = body_poses(character, rest)
    q[:3] = place[0]
    q[3:7] = turn[0][[1, 2, 3, 0]]
    center = pinocchio.centerOfMass(model, data, q)
    pinocchio.updateFramePlacements(model, data)
    mass = sum(body.mass for body in character.bodies)
    assert pinocchio.computeTotalMass(model) == pytest.approx(mass + MASSLESS * between(character), rel=1e-9)
    for b, body in enumerate(character.bodies):
        assert data.oMf[model.getFrameId(body.name, pinocchio.FrameType.BODY)].translation == pytest.approx(
            place[b], abs=1e-9
        )
    assert center == pytest.approx(center_of_mass(character, rest), abs=1e-5)
    assert INERTIALESS < 1e-6
