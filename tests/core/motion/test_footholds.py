# SPDX-License-Identifier: GPL-3.0-or-later
"""Level walks on slopes and stairs: where feet find room there, and that what comes of it is possible."""

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.motion.clean_up import clean_up
from heft.core.motion.fit import Trajectory
from heft.core.motion.footholds import find_footholds, heights_below, is_level, put_on
from heft.core.motion.labels import label
from heft.core.motion.make_reference import OtherGround, make_reference
from heft.core.motion.quaternions import exp, rotate
from heft.core.motion.spacetime import Ends

from tests.core.contact.meshes import stairs
from tests.core.motion.skeletons import GOOD
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured

HEEL, TOE, HALF_WIDTH = 0.0525, 0.20125, 0.04  # of muico29's soles, from the ankle, m
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def walk():
    """Two strides of 1.1 m along +X: character, trajectory, and contacts at the corners of the soles."""
    motion = motions.walk(strides=2)
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    clean = clean_up(motion.character, trajectory, label(motion.character, trajectory))
    return motion.character, clean.trajectory, clean.held


def slope(degrees):
    angle = np.radians(degrees)
    return make_terrain([Plane(normal=(-np.sin(angle), 0.0, np.cos(angle)))])


def flight(rise, going, first=1.0):
    """Steps along +X from `first` on, with level ground before and after them."""
    vertices, triangles = stairs(20, rise, going, 4.0)
    vertices = vertices + np.array([first, 0.0, 0.0])
    vertices[:2, 0] -= 4.0
    vertices[-2:, 0] += 4.0
    return make_terrain([Mesh(vertices, triangles)])


def floor(height=0.0):
    return make_terrain([Plane((0.0, 0.0, height))])


def test_heights_below_are_those_of_the_first_ground_met():
    ceiling = Mesh(np.array([(9.0, -9.0, 2.4), (9.0, 9.0, 2.4), (-9.0, 0.0, 2.4)]), np.array([(0, 1, 2)]))
    steps = Mesh(*stairs(4, 0.15, 0.3, 1.0))
    terrain = make_terrain([ceiling, steps])
    x = np.array([-0.5, 0.1, 0.29, 0.31, 0.7, 1.1])
    found = heights_below(terrain, np.column_stack([x, 0.0 * x, np.full(len(x), 1.0)]))
    np.testing.assert_allclose(found, [0.0, 0.15, 0.15, 0.3, 0.45, 0.6], atol=1e-9)
    np.testing.assert_allclose(heights_below(slope(10.0), np.array([[2.0, 0.5, 1.0]])), 2.0 * np.tan(np.radians(10.0)))
    assert np.isnan(heights_below(terrain, np.array([[0.0, 5.0, 1.0]]))).all()


def test_level_ground_is_told_from_other(walk):
    character, trajectory, _ = walk
    assert is_level(character, trajectory, floor())
    assert is_level(character, trajectory, floor(3.0), 3.0)
    assert not is_level(character, trajectory, slope(2.0))
    assert not is_level(character, trajectory, flight(0.03, 0.4))
    # steps that lie behind the end of the walk
    assert is_level(character, trajectory, flight(0.03, 0.4, first=4.0))


def test_on_level_ground_nothing_is_moved(walk):
    character, trajectory, schedule = walk
    for hold in find_footholds(character, trajectory, schedule, floor(0.7), 0.7):
        np.testing.assert_allclose(hold.ground - hold.level, (0.0, 0.0, 0.7), atol=1e-9)
        np.testing.assert_allclose(hold.tilt, 0.0, atol=1e-9)
    there, held = put_on(character, trajectory, schedule, floor(0.7), 0.7)
    np.testing.assert_allclose(there.q[:, :3] - trajectory.q[:, :3], np.tile(0.7 * UP, (len(there.q), 1)), atol=5e-3)
    lifted = (held.place - schedule.place)[schedule.active]
    np.testing.assert_allclose(lifted, np.tile(0.7 * UP, (len(lifted), 1)), atol=1e-12)


def test_soles_lie_on_a_slope(walk):
    character, trajectory, schedule = walk
    angle = np.radians(8.0)
    for hold in find_footholds(character, trajectory, schedule, slope(8.0)):
        np.testing.assert_allclose(hold.ground[:2], hold.level[:2], atol=1e-9)
        assert hold.ground[2] == pytest.approx(hold.ground[0] * np.tan(angle), abs=1e-6)
        np.testing.assert_allclose(rotate(exp(hold.tilt), UP), (-np.sin(angle), 0.0, np.cos(angle)), atol=1e-6)
    _, held = put_on(character, trajectory, schedule, slope(8.0))
    place = held.place[held.active]
    np.testing.assert_allclose(place[:, 2], place[:, 0] * np.tan(angle), atol=2e-3)


@pytest.mark.parametrize(("rise", "going"), [(0.17, 0.29), (-0.17, 0.29), (0.1, 0.5)])
def test_soles_find_room_on_treads(walk, rise, going):
    """On stairs as they are built, feet take one step each, though the walk's own would be two treads long."""
    character, trajectory, schedule = walk
    holds = find_footholds(character, trajectory, schedule, flight(rise, going))
    heights = np.array([hold.ground[2] for hold in holds])
    assert abs(heights[-1]) > 0.1
    assert np.abs(np.diff(heights)).max() < abs(rise) + 1e-6
    for hold in holds:
        middle = 0.5 * (TOE - HEEL)  # of a sole, ahead of its ankle
        heel, toe = hold.ground[0] - middle - HEEL, hold.ground[0] - middle + TOE
        under = heights_below(flight(rise, going), np.array([(x, hold.ground[1], 4.0) for x in (heel, toe)]) - 3.0 * UP)
        np.testing.assert_allclose(under, hold.ground[2], atol=1e-6)


