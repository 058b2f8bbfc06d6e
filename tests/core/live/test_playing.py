# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: what somebody does there bakes to the same bits."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.job import run
from heft.core.live import inputs
from heft.core.live.playing import play
from heft.core.live.take import taken

from tests.core.job import golden
from tests.core.job.jobs import waving_job
from tests.core.live.directing import Anybody, baked


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """References and gains, made once."""
    return tmp_path_factory.mktemp("cache")


def walk():
    return replace(golden.kept("walk"), settings={"rehearsals": 0})


@pytest.mark.parametrize("seed", range(3))
def test_take_of_a_walk_bakes_to_the_same_bits(seed, kept):
    job = walk()
    found = play(job, Anybody(seed, 300, np.array([0.0, 0.0, 1.0])), clock=None, cache=kept)
    again = baked(job, found.take, kept)
    live = found.simulation.recording
    assert found.take.loops
    assert len(found.take.pushes) > 1
    assert live.steps == again.recording.steps
    nq = found.simulation.character.nq + 7 * len(found.take.balls)
    np.testing.assert_array_equal(again.recording.q[:, :nq], live.q[:, :nq])
    np.testing.assert_array_equal(again.recording.torque, live.torque)
