# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds on to what moves by itself, or hangs, is carried by that, and by nothing from nowhere."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.cache import Cache
from heft.core.contact.terrain import RigidMotion
from heft.core.job import BakeJob, Scene, run
from heft.core.job.choosing import resolved, signs_of
from heft.core.job.fitting import performance_of, samples_of
from heft.core.job.surroundings.lacking import grabs_held
from heft.core.simulation import Grab, Prop
from heft.core.simulation.props import Hinge

from tests.core.job.jobs import waving_clip
from tests.core.motion.skeletons import wooden_roles

SECONDS, HEAVE, QUICK = 1.0, 0.1, 4.0  # s, m, rad/s
UP = 0.5  # m over the floor, which is none of theirs


def heaving(time):
    """How high a platform is that heaves and speeds up, and how far it has gone."""
    place = np.zeros((len(time), 3))
    place[:, 0], place[:, 2] = 0.5 * time**2, UP + HEAVE * np.sin(QUICK * time)
    return place


def passenger():
    """Who waves on it, and holds on with both feet and the hips."""
    clip = waving_clip(SECONDS, first_frame=0.0)
    time = np.arange(len(clip.position)) / clip.rate
    clip = replace(clip, position=clip.position + heaving(time)[:, None])
    fine = np.arange(round(SECONDS * 120.0) + 1) / 120.0
    motion = RigidMotion(heaving(fine), np.tile([1.0, 0.0, 0.0, 0.0], (len(fine), 1)), 120.0)
    grabs = tuple(Grab(body, kind="full", start=0.0, motion=motion) for body in ("left_foot", "right_foot", "pelvis"))
    return BakeJob(clip, wooden_roles(), scene=Scene(grabs=grabs))


def on_a_swing(hinge=True):
    """Who waves and holds a beam, which hangs from a hinge or from nothing."""
    beam = Prop.box(
        "beam", (0.5, 0.02, 0.02), 5.0, (0.0, 0.0, 2.0), **({"hinge": Hinge((1.0, 0.0, 0.0))} if hinge else {})
    )
    grabs = (Grab("left_hand", other="beam"), Grab("right_hand", other="beam"))
    return BakeJob(waving_clip(0.5), wooden_roles(), scene=Scene(grabs=grabs, props=(beam,)))


def test_a_passenger_goes_along_and_nothing_from_nowhere_helps():
    job = passenger()
    result = run(job)
    assert result.outcome == "completed"
    assert result.report["help_max"] == pytest.approx(0.0, abs=1e-3)
    assert result.report["source_error_mm"] < 15.0
    pelvis = result.poses[:, result.bones.index("pelvis"), :3, 3]
    time = result.frames / job.fps
    off = pelvis - pelvis[0] - (heaving(time) - heaving(time[:1]))
    assert np.abs(off).max() < 0.03


def test_what_moves_is_followed_by_an_optimised_motion():
    """As keyed, nobody leans into what speeds up."""
    job = passenger()
    assert not signs_of(job).holds
    assert resolved(job)[0].optimise
    still = replace(job, scene=replace(job.scene, grabs=tuple(replace(grab, motion=None) for grab in job.scene.grabs)))
    assert signs_of(still).holds


@pytest.mark.parametrize("hinge", [True, False])
def test_what_hangs_bears_weight_and_what_is_carried_does_not(hinge):
    job = on_a_swing(hinge)
    performance, _ = performance_of(job, Cache(None))
    held = grabs_held(job, performance.plan.character, samples_of(job, performance)[0])
    assert [grab.point.moves for grab in held] == ([True, True] if hinge else [])
    assert all(job.scene.bears(grab) == hinge for grab in job.scene.grabs)
