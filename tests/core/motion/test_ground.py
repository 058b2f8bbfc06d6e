# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground from footsteps, and references on it."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import make_terrain
from heft.core.motion.boxes import body_points
from heft.core.motion.fit import Trajectory
from heft.core.motion.ground import estimate_ground, footprints, missing_ground
from heft.core.motion.labels import label
from heft.core.motion.make_reference import make_reference
from heft.core.motion.schedule import contact_points
from heft.core.motion.tracks import ground_under, point_places

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.walkers import captured, glide


def test_level_footsteps_make_level_ground():
    walk = glide()
    ground = estimate_ground(walk.character, walk.trajectory)
    np.testing.assert_allclose(ground.heights, 0.0, atol=1e-6)
    raised = walk.trajectory.q + np.eye(1, walk.character.nq, 2) * 0.4
    ground = estimate_ground(walk.character, Trajectory(120.0, raised, walk.trajectory.v))
    np.testing.assert_allclose(ground.heights, 0.4, atol=1e-6)


def test_footprints_are_where_and_when_feet_stand():
    walk = glide()
    for body, stances in walk.stances.items():
        found = [one for one in footprints(walk.character, walk.trajectory) if one.body == body]
        for start, stop, place in stances:
            near = [one for one in found if start * 120.0 - 2 <= one.frames[0] <= one.frames[1] <= stop * 120.0 + 2]
            assert len(near) == 1 or stop - start < 0.12
            for one in near:
                assert one.heel[0] < place < one.toe[0]


def test_a_foot_that_never_rests_tells_nothing():
    walk = glide()
    q = walk.trajectory.q.copy()
    q[:, 0] += 2.0 * np.arange(len(q)) / 120.0
    with pytest.raises(ValueError, match="No foot stands still"):
        estimate_ground(walk.character, Trajectory(120.0, q, walk.trajectory.v))


@needs_clips
@pytest.mark.parametrize(("name", "levels"), [("83_28", (0.0, 0.126, 0.241, 0.357)), ("83_10", (0.0, 0.141))])
def test_cmu_stairs_are_climbed_on_ground_from_their_footsteps(name, levels):
    character, trajectory = captured(name)
    ground = estimate_ground(character, trajectory)
    np.testing.assert_allclose(np.unique(np.round(ground.heights, 6)), levels, atol=2e-3)
    quality = make_reference(character, trajectory, terrain=make_terrain([ground])).reference.quality
    assert quality.fit_for_control
    assert quality.joint_rms_degrees < 3.0
    assert quality.root_rms_metres < 0.03
    assert quality.slip_millimetres < 1.0
    assert quality.penetration_millimetres < 1.0


def test_a_walk_on_the_floor_lacks_no_ground():
    walk = glide()
    assert missing_ground(walk.character, walk.trajectory, label(walk.character, walk.trajectory)) is None


def test_a_walk_on_a_stage_tells_of_it():
    walk = glide()
    raised = walk.trajectory.q + np.eye(1, walk.character.nq, 2) * 0.4
    trajectory = Trajectory(120.0, raised, walk.trajectory.v, first_frame=1.0)
    found = missing_ground(walk.character, trajectory, label(walk.character, trajectory))
    np.testing.assert_allclose(found.ground.heights, 0.4, atol=1e-6)
    assert "40 cm off the floor" in found.line
    # it lies under all of the way
    low, high = (
        found.ground.origin,
        found.ground.origin + found.ground.spacing * (np.array(found.ground.heights.shape) - 1),
    )
    assert (raised[:, :2].min(axis=0) - 1.0 > low).all()
    assert (raised[:, :2].max(axis=0) + 1.0 < high).all()


def test_feet_that_hover_where_they_stood_before_tell_of_no_ground():
    walk = glide()
    q = np.concatenate((walk.trajectory.q, walk.trajectory.q + np.eye(1, walk.character.nq, 2) * 0.4))
    trajectory = Trajectory(120.0, q, np.concatenate((walk.trajectory.v, walk.trajectory.v)))
    assert missing_ground(walk.character, trajectory, label(walk.character, trajectory)) is None


def test_soles_keep_the_way_that_they_take_past_an_edge():
    walk = glide()
    held = footprints(walk.character, walk.trajectory)
    raised = [replace(one, heel=(*one.heel[:2], 0.3), toe=(*one.toe[:2], 0.3)) for one in held[-2:]]
    ground = estimate_ground(walk.character, walk.trajectory, [*held[:-2], *raised])
    soles = point_places(
        walk.character, walk.trajectory.q, [point for point in contact_points(walk.character) if point.foot]
    )
    under = ground_under(make_terrain([ground]), soles, np.zeros(soles.shape[1]), 120.0)
    assert ground.heights.max() == pytest.approx(0.3)
    assert under.height.min() > -0.035


def test_a_sole_that_sinks_where_it_lands_behind_an_edge_digs_no_pit():
    walk = glide()
    held = footprints(walk.character, walk.trajectory)
    raised = [replace(one, heel=(*one.heel[:2], 0.6), toe=(*one.toe[:2], 0.6)) for one in held[-2:]]
    sunk = replace(walk.trajectory, q=walk.trajectory.q - np.eye(1, walk.character.nq, 2) * 0.04)
    ground = estimate_ground(walk.character, sunk, [*held[:-2], *raised])
    assert ground.heights.min() == pytest.approx(0.0, abs=1e-9)


def test_legs_get_past_an_edge_with_room_to_spare():
    walk = glide()
    held = footprints(walk.character, walk.trajectory)
    raised = [replace(one, heel=(*one.heel[:2], 0.3), toe=(*one.toe[:2], 0.3)) for one in held[-2:]]
    ground = estimate_ground(walk.character, walk.trajectory, [*held[:-2], *raised])
    legs = [point for point in body_points(walk.character) if point.name.endswith(("thigh", "shank"))]
    places = point_places(walk.character, walk.trajectory.q, legs)
    height = ground_under(make_terrain([ground]), places, np.array([point.radius for point in legs]), 120.0).height
    assert height.min() > 0.01


@needs_clips
def test_cmu_feet_that_roll_up_a_slope_tell_of_it():
    character, trajectory = captured("74_17")
    found = missing_ground(character, trajectory, label(character, trajectory))
    np.testing.assert_allclose(np.unique(found.ground.heights), [0.0, 0.08, 0.21, 0.3, 0.41, 0.48], atol=0.015)


def test_who_runs_up_to_a_box_has_the_floor_under_soles_that_never_stand():
    walk = glide()
    held = footprints(walk.character, walk.trajectory)
    raised = [replace(one, heel=(*one.heel[:2], 0.3), toe=(*one.toe[:2], 0.3)) for one in held[-2:]]
    sunk = replace(walk.trajectory, q=walk.trajectory.q - np.eye(1, walk.character.nq, 2) * 0.04)
    pits = estimate_ground(walk.character, sunk, raised)
    ground = estimate_ground(walk.character, sunk, raised, floor=True)
    assert pits.heights.min() == pytest.approx(-0.04, abs=2e-3)
    assert ground.heights.min() == pytest.approx(0.0, abs=1e-9)
    assert ground.heights.max() == pytest.approx(0.3)
