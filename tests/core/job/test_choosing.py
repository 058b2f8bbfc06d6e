# SPDX-License-Identifier: GPL-3.0-or-later
"""A job without a method gets the one that suits it, and then is that method's job."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import cache
from heft.core.control.methods import METHODS
from heft.core.job import BakeJob, MotionChoice, Scene, check, run
from heft.core.job.choosing import Signs, choose, resolved, signs_of
from heft.core.motion.playback import Playback
from heft.core.simulation import Course, Foothold, Grab, Prop

from tests.core.job.jobs import waving_clip, waving_job

BALL = Prop.sphere("ball", 0.1, 1.0, (3.0, 0.0, 0.1))


def held(clip):
    """The clip, and its last pose held for as long again."""
    rows = np.append(np.arange(len(clip.position)), np.full(len(clip.position), len(clip.position) - 1))
    return replace(clip, position=clip.position[rows], orientation=clip.orientation[rows])


def one_pose(clip):
    """The clip's first pose, for as long."""
    rows = np.zeros(len(clip.position), dtype=np.int64)
    return replace(clip, position=clip.position[rows], orientation=clip.orientation[rows])


def carried_off(clip, way):
    """The clip, moved along X meanwhile."""
    place = clip.position.copy()
    place[:, :, 0] += np.linspace(0.0, way, len(place))[:, None]
    return replace(clip, position=place)


@pytest.mark.parametrize(
    ("signs", "name", "as_it_is"),
    [
        (Signs(), "lookahead", False),
        (Signs(path=True), "lookahead", False),
        (Signs(path=True, waits=True), "steering", False),
        (Signs(several=True), "combination", False),
        (Signs(several=True, switched=True), "balance", False),
        (Signs(switched=True), "lookahead", False),
        (Signs(still=True, led=True), "gait", True),
        (Signs(led=True), "steering", False),
        (Signs(still=True), "lookahead", False),
        (Signs(holds=True), "replanning", True),
        (Signs(few_poses=True), "replanning", True),
        (Signs(retimed=True), "replanning", False),
        (Signs(footholds=True), "momentum", False),
        (Signs(footholds=True, props=True), "lookahead", False),
        (Signs(few_poses=True, carried=True), "lookahead", False),
    ],
)
def test_the_signs_ask_for_a_method(signs, name, as_it_is):
    chosen = choose(signs)
    assert (chosen.method.name, chosen.as_it_is) == (name, as_it_is)
    assert chosen.told == f"Method: {METHODS[name].label}, because {chosen.because}."


def test_a_job_shows_its_signs():
    assert signs_of(waving_job()) == Signs()
    clip = waving_clip(0.5)
    assert signs_of(replace(waving_job(), clip=held(clip))).few_poses
    assert not signs_of(replace(waving_job(), clip=carried_off(held(clip), 1.0))).few_poses
    assert signs_of(replace(waving_job(), clip=one_pose(clip))) == Signs(still=True)
    assert signs_of(waving_job(scene=Scene(course=Course.straight(0.5)))).led
    assert signs_of(waving_job(scene=Scene(grabs=(Grab("left_hand"),)))).holds
    carrying = Scene(grabs=(Grab("left_hand", other="ball"),), props=(BALL,))
    assert signs_of(waving_job(scene=carrying)) == Signs(props=True)
    assert signs_of(waving_job(scene=Scene(footholds=(Foothold("left_foot", (0.3, 0.1, 0.0)),)))).footholds
    assert signs_of(waving_job(playback=Playback(np.zeros(1), np.full(1, 0.5)))).retimed
    assert signs_of(waving_job(help="as_keyed")).carried
    several = waving_job(others=(waving_clip(0.7),), choices=(MotionChoice(0.2, 1),))
    assert (signs_of(several).several, signs_of(several).switched) == (True, True)


def test_a_chosen_method_has_the_rate_that_it_needs():
    asked = waving_job(method="auto", scene=Scene(course=Course.straight(0.5)))
    done, lines = resolved(replace(asked, clip=one_pose(asked.clip)))
    assert (done.method, done.rate, done.optimise) == ("gait", 300.0, False)
    assert lines == ("Method: Walk, because it is one pose with a keyed course.",)


def test_the_bake_is_that_of_the_method_to_the_last_bit(tmp_path):
    open_job = waving_job(method="auto")
    named = waving_job(method="lookahead")
    check(open_job)
    assert resolved(named) == (named, ())
    assert resolved(open_job)[0].key() == named.key() != open_job.key()
    by_name, chosen = run(named, cache=tmp_path), run(open_job, cache=tmp_path)
    assert chosen.report["method"] == "lookahead"
    assert chosen.report["notes"] == ["Method: Look Ahead, because it suits most motions.", *by_name.report["notes"]]
    np.testing.assert_array_equal(chosen.poses, by_name.poses)
    assert cache.size(tmp_path) > 0
    open_job.save(tmp_path / "open.heftjob")
    assert BakeJob.load(tmp_path / "open.heftjob") == open_job


def test_key_poses_are_followed_as_they_are():
    job = replace(waving_job(method="auto"), clip=held(waving_clip(0.5)))
    report = run(job).report
    assert report["method"] == "replanning"
    assert "physics was not corrected" in report["reference"]
    assert report["notes"][0] == "Method: Replan, because it is a few key poses."
