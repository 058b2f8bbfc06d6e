# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of jumps that hang in the air, as gravity has them."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import BakeJob
from heft.core.cache import Cache
from heft.core.job.fitting import performance_of, samples_of
from heft.core.job.flying import with_flights
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.motion.spacetime.help import helping
from heft.core.motion.spacetime.measure import mean_distance

from tests.core.job.beginners import job
from tests.core.motion.skeletons import CMU_ROLES, cmu, needs_clips


def flown(wanted):
    performance, terrain = performance_of(wanted, Cache(None))
    trajectory, _ = samples_of(wanted, performance)
    return trajectory, with_flights(wanted, performance, performance.plan.character, trajectory, terrain)


def test_contacts_go_along_with_a_jump_of_another_timing_and_are_told_when_they_were_keyed():
    trajectory, found = flown(job("floaty jump", flights="timing"))
    assert len(found.trajectory.q) == len(trajectory.q)
    edited = [("foot.L_toe", 0.0, 12.0), ("foot.L_toe", 60.0, 75.0)]
    moved = found.now(edited)
    assert moved[0][2] > 14.0
    assert moved[1][1] < 56.0
    back = found.keyed(moved)
    np.testing.assert_allclose([one[1:] for one in back], [one[1:] for one in edited], atol=1e-6)


@pytest.mark.parametrize("changes", [{"flights": "as_keyed"}, {"loop": True}, {"optimise": False}])
def test_flights_are_left_alone_where_they_are_to_be(changes):
    trajectory, found = flown(job("floaty jump", **{"flights": "timing", **changes}))
    assert found.trajectory is trajectory
    assert found.lines == ()


@needs_clips
def test_a_captured_jump_in_slow_motion_takes_no_help_at_another_timing():
    """Played 1.5 times too slowly, up to 399 % of the weight would carry it as it is keyed."""
    clip = cmu("16_01")
    slow = replace(clip, rate=clip.rate / 1.5)
    wanted = BakeJob(slow.cut(1, len(slow.position)), CMU_ROLES, simulate=False)
    motion = make_motion(wanted, ProgressReporter(None), Cache(None), Clock())
    assert not helping(motion.reference.schedule.points).any()
    assert motion.reference.quality.root_max_metres < 0.05
    assert any("times too slow for its height: it is in frames" in line for line in motion.lines)
    trajectory, found = flown(wanted)
    np.testing.assert_array_equal(motion.source, trajectory.q)
    assert mean_distance(motion.reference.character, found.trajectory.q, motion.reference.q) < 0.02
