# SPDX-License-Identifier: GPL-3.0-or-later
"""Those who come near each other: one floor, holds that their motions tell of, forces that are equal and opposite."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.cache import Cache
from heft.core.job import BakeJob, CompanyJob, run_together
from heft.core.job.fitting import performance_of, samples_of
from heft.core.job.introducing import introduced
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.motion.floor import Floor, common_floor
from heft.core.motion.meetings import Acting, find_meetings
from heft.core.simulation import Grab
from heft.core.simulation.company import Hold

from tests.core.job.jobs import waving_clip
from tests.core.job.test_company import moved
from tests.core.motion.skeletons import wooden_roles

SWAY = 0.03  # m


def swaying(name, sign):
    """Who stands, and leans to one side and back."""
    clip = waving_clip(1.0)
    still = replace(clip, position=np.tile(clip.position[:1], (len(clip.position), 1, 1)))
    still = replace(still, orientation=np.tile(clip.orientation[:1], (len(clip.position), 1, 1)))
    lean = SWAY * np.sin(np.pi * np.arange(len(clip.position)) / len(clip.position)) ** 2
    place = still.position.copy()
    place[..., 0] += sign * lean[:, None] * np.clip(place[..., 2], 0.0, None)
    return BakeJob(replace(still, position=place), wooden_roles(), name=name)


def hand_in_hand(gap=0.01):
    """Two side by side: the left hand of one is at the right hand of the other; both lean away from each other."""
    first, second = swaying("first", -1.0), swaying("second", 1.0)
    clip = first.clip
    hands = [clip.position[0, clip.skeleton.index(f"hand.{side}")] for side in "LR"]
    apart = hands[0] - hands[1]
    apart[:2] *= 1.0 + gap / np.linalg.norm(apart[:2])
    return first, moved(second, tuple(apart[:2].tolist()))


def quiet(number):
    """Nobody looks on."""
    del number
    return ProgressReporter(None)


def acting(job):
    performance, _ = performance_of(job, Cache(None))
    return Acting(performance.plan.character, samples_of(job, performance)[0])


def test_hands_that_stay_together_are_a_hold():
    first, second = (acting(job) for job in hand_in_hand())
    (found,) = find_meetings(first, second)
    assert {found.hand, found.body} == {"left_hand", "right_hand"}
    assert found.frames == (0, len(first.trajectory.q) - 1)
    # whoever is named first, it is the same hold
    (again,) = find_meetings(second, first)
    assert (again.hand, again.body) == (found.body, found.hand)


def test_hands_that_pass_or_are_apart_are_none():
    first, second = hand_in_hand()
    far = moved(second, (0.5, 0.0))
    assert find_meetings(acting(first), acting(far)) == []
    clip = second.clip
    passing = clip.position.copy()
    passing[..., 1] += 2.0 * (np.arange(len(passing)) / clip.rate - 0.5)[:, None]
    assert find_meetings(acting(first), acting(replace(second, clip=replace(clip, position=passing)))) == []


def test_motions_are_made_with_forces_that_are_equal_and_opposite(tmp_path):
    """Nobody is pulled by what nobody gives."""
    cache = Cache(tmp_path)
    company, notes = introduced(CompanyJob(hand_in_hand()), cache, quiet)
    (hold,) = company.holds
    assert "holds" in notes[hold.member][0]
    references = [make_motion(job, ProgressReporter(None), cache, Clock()).reference for job in company.jobs]
    one, other = (reference.outside.force for reference in references)
    assert np.abs(one).max() > 0.01
    np.testing.assert_allclose(one, -other, atol=0.01)
    assert len(hold.way) == pytest.approx(len(one) + 1, abs=1)


def test_who_holds_hands_keeps_them_together():
    """They are where the actions have them, although both sway and are noisy; without a hold each drifts alone."""
    jobs = tuple(replace(job, noise=0.05, seed=k) for k, job in enumerate(hand_in_hand()))
    found = run_together(CompanyJob(jobs))
    assert [one.outcome for one in found] == ["completed", "completed"]
    assert any("as in the action" in note for one in found for note in one.report["notes"])
    clips = [job.clip for job in jobs]
    columns = [clips[0].skeleton.index(f"hand.{side}") for side in "LR"]
    rows = [one.bones.index(f"hand.{side}") for one, side in zip(found, "LR", strict=True)]
    places = [one.poses[:, row, :3, 3] for one, row in zip(found, rows, strict=True)]
    wanted = [clip.position[:, column] for clip, column in zip(clips, columns, strict=True)]
    off = np.linalg.norm(places[0] - places[1] - (wanted[0] - wanted[1])[: len(places[0])], axis=1)
    assert off.max() < 0.005
    loose = run_together(CompanyJob(jobs, find_holds=False))
    assert not any("as in the action" in note for one in loose for note in one.report["notes"])


def test_a_hand_that_is_said_to_hold_something_is_left_to_that():
    first, second = hand_in_hand()
    for company in (
        CompanyJob((first, second), (Hold(1, Grab("right_hand", start=0.0, end=0.5), 0, "left_forearm"),)),
        CompanyJob((replace(first, scene=replace(first.scene, grabs=(Grab("left_hand"),))), second)),
    ):
        found, notes = introduced(company, Cache(None), quiet)
        assert notes == {}
        assert found.holds == company.holds


def test_a_common_floor_lies_where_both_have_it():
    """Each knows best what is under its own feet; a plane that both are on is found again."""
    plane = Floor(0.02, (0.01, -0.005), 100)
    middles = np.array([[0.0, 0.0], [1.0, 2.0]])
    assert common_floor([plane, plane], middles).height == pytest.approx(0.02)
    found = common_floor([Floor(0.02, (0.0, 0.0), 100), Floor(0.01, (0.0, 0.0), 300), Floor()], np.zeros((3, 2)))
    assert found.height == pytest.approx(0.0125)
    assert common_floor([Floor(0.0, samples=10), Floor(0.1, samples=10)], middles) is None
    assert common_floor([Floor(0.0, samples=10), Floor(0.0, samples=10, drift=(0.02, 0.0, 0.0))], middles) is None
    assert common_floor([Floor(), Floor()], middles) is None
