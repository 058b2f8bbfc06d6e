# SPDX-License-Identifier: GPL-3.0-or-later
"""A glance at motions whose physics is known: thrown, hovering, standing, pushed along, sinking, in place."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.cache import Cache
from heft.core.character import Character
from heft.core.job import BakeJob
from heft.core.job.glancing import glance
from heft.core.job.progress import ProgressReporter
from heft.core.motion.fit import Trajectory
from heft.core.motion.labels import label
from heft.core.motion.schedule import contact_points
from heft.core.motion.tracks import point_places
from heft.core.report.glance import FAULTS, arcs, look, sunk

from tests.core.job.jobs import waving_clip, waving_job
from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD, needs_clips, wooden_roles

RATE, FPS = 120.0, 24.0
G = 9.81


def moved(way):
    """The neutral pose on z = 0, moved along (nf, 3)."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (len(way), 1))
    lowest = min(point[2] for point in point_places(character, q[:1], contact_points(character))[0])
    q[:, :3] += way - np.array([0.0, 0.0, lowest])
    return character, Trajectory(RATE, q, np.zeros((len(q), character.nv)), 1.0, FPS / RATE)


def looked(way):
    character, trajectory = moved(np.asarray(way))
    samples = np.arange(0, len(trajectory.q), round(RATE / FPS))
    return look(character, trajectory, label(character, trajectory), None, samples, 1.0 / FPS)


def along(axis, values):
    way = np.zeros((len(values), 3))
    way[:, axis] = values
    return way


def names(found):
    return [FAULTS[number] for number in found.fault]


def test_a_throw_is_its_own_arc_and_hovering_departs_from_it_by_g_t_squared_over_eight():
    """From rest to rest in T the parabola's top is g T² / 8 above its ends."""
    time = np.arange(61) / RATE
    airborne = (time > 0.0) & (time < 0.5)
    thrown = along(2, 1.0 + 0.5 * G * time * (0.5 - time))
    arc, flight = arcs(thrown, airborne, RATE, (0.0, 0.0, -G))
    np.testing.assert_allclose(arc, thrown, atol=1e-12)
    assert (flight == 0).all()
    hovering = along(2, np.full(61, 1.0))
    arc, _ = arcs(hovering, airborne, RATE, (0.0, 0.0, -G))
    assert (arc - hovering)[30, 2] == pytest.approx(G * 0.5**2 / 8.0)


def test_standing_is_fine_and_balances_under_its_centre():
    found = looked(np.zeros((121, 3)))
    assert set(names(found)) == {"fine"}
    assert (found.flight == -1).all()
    np.testing.assert_allclose(found.balance[:, :2], found.center[:, :2], atol=1e-9)
    np.testing.assert_allclose(found.balance[:, 2], 0.0, atol=1e-9)
    outline = found.support.point[: found.support.start[1]]
    assert np.ptp(outline, axis=0)[:2].min() > 0.2  # both soles, heels to toes
    assert found.frames.tolist() == list(range(1, 26))


def test_who_speeds_up_is_balanced_behind_by_height_times_acceleration_over_g():
    time = np.arange(121) / RATE
    found = looked(along(0, 0.5 * 0.3 * (time - 0.5) ** 2))
    middle = slice(8, 17)
    expected = -found.center[middle, 2] * 0.3 / G
    np.testing.assert_allclose((found.balance - found.center)[middle, 0], expected, rtol=1e-3)


def test_hovering_high_up_is_impossible():
    time = np.arange(121) / RATE
    rise = np.where((time > 0.25) & (time < 0.75), 0.5, 0.0)
    found = looked(along(2, rise))
    assert names(found)[12] == "departs"
    assert names(found)[0] == "fine"
    assert found.flight[12] == 0
    assert np.isnan(found.balance[12]).all()


@pytest.mark.parametrize(("height", "name"), [(-0.025, "sinks"), (0.033, "floats"), (-0.005, "fine")])
def test_feet_under_and_over_the_ground(height, name):
    found = looked(along(2, np.full(121, height)))
    assert set(names(found)) == {name}
    np.testing.assert_allclose(found.height, height, atol=1e-9)


def test_a_foot_that_rolls_off_does_not_sink_where_its_toes_would_bend():
    height = np.array([[0.08, -0.04], [-0.03, -0.03], [-0.03, 0.0]])
    assert sunk(height, np.array([2, 2])).tolist() == [[False, False], [True, True], [False, False]]


def test_feet_that_slide_do_so_by_their_speed_over_the_frame_rate():
    found = looked(along(0, 0.36 * np.arange(121) / RATE))
    assert set(names(found)) == {"slides"}
    np.testing.assert_allclose(found.slide[found.touches], 0.36 / FPS, atol=1e-9)


def test_a_job_is_looked_at_where_it_is_keyed():
    job = waving_job()
    found = glance(job, ProgressReporter(None), Cache(None))
    assert found.frames.tolist() == list(np.arange(job.frames[0], job.frames[1] + 1.0))
    assert set(names(found)) == {"fine"}
    raised = job.clip.position + np.array([0.0, 0.0, 0.4])
    high = waving_job()
    object.__setattr__(high, "clip", type(job.clip)(job.clip.skeleton, 30.0, raised, job.clip.orientation, 10.0, 1.0))
    up = glance(high, ProgressReporter(None), Cache(None))
    np.testing.assert_allclose(up.center - found.center, np.tile([0.0, 0.0, 0.4], (len(up.center), 1)), atol=5e-3)


def test_what_drifts_is_looked_at_where_it_drifts_to():
    job, drift = BakeJob(waving_clip(2.0), wooden_roles()), np.array([0.03, 0.0, -0.04])
    frames = np.arange(len(job.clip.position))[:, None, None]
    away = (frames - 0.5 * (len(frames) - 1)) / job.clip.rate * drift
    found, moved = (
        glance(
            replace(job, clip=replace(job.clip, position=job.clip.position + way)), ProgressReporter(None), Cache(None)
        )
        for way in (np.zeros(3), away)
    )
    np.testing.assert_allclose(moved.center - found.center, away[:, 0], atol=2e-3)
    np.testing.assert_allclose(moved.place - found.place, np.broadcast_to(away, found.place.shape), atol=2e-3)
    first = moved.support.point[: moved.support.start[1]]
    np.testing.assert_allclose(first[:, 2], away[0, 0, 2], atol=3e-3)


@needs_clips
def test_a_captured_walk_is_mostly_possible():
    from heft.core.motion.bvh import read_bvh

    path = next(path for path in GOOD if path.stem.startswith("02_01"))
    found = glance(BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES), ProgressReporter(None), Cache(None))
    told = names(found)
    assert told.count("fine") > 0.8 * len(told), told
