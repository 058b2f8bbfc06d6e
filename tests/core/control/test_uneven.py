# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps onto ground that a level motion was not made for: where they are laid, when, and that it stays up there."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.carried import Carried
from heft.core.control.recovery import Recovering, meets_other_ground
from heft.core.control.recovery.footholds import _overhangs
from heft.core.control.recovery.motion_ahead import motion_ahead, touchdowns, unrolled
from heft.core.control.recovery.uneven import goes_up_or_down, laid_on
from heft.core.control.stage import Stage
from heft.core.simulation import DivergedError
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.scene import Scene

from tests.core.contact.meshes import stairs

SETTINGS = Settings(rehearsals=0)
FIRST = 0.69  # m, of the first riser, between the footprints
SECONDS = 3.0
HERE = (0.0, 0.0, 0.0, 0.0)


def steps(controller, rise):
    """As long as the walk's own."""
    going = 0.5 * controller.track.cycle.shift[0]
    vertices, triangles = stairs(12, rise, going, 2.0)
    vertices = vertices + np.array([FIRST, 0.0, 0.0])
    vertices[:2, 0] -= 4.0
    return (Mesh(vertices, triangles),)


@pytest.fixture(scope="module")
def controller(walk_on_corners):
    return LookAhead(walk_on_corners.character, Track.of(walk_on_corners), SETTINGS)


def stage_of(controller, surfaces):
    rate = 1.0 / controller.track.dt
    terrain = make_terrain(surfaces)
    return Stage(controller.character, terrain, Scene(surfaces=surfaces), rate, SECONDS, 0.0, recovery=6)


def strays(controller, follower, stage):
    """How far the root is off where it should be at most, m; infinite after a fall."""
    controller.seek()
    controller.terrain = stage.terrain
    world = stage.world()
    world.reset(*controller.reference_state())
    fall, most = FallDetector(controller.character, world.rate), 0.0
    for k in range(round(SECONDS * world.rate)):
        follower.between_steps(world, lambda: True)
        try:
            world.step(follower)
        except DivergedError:
            return np.inf
        wanted = follower.reference_state()[0]
        most = max(most, float(np.linalg.norm(world.q[:3] - wanted[:3])))
        if fall.update(k, world.q, world.v, wanted):
            return np.inf
    return most


@pytest.mark.parametrize("rise", [-0.06, 0.1])
def test_footholds_are_laid_on_the_treads_below_them(controller, walk_on_corners, rise):
    """Each foot comes down on a tread of its own: one more at each step."""
    controller.seek()
    ahead = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners)
    terrain = make_terrain(steps(controller, rise))
    laid = laid_on(ahead, walk_on_corners, ahead.q[0], terrain)
    landings = touchdowns(laid, walk_on_corners)
    assert [frame for frame, _ in landings] == [frame for frame, _ in touchdowns(ahead, walk_on_corners)]
    heights = []
    for frame, body in landings:
        own = laid.active[frame] & (np.array([point.body for point in walk_on_corners.schedule.points]) == body)
        heights.append(laid.place[frame, own, 2])
        np.testing.assert_allclose(laid.place[frame, own, 2], heights[-1][0], atol=1e-6)  # flat
    first = round(float(heights[0][0]) / rise)
    assert first in (0, 1)
    np.testing.assert_allclose([h[0] for h in heights], rise * (first + np.arange(len(heights))), atol=1e-3)
    np.testing.assert_allclose(laid.place[0], ahead.place[0], atol=1e-4)  # who stands does so where it stands
    lifted = [place.anchor[2] for place in laid.places]
    assert all(abs(b - a) < 0.02 for a, b in pairwise(lifted))


def test_level_ground_leaves_the_motion_as_it_is(controller, walk_on_corners):
    controller.seek()
    ahead = motion_ahead(unrolled(controller, walk_on_corners), walk_on_corners)
    assert laid_on(ahead, walk_on_corners, ahead.q[0], make_terrain([Plane()])) is None


def test_other_ground_is_what_feet_would_meet(controller, walk_on_corners):
    assert not meets_other_ground(HERE, walk_on_corners, stage_of(controller, ()))
    assert not meets_other_ground(HERE, walk_on_corners, stage_of(controller, (Plane(),)))
    assert meets_other_ground(HERE, walk_on_corners, stage_of(controller, steps(controller, -0.06)))
    far = stairs(4, 0.1, 0.3, 2.0)
    aside = Mesh(far[0] + np.array([0.0, 30.0, 0.0]), far[1])
    assert not meets_other_ground(HERE, walk_on_corners, stage_of(controller, (Plane(), aside)))


@pytest.mark.parametrize("rise", [-0.06, 0.1])
def test_level_walk_stays_on_its_way_over_stairs(controller, walk_on_corners, rise):
    stage = stage_of(controller, steps(controller, rise))
    alone = strays(controller, controller, stage)
    planned = strays(controller, Recovering(controller, walk_on_corners, stage), stage)
    assert planned < 0.02
    assert alone > 3.0 * planned


def test_who_is_carried_from_a_plan_goes_on_where_that_was(controller, walk_on_corners):
    stage = stage_of(controller, steps(controller, -0.06))
    planner = Recovering(controller, walk_on_corners, stage)
    follower = Carried(controller, by_itself=planner)
    controller.seek()
    world = stage.world()
    world.reset(*controller.reference_state())
    for _ in range(20):
        follower.between_steps(world, lambda: True)
        world.step(follower)
    row, (q, _) = follower.row, follower.reference_state()
    assert row == 20
    planner.give_up()
    assert follower.row == row
    np.testing.assert_allclose(follower.reference_state()[0][:3], q[:3], atol=0.03)
    assert np.isfinite(world.q).all()


@pytest.mark.parametrize(
    ("stands", "own", "standing", "planned", "ground", "sticks_out"),
    [
        (True, 0.06, (0.06, 0.06), 0.06, 0.0, True),  # a flat sole over the edge of a step
        (True, 0.08, (0.0, 0.08), 0.0, 0.0, False),  # a heel that is up
        (True, 0.02, (0.0, 0.02), 0.0, 0.02, False),  # on a slope
        (False, 0.10, (0.06,), 0.06, 0.0, True),  # a toe that is to come down where there is no step left
        (False, 0.10, (0.06,), 0.06, 0.06, False),
    ],
)
def test_what_sticks_out_over_an_edge_is_not_to_stand(stands, own, standing, planned, ground, sticks_out):
    assert _overhangs(stands, own, np.array(standing), planned, ground) == sticks_out


def test_only_a_motion_that_was_made_for_stairs_has_to_come_back_to_its_path(walk_on_corners):
    """Beside it a step is not where the motion has it; a walk on the level goes on wherever it is."""
    once = replace(walk_on_corners, cycle=None)
    assert not goes_up_or_down(walk_on_corners)
    assert not goes_up_or_down(once)
    schedule = once.schedule
    place = schedule.place.copy()
    place[len(place) // 2 :, :, 2] += 0.15
    climbs = replace(once, schedule=replace(schedule, place=np.where(schedule.active[..., None], place, 0.0)))
    assert goes_up_or_down(climbs)
