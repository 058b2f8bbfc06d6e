# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants of one motion, each made into a reference that is fit for control: a procedural walk and a captured one."""

import numpy as np
import pytest
from heft.core.character.mass import Mass
from heft.core.dynamics import mass_matrix
from heft.core.motion import variants
from heft.core.motion.fit import Trajectory
from heft.core.motion.ground import footprints
from heft.core.motion.make_reference import make_reference

from tests.core.motion.skeletons import GOOD
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

WALKS = ["procedural", pytest.param("02_01", marks=pytest.mark.skipif(not GOOD, reason="no motion capture clips"))]


def walk(name):
    if name != "procedural":
        return captured(name)
    motion = motions.walk(strides=2)
    return motion.character, Trajectory(motion.rate, motion.q, motion.v)


def fit_reference(character, trajectory):
    reference = make_reference(character, trajectory).reference
    quality = reference.quality
    assert quality.fit_for_control, quality.why
    assert quality.residual_newtons < 1e-6 * character.total_mass * 9.81
    assert quality.slip_millimetres < 1.0
    assert quality.penetration_millimetres < 1.0
    assert quality.friction_use <= 1.0
    assert quality.joint_rms_degrees < 5.0
    return reference


def way(trajectory):
    return trajectory.q[-1, :2] - trajectory.q[0, :2]


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_speed(name, factor):
    character, trajectory = walk(name)
    faster = variants.at_speed(character, trajectory, factor)
    assert len(faster.q) == pytest.approx(len(trajectory.q) / factor, abs=2)
    assert faster.frame(len(faster.q) - 1) == pytest.approx(trajectory.frame(len(trajectory.q) - 1), abs=factor)
    reference = fit_reference(character, faster)
    mean = np.linalg.norm(way(reference)) * reference.rate / reference.steps
    before = np.linalg.norm(way(trajectory)) * trajectory.rate / (len(trajectory.q) - 1)
    assert mean == pytest.approx(factor * before, rel=0.04)


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_stride(name, factor):
    character, trajectory = walk(name)
    longer = variants.with_stride(character, trajectory, factor)
    before, after = footprints(character, trajectory), footprints(character, longer)
    assert len(before) == len(after)
    apart = [
        np.linalg.norm(np.subtract(feet[-1].heel, feet[0].heel))
        for feet in ([one for one in some if one.body == "left_foot"] for some in (before, after))
    ]
    assert apart[1] == pytest.approx(factor * apart[0], rel=0.02)
    reference = fit_reference(character, longer)
    assert np.linalg.norm(way(reference)) == pytest.approx(factor * np.linalg.norm(way(trajectory)), rel=0.04)


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("degrees", [-40.0, 40.0])
def test_turns(name, degrees):
    character, trajectory = walk(name)
    bent = variants.turning(character, trajectory, np.radians(degrees))
    ahead = way(trajectory)
    before, after = (
        [one for one in footprints(character, some) if one.body == "left_foot"] for some in (trajectory, bent)
    )
    yaws = [np.arctan2(*np.subtract(one.toe, one.heel)[1::-1]) for one in (before[0], before[-1], after[0], after[-1])]
    turned = np.degrees((yaws[3] - yaws[2]) - (yaws[1] - yaws[0]))
    share = np.subtract(before[-1].heel, before[0].heel)[:2] @ ahead / (ahead @ ahead)
    assert (turned + 180.0) % 360.0 - 180.0 == pytest.approx(share * degrees, abs=3.0)
    fit_reference(character, bent)


@pytest.mark.parametrize("name", WALKS)
def test_mass_and_load(name):
    character, trajectory = walk(name)
    heavy = variants.with_mass(character, 1.3)
    assert heavy.total_mass == pytest.approx(1.3 * character.total_mass)
    q = character.neutral()
    np.testing.assert_allclose(mass_matrix(heavy, q), 1.3 * mass_matrix(character, q), rtol=1e-12, atol=1e-12)
    light, weighty = (fit_reference(some, trajectory) for some in (character, heavy))
    ratio = weighty.force.sum(axis=1)[:, 2].mean() / light.force.sum(axis=1)[:, 2].mean()
    assert ratio == pytest.approx(1.3, rel=0.03)
    torso = next(body.name for body in character.bodies if body.name == "torso")
    pack = Mass(15.0, np.array([-0.15, 0.0, 0.1]), np.diag([0.2, 0.2, 0.1]))
    loaded = variants.carrying(character, torso, pack)
    assert loaded.total_mass == pytest.approx(character.total_mass + 15.0)
    fit_reference(loaded, trajectory)


def test_variants_that_make_no_sense_are_refused():
    character, trajectory = walk("procedural")
    with pytest.raises(ValueError, match="speed of 0 times"):
        variants.at_speed(character, trajectory, 0.0)
    with pytest.raises(ValueError, match="stride length of 50 times"):
        variants.with_stride(character, trajectory, 50.0)
    with pytest.raises(ValueError, match="more than half a turn"):
        variants.turning(character, trajectory, 4.0)
    still = Trajectory(120.0, np.tile(trajectory.q[0], (20, 1)), np.zeros((20, character.nv)))
    with pytest.raises(ValueError, match="stays in place"):
        variants.with_stride(character, still, 1.2)
