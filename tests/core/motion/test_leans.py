# SPDX-License-Identifier: GPL-3.0-or-later
"""Two who lean on each other press as statics says, and are carried by nothing else."""

import math
from dataclasses import replace

import numpy as np
from heft.core.cache import Cache
from heft.core.dynamics import center_of_mass
from heft.core.job import BakeJob, CompanyJob, run, run_together
from heft.core.job.fitting import performance_of, samples_of
from heft.core.job.introducing import introduced
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.motion import quaternions
from heft.core.motion.leans import find_leans
from heft.core.motion.meetings import Acting
from heft.examples.beginners import LEG, Key

from tests.core.job.beginners import clip_of
from tests.core.motion.skeletons import wooden_roles

LEAN = 10.0  # degrees
BACKS = 0.368  # m from the middle to the feet: backs just touch
HEEL, TOE = 0.06, 0.21  # m of a foot behind and before the ankle


def leaning(degrees, place, turned=0.0):
    """Stiff, turned back about the ankles for a second, with the head held up; turned about the vertical there, rad."""
    a = math.radians(degrees)
    pelvis = (0.0, LEG * math.sin(a), LEG * (math.cos(a) - 1.0))
    bones = {"foot.L": (degrees, 0.0, 0.0), "foot.R": (degrees, 0.0, 0.0), "head": (12.0, 0.0, 0.0)}
    clip = clip_of(tuple(Key(time, pelvis, (-degrees, 0.0, 0.0), bones) for time in (0.0, 1.0)))
    turn = quaternions.exp(np.array([0.0, 0.0, turned]))
    position = quaternions.rotate(turn, clip.position) + np.array([0.0, place, 0.0])
    return replace(clip, position=position, orientation=quaternions.multiply(turn, clip.orientation))


def two(degrees=LEAN, gap=0.0):
    """Back to back."""
    away = BACKS if degrees else 0.125
    clips = leaning(degrees, -away - gap), leaning(degrees, away + gap, math.pi)
    return tuple(
        BakeJob(clip, wooden_roles(), name=name) for clip, name in zip(clips, ("ahead", "behind"), strict=True)
    )


def acting(job):
    performance, _ = performance_of(job, Cache(None))
    return Acting(performance.plan.character, samples_of(job, performance)[0])


def test_trunks_that_bear_each_other_are_found():
    first, second = (acting(job) for job in two())
    (found,) = find_leans(first, second)
    assert (found.hand, found.body, found.leans) == ("torso", "torso", True)
    assert found.frames == (0, len(first.trajectory.q) - 1)


def test_who_stands_by_itself_or_apart_leans_on_nobody():
    assert find_leans(*(acting(job) for job in two(degrees=0.0))) == []
    assert find_leans(*(acting(job) for job in two(gap=0.05))) == []


def test_two_who_lean_press_as_statics_says(tmp_path):
    """N h = m g x about where the feet press, which is somewhere between heel and toe; and nothing else helps."""
    cache = Cache(tmp_path)
    jobs = two()
    company, notes = introduced(CompanyJob(jobs), cache, lambda _: ProgressReporter(None))
    assert company.holds == ()
    assert "leans on" in notes[0][0]
    one = acting(jobs[0])
    (meeting,) = company.jobs[0].meetings
    made = (make_motion(job, ProgressReporter(None), cache, Clock()).reference for job in company.jobs)
    forces = [reference.outside.force[:, 0] for reference in made]
    np.testing.assert_allclose(forces[0], -forces[1], atol=0.1)
    back = center_of_mass(one.character, one.trajectory.q[0])[1] + BACKS  # behind the ankles
    weight = 9.81 * one.character.total_mass
    height = float(meeting.place[0, 2])
    middle = meeting.force[len(meeting.force) // 2]
    assert weight * (back - HEEL) / height < -middle[1] < weight * (back + TOE) / height
    assert abs(middle[0]) < 0.02 * weight
    found = run_together(CompanyJob(jobs), cache=str(tmp_path))
    for result in found:
        assert result.outcome == "completed"
        assert result.report["help_max"] < 0.01
        assert result.report["source_error_mm"] < 5.0
        (touch,) = [note for note in result.report["notes"] if "touched it" in note]
        assert float(touch.split(" mm deep")[0].split()[-1]) < 5.0
    alone = run(replace(jobs[0], meetings=()), cache=str(tmp_path))
    assert alone.report["help_max"] > 0.02 or alone.report["source_error_mm"] > 15.0
