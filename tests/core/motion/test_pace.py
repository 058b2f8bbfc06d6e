# SPDX-License-Identifier: GPL-3.0-or-later
"""At which pace a motion could happen, against closed forms of flying, swaying and hanging in the air."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.pace import PACES, lacking, times_too_fast
from heft.core.motion.schedule import contact_points
from heft.core.motion.tracks import point_places

from tests.core.motion.spacetime import motions

RATE = motions.RATE


@pytest.fixture(scope="module")
def stand():
    """A person who stands on both feet all along, poses and reference."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (240, 1))
    feet = [point for point in contact_points(character) if point.foot]
    q[:, 2] -= point_places(character, q[:1], feet)[0, :, 2].min()
    return q, make_reference(character, Trajectory(RATE, q, motions.velocities(character, q))).reference


def swaying(q, amplitude, times):
    swayed = q.copy()
    swayed[:, 1] += amplitude * np.sin(2.0 * np.pi * times * np.arange(len(q)) / RATE)
    return swayed


def test_who_stands_lacks_nothing_at_any_pace(stand):
    q, reference = stand
    np.testing.assert_allclose(lacking(reference, q, PACES), 0.0, atol=3e-4)  # of equal forces the smallest are taken
    assert times_too_fast(reference, q) is None


def test_who_hangs_in_the_air_lacks_the_weight_at_any_pace(stand):
    q, reference = stand
    hanging = replace(reference, carrying=np.zeros_like(reference.carrying))
    lacks = lacking(hanging, q, PACES)
    np.testing.assert_allclose(lacks, 1.0, atol=1e-6)
    assert times_too_fast(hanging, q) is None


@pytest.mark.parametrize("times", [0.5, 1.0, 1.6, 2.0])
def test_who_flies_lacks_what_gravity_does_not_do(stand, times):
    """All of the body falls by z'' = -g n^2: at a pace of p it falls by g n^2 / p^2, and lacks the difference."""
    q, reference = stand
    flying = replace(reference, carrying=np.zeros_like(reference.carrying))
    time = np.arange(len(q)) / RATE
    q = q.copy()
    q[:, 2] += 5.0 - 0.5 * 9.81 * times**2 * (time - 1.0) ** 2
    lacks = lacking(flying, q, PACES)[:, 10:-10].mean(axis=1)
    expected = np.abs(1.0 - (times / np.array(PACES)) ** 2)
    np.testing.assert_allclose(lacks, expected, rtol=0.03, atol=0.01)
    assert times_too_fast(flying, q) == (None if times == 1.0 else times)


@pytest.mark.parametrize("times", [1.0, 2.0])
def test_swaying_that_is_played_too_fast_is_told_by_its_balance(stand, times):
    """By 3 cm in a second: its zero moment point sways by 3 cm omega^2 z / g = 11 cm, and by 44 at twice the pace."""
    q, reference = stand
    found = times_too_fast(reference, swaying(q, 0.03, times))
    assert found is None if times == 1.0 else 1.6 <= found <= 3.0