def test_who_keeps_to_its_way_makes_up_for_a_step_that_went_elsewhere(walk):
    """Beyond one riser: there each of its steps comes nearer to its own place."""
    character, trajectory, held = walk
    edge = max(hold.level[0] for hold in find_footholds(character, trajectory, held, floor())[:4])
    vertices, triangles = stairs(1, 0.1, 8.0, 4.0)
    vertices[:, 0] += edge
    vertices[:2, 0] -= 3.0
    kerb = make_terrain([Mesh(vertices, triangles)])
    off = {}
    for back in (0.0, 0.02):
        holds = find_footholds(character, trajectory, held, kerb, back=back)
        off[back] = [float(np.linalg.norm((hold.ground - hold.level)[:2])) for hold in holds]
    assert max(off[0.0]) > 0.05
    assert off[0.0][-1] == pytest.approx(max(off[0.0]))
    assert off[0.02][-1] < off[0.0][-1] - 0.015


def test_a_foot_that_is_in_the_air_at_the_end_is_above_the_ground_there(walk):
    """Or it would end its swing as high as it began it, inside a step."""
    character, trajectory, schedule = walk
    cut = schedule.cut(0, 235)
    feet = {point.body for point in cut.points if point.foot}
    in_the_air = [b for b in feet if not cut.active[-1, [i for i, p in enumerate(cut.points) if p.body == b]].any()]
    assert len(in_the_air) == 1
    last = [hold for hold in find_footholds(character, trajectory.cut(0, 235), cut, slope(8.0)) if hold.stop == 235]
    assert {hold.body for hold in last} == feet
    for hold in last:
        assert hold.ground[2] == pytest.approx(hold.ground[0] * np.tan(np.radians(8.0)), abs=1e-6)


def test_walking_off_the_edge_of_the_world_is_refused(walk):
    character, trajectory, schedule = walk
    end = Mesh(
        np.array([(-9.0, -9.0, 0.0), (1.2, -9.0, 0.0), (1.2, 9.0, 0.0), (-9.0, 9.0, 0.0)]),
        np.array([(0, 1, 2), (0, 2, 3)]),
    )
    with pytest.raises(ValueError, match=r"There is no ground under (left|right)_foot in frames \d+ to \d+"):
        put_on(character, trajectory, schedule, make_terrain([end]))


WALKS = ["procedural", pytest.param("02_01", marks=pytest.mark.skipif(not GOOD, reason="no motion capture clips"))]


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("kind", ["slope", "stairs"])
@pytest.mark.parametrize("up", [-1.0, 1.0])
def test_a_level_walk_becomes_possible_on_other_ground(name, kind, up):
    if name == "procedural":
        motion = motions.walk(strides=2)
        character, trajectory = motion.character, Trajectory(motion.rate, motion.q, motion.v)
    else:
        character, trajectory = captured(name)
    start, way = trajectory.q[0, :2], trajectory.q[-1, :2] - trajectory.q[0, :2]
    ahead = way / np.linalg.norm(way)
    profile = [(-4.0, 0.0), (0.0, 0.0), (9.0, up * 0.9)]
    if kind == "stairs":
        edges = 0.6 + 0.4 * np.arange(20)
        steps = [(s, up * 0.1 * (k + top)) for k, s in enumerate(edges) for top in (0, 1)]
        profile = [(-4.0, 0.0), *steps, (12.0, up * 2.0)]
    aside = np.array([-ahead[1], ahead[0]])
    vertices = np.array([(*(start + s * ahead + side * aside), z) for s, z in profile for side in (-3.0, 3.0)])
    triangles = [t for k in range(0, len(vertices) - 2, 2) for t in ((k, k + 2, k + 3), (k, k + 3, k + 1))]
    terrain = make_terrain([Mesh(vertices, np.array(triangles))])
    made = make_reference(character, trajectory, onto=OtherGround(terrain))
    assert made.put_on
    reference, quality = made.reference, made.reference.quality
    assert quality.fit_for_control, quality.why
    assert quality.residual_newtons < 1e-6 * character.total_mass * 9.81
    assert quality.slip_millimetres < 1.0
    assert quality.penetration_millimetres < 1.0
    assert quality.friction_use <= 1.0
    ends = reference.q[[0, -1], :3]
    under = heights_below(terrain, np.column_stack([ends[:, :2], ends[:, 2] - 0.5]))
    assert abs(under[1] - under[0]) > 0.1
    assert ends[1, 2] - ends[0, 2] == pytest.approx(under[1] - under[0], abs=0.11)


def test_a_cycle_goes_on_in_laps(walk):
    character, trajectory, _ = walk
    steep = make_reference(character, trajectory, cyclic=True, onto=OtherGround(slope(4.0), seconds=2.5))
    assert steep.put_on
    assert steep.reference.cycle is None
    assert steep.reference.steps >= 2.5 * steep.reference.rate + len(steep.cycle.trajectory.q) - 1
    level = make_reference(character, trajectory, cyclic=True, onto=OtherGround(floor(), seconds=2.5))
    assert not level.put_on
    assert level.reference.cycle is not None


def test_what_has_its_own_ground_is_put_on_no_other(walk):
    character, trajectory, _ = walk
    for own in ({"terrain": floor()}, {"bounds": Ends()}):
        with pytest.raises(ValueError, match="on level ground with free ends"):
            make_reference(character, trajectory, onto=OtherGround(slope(5.0)), **own)
