# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters on their feet, and a walk, for the tests of control."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.control.lookahead import Track, standing
from heft.core.motion.fit import Trajectory
from heft.core.motion.schedule import contact_points
from heft.core.motion.spacetime import Ends, build_reference

MOTIONS = Path(__file__).parents[1] / "motion" / "spacetime" / "motions.py"


def load_motions():
    spec = importlib.util.spec_from_file_location("motions", MOTIONS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_reference(motion):
    return build_reference(
        motion.character, Trajectory(motion.rate, motion.q, motion.v), motion.schedule, bounds=Ends(cycle=motion.cycle)
    )


@pytest.fixture(scope="session")
def muico29():
    return Character.preset("muico29")


@pytest.fixture(scope="session")
def stand(muico29):
    feet = [point for point in contact_points(muico29) if point.foot]
    track = standing(muico29, muico29.neutral(), [p.body for p in feet], [p.position for p in feet])
    return track.with_corners(muico29)


@pytest.fixture(scope="session")
def walk():
    return make_reference(load_motions().walk())


@pytest.fixture(scope="session")
def walk_on_corners():
    motions = load_motions()
    return make_reference(motions.walk(points_of=motions.corners))


@pytest.fixture(scope="session")
def turning_walk():
    return make_reference(load_motions().walk(turn=0.5))


@pytest.fixture(scope="session")
def squat():
    return make_reference(load_motions().squat())


@pytest.fixture(scope="session")
def walk_track(walk):
    return Track.of(walk)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
