# SPDX-License-Identifier: GPL-3.0-or-later
from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.contact.terrain import HeightGrid, Plane, RigidMotion, make_terrain
from heft.core.motion.damage import repair
from heft.core.motion.fit import Trajectory, velocities
from heft.core.motion.labels import (
    Grab,
    contacts_of,
    distance_from_support,
    label,
    relabel,
    upward_push,
    zero_moment_point,
)
from heft.core.motion.prepare import prepare
from heft.core.motion.schedule import ContactPoint, Interval, contact_points, runs
from heft.core.motion.tracks import center_of_mass_path, point_places

from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu, needs_clips
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured, glide

FEET = [f"{side}_foot_{end}" for side in ("left", "right") for end in ("heel", "toe")]


def column(schedule, name):
    return schedule.active[:, schedule.names.index(name)]


def test_walker_stands_where_it_was_placed():
    walk = glide()
    schedule = label(walk.character, walk.trajectory)
    places = point_places(walk.character, walk.trajectory.q, schedule.points)
    for foot, stances in walk.stances.items():
        for start, stop, x in stances:
            frames = slice(int(np.ceil(start * 120.0)), int(stop * 120.0))
            both = [places[frames, schedule.names.index(f"{foot}_{end}")] for end in ("heel", "toe")]
            np.testing.assert_allclose(np.stack(both)[..., 2], 0.0, atol=1e-12)
            np.testing.assert_allclose(both[0][:, 0], x - 0.03 * 1.75, atol=1e-12)


@pytest.mark.parametrize("rate", [60.0, 120.0, 240.0])
def test_walk_by_construction_is_labelled_to_two_hundredths_of_a_second_at_any_rate(rate):
    walk = glide(rate=rate)
    schedule = label(walk.character, walk.trajectory)
    assert {interval.point for interval in schedule.intervals} == set(FEET)
    for foot, stances in walk.stances.items():
        for end in ("heel", "toe"):
            found = runs(column(schedule, f"{foot}_{end}"))
            wanted = [(start, stop) for start, stop, _ in stances if stop - start > 0.05]
            assert len(found) == len(wanted)
            for (first, last), (start, stop) in zip(found, wanted, strict=True):
                assert first / rate == pytest.approx(start, abs=0.021)
                assert (last - 1) / rate == pytest.approx(stop, abs=0.021)


def test_labels_do_not_depend_on_where_the_walk_goes():
    straight, turned = glide(), glide(heading=2.0)
    np.testing.assert_array_equal(
        label(straight.character, straight.trajectory).active, label(turned.character, turned.trajectory).active
    )


def test_noise_of_capture_does_not_make_contacts_flicker():
    walk = glide()
    rng = np.random.default_rng(0)
    q = walk.trajectory.q.copy()
    q[:, 7:] += rng.normal(0.0, 0.001, q[:, 7:].shape)  # rad: a millimetre at the feet, 0.15 m/s
    for start, joint in zip(walk.character.tree.position_start, walk.character.joints, strict=True):
        if joint.kind == "ball":
            q[:, start : start + 4] /= np.linalg.norm(q[:, start : start + 4], axis=1, keepdims=True)
    noisy = label(walk.character, Trajectory(120.0, q, walk.trajectory.v))
    clean = label(walk.character, walk.trajectory)
    assert len(noisy.intervals) == len(clean.intervals)
    assert np.mean(noisy.active != clean.active) < 0.02


def test_walk_in_the_air_has_no_contacts_and_a_standing_pose_has_all_of_its_feet():
    walk = glide()
    flying = walk.trajectory.q.copy()
    flying[:, 2] += 0.5
    assert not label(walk.character, Trajectory(120.0, flying, walk.trajectory.v)).active.any()
    still = np.tile(walk.character.neutral(), (60, 1))
    schedule = label(walk.character, Trajectory(120.0, still, np.zeros((60, walk.character.nv))))
    assert {interval.point for interval in schedule.intervals} == set(FEET)
    assert all(interval[1:] == (0, 59) for interval in schedule.intervals)


def test_ground_may_be_raised_tilted_or_moving():
    walk = glide()
    wanted = label(walk.character, walk.trajectory).active
    raised = walk.trajectory.q.copy()
    raised[:, 2] += 0.3
    lifted = Trajectory(120.0, raised, walk.trajectory.v)
    assert (label(walk.character, lifted, make_terrain([Plane((0.0, 0.0, 0.3))])).active == wanted).all()
    # on a belt that runs back as fast as the walk goes on, the root stays where it is
    treadmill = walk.trajectory.q.copy()
    time = np.arange(len(treadmill)) / 120.0
    treadmill[:, 0] = 0.0
    belt = RigidMotion(np.array([[0.0, 0.0, 0.0], [-10.0, 0.0, 0.0]]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), 0.1)
    on_belt = label(walk.character, Trajectory(120.0, treadmill, walk.trajectory.v), make_terrain([Plane(motion=belt)]))
    assert time[-1] < 10.0
    assert (on_belt.active == wanted).all()


def test_squat_whose_heels_float_is_still_held_up():
    """FINDINGS, labels: where the centre of mass does not fall and nothing touches, slow points near the ground do."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (120, 1))
    q[:, 2] += 0.08
    schedule = label(character, Trajectory(120.0, q, np.zeros((120, character.nv))))
    assert schedule.active.any(axis=1).all()
    q[:, 2] -= 0.5 * 9.81 * (np.arange(120) / 120.0) ** 2 - 2.0  # the same pose in free fall
    schedule = label(character, Trajectory(120.0, q, np.zeros((120, character.nv))))
    assert not schedule.active.any()


def standing(character, q):
    return Trajectory(120.0, np.tile(q, (60, 1)), np.zeros((60, character.nv)))


def test_hand_on_a_shelf_beside_a_standing_body_bears_no_weight():
    character = Character.preset("muico29")
    hand = next(shape for shape in character.contacts if shape.name == "left_hand")
    point = ContactPoint("", character.index("left_hand"), hand.position)
    _, y, z = point_places(character, character.neutral()[None], [point])[0, 0]
    assert y > 0.18
    heights = np.zeros((41, 41))
    heights[:, 24:] = z - hand.radius  # from y = 0.2 on, rising from 0.15
    heights[:, 23] = z - hand.radius
    shelf = make_terrain([HeightGrid(heights, 0.05, (-1.0, -1.0))])
    q = character.neutral()
    schedule = label(character, standing(character, q), shelf)
    assert {interval.point for interval in schedule.intervals} == set(FEET)
    # off its feet the same body hangs on that shelf
    kicked = q.copy()
    for side in ("left", "right"):
        kicked[character.tree.position_start[character.index(f"{side}_shank")]] = 1.5
    schedule = label(character, standing(character, kicked), shelf)
    assert [interval.point for interval in schedule.intervals] == ["left_hand"]


def test_plank_is_borne_by_hands_and_toes():
    character = Character.preset("muico29")

    def plank(pitch):
        q = character.neutral()
        q[3:7] = (np.cos(0.5 * pitch), 0.0, np.sin(0.5 * pitch), 0.0)
        for side in ("left", "right"):
            start = character.tree.position_start[character.index(f"{side}_arm")]
            q[start : start + 4] = (np.cos(0.5 * pitch), 0.0, -np.sin(0.5 * pitch), 0.0)
        schedule = label(character, standing(character, q))
        height = point_places(character, q[None], schedule.points)[0, :, 2]
        height -= [point.radius for point in schedule.points]
        return q, height[schedule.names.index("left_hand")], height[schedule.names.index("left_foot_toe")]

    low, high = 1.0, 1.57
    for _ in range(50):
        middle = 0.5 * (low + high)
        _, hand, toe = plank(middle)
        low, high = (middle, high) if hand > toe else (low, middle)
    q, hand, toe = plank(low)
    assert hand == pytest.approx(toe, abs=1e-9)
    q[2] -= hand
    schedule = label(character, standing(character, q))
    assert {interval.point for interval in schedule.intervals} == {
        "left_hand",
        "right_hand",
        "left_foot_toe",
        "right_foot_toe",
    }


def test_grabs_are_contacts_that_may_pull():
    walk = glide()
    hand = ContactPoint("rail", walk.character.index("left_hand"), (0.0, 0.0, -0.1))
    schedule = label(walk.character, walk.trajectory, grabs=[Grab(hand, 10, 19), Grab(hand, 40, 49)])
    rail = schedule.names.index("rail")
    assert schedule.points[rail].grab
    np.testing.assert_array_equal(np.flatnonzero(schedule.active[:, rail]), [*range(10, 20), *range(40, 50)])
    places = point_places(walk.character, walk.trajectory.q, [hand])[:, 0]
    np.testing.assert_allclose(schedule.place[10, rail], places[10:20].mean(axis=0), atol=1e-3)
    np.testing.assert_array_equal(schedule.place[10:20, rail], np.tile(schedule.place[10, rail], (10, 1)))
    with pytest.raises(ValueError, match="left_foot_toe"):
        label(walk.character, walk.trajectory, grabs=[Grab(hand._replace(name="left_foot_toe"), 10, 19)])


def test_edited_intervals_come_back_as_a_schedule():
    walk = glide()
    schedule = label(walk.character, walk.trajectory)
    first, *others = schedule.intervals
    shorter = Interval(first.point, first.start_frame + 3, first.end_frame - 5)
    edited = relabel(walk.character, walk.trajectory, schedule, [shorter, *others])
    assert edited.intervals == [shorter, *others]
    assert edited.place[shorter.start_frame, edited.names.index(shorter.point)].any()


def test_an_edit_leaves_grabs_alone():
    walk = glide()
    hand = ContactPoint("bar", 0, (0.0, 0.0, 0.2))
    schedule = label(walk.character, walk.trajectory, grabs=[Grab(hand, 10, 40)])
    others = [one for one in schedule.intervals if one.point != "bar"]
    edited = relabel(walk.character, walk.trajectory, schedule, others)
    assert edited.intervals == schedule.intervals


def test_distance_from_a_unit_square():
    square = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]])
    active = np.ones((1, 4), dtype=bool)
    for point, distance in (((0.5, 0.5), 0.0), ((2.0, 0.5), 1.0), ((0.5, -0.25), 0.25), ((2.0, 2.0), np.sqrt(2.0))):
        found = distance_from_support(square, active, np.array([point]))[0]
        assert found == pytest.approx(distance, rel=2e-3, abs=1e-12)
    assert distance_from_support(square, ~active, np.array([[0.5, 0.5]]))[0] == np.inf


def test_zero_moment_point_of_a_cart_on_a_table():
    """p = x - z x'' / g for a mass at constant height (Kajita et al. 2003, the cart-table model)."""
    time = np.arange(240) / 120.0
    path = np.stack([0.05 * time**2, np.zeros(240), np.full(240, 0.9)], axis=1)
    push = upward_push(path, 120.0, -9.81)
    np.testing.assert_allclose(push, np.tile([0.1, 0.0, 9.81], (240, 1)), atol=1e-9)
    places = np.zeros((240, 1, 3))
    point = zero_moment_point(path, push, places, np.ones((240, 1), dtype=bool))
    np.testing.assert_allclose(point[:, 0], path[:, 0] - 0.9 * 0.1 / 9.81, atol=1e-9)


LEVEL = [path for path in GOOD if path.stem[:5] not in {"111_0", "36_01", "43_02", "83_10", "83_28"}]
RUNS = ("09_02", "35_17", "16_08")
WALKS = ("02_01", "07_04", "08_05", "113_0", "120_0", "132_2", "16_11", "16_18", "39_11")


@needs_clips
@pytest.mark.parametrize("path", LEVEL, ids=lambda path: path.stem)
def test_cmu_labels_are_plausible(path):
    character, trajectory = captured(path.name)
    schedule = label(character, trajectory)
    feet = np.array([point.foot for point in schedule.points])
    assert not schedule.active[:, ~feet].any()
    for i in np.flatnonzero(feet):
        for start, stop in runs(schedule.active[:, i]):
            inside = start > 0 and stop < len(schedule.active)
            assert stop - start >= 5 or not inside
        gaps = runs(~schedule.active[:, i])
        assert all(stop - start > 5 for start, stop in gaps if start > 0 and stop < len(schedule.active))
    sides = np.stack(
        [
            schedule.active[:, [name.startswith(f"{side}_foot") for name in schedule.names]].any(axis=1)
            for side in ("left", "right")
        ]
    )
    push = upward_push(center_of_mass_path(character, trajectory.q), 120.0, -9.81)[:, 2]
    alone = ~sides.any(axis=0)
    if path.stem[:5] in RUNS:
        assert sides.all(axis=0)[: len(alone) // 2].mean() < 0.1
        # a foot that comes down at speed carries weight for some frames before it is slow
        assert np.mean(alone & (push > 5.8)) < 0.12
    elif not path.stem.startswith("05_11"):  # whose pirouettes turn on a foot that wanders
        assert np.mean(alone & (push > 5.8)) < 0.02
    if path.stem[:5] in WALKS:
        assert alone.mean() < 0.01
        assert 0.04 < sides.all(axis=0).mean() < 0.6  # long steps 0.05


def test_a_grab_that_moves_follows_what_the_clip_does():
    walk = glide()
    hand = ContactPoint("lead", walk.character.index("left_hand"), (0.0, 0.0, -0.1), moves=True)
    schedule = label(walk.character, walk.trajectory, grabs=[Grab(hand, 100, 199, pulls=False)])
    lead = schedule.names.index("lead")
    assert not schedule.points[lead].grab
    path = point_places(walk.character, walk.trajectory.q, [hand])[:, 0]
    np.testing.assert_allclose(schedule.place[100:200, lead], path[100:200], atol=1e-3)
    assert not schedule.active[:100, lead].any()
    edited = relabel(walk.character, walk.trajectory, schedule, contacts_of(walk.trajectory, schedule))
    np.testing.assert_array_equal(edited.active, schedule.active)


def test_feet_that_float_in_a_squat_stand():
    """A capture raises both feet by 9 cm for a second, while the body rests: they were flat on the ground all along."""
    motion = motions.squat(360, 0.2)
    time = np.arange(len(motion.q)) / motion.rate
    q = motion.q.copy()
    q[:, 2] += 0.09 * np.exp(-(((time - 1.5) / 0.45) ** 4))
    schedule = label(motion.character, Trajectory(motion.rate, q, motion.v))
    assert {interval.point for interval in schedule.intervals} == set(FEET)
    assert all(interval[1:] == (0, 360) for interval in schedule.intervals)
    held = ContactPoint("bar", motion.character.index("left_hand"), (0.0, 0.0, 0.0))
    hanging = label(motion.character, Trajectory(motion.rate, q, motion.v), grabs=[Grab(held, 0, 360)])
    feet = [i for i, point in enumerate(hanging.points) if point.foot]
    assert not hanging.active[180, feet].any()


@pytest.mark.parametrize(("degrees", "flat"), [(10.0, True), (40.0, False)])
def test_a_foot_that_is_tilted_is_not_laid_flat(degrees, flat):
    """Toes down and 2 cm over the ground, too quick to and fro to touch: who lands so does not stand on the heels."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (120, 1))
    turn = np.radians(degrees) / 2.0
    for side in ("left", "right"):
        start = character.tree.position_start[character.index(f"{side}_foot")]
        q[:, start] += 2.0 * turn
    points = contact_points(character)
    feet = np.array([point.foot for point in points])
    lowest = point_places(character, q, points)[0, feet, 2].min()
    q[:, 2] += 0.07 - lowest
    schedule = label(character, Trajectory(120.0, q, velocities(character, q, 120.0)))
    heels = [i for i, point in enumerate(points) if point.name.endswith("_heel")]
    assert schedule.active[:, heels].all() == flat


@needs_clips
@pytest.mark.parametrize("name", ["09_02", "35_17"])
def test_a_run_of_thirty_frames_per_second_stands_in_every_step(name):
    """As it does with all of its 120."""
    clip = repair(cmu(name).cut(1, 10**6), CMU_ROLES)[0]
    few = replace(
        clip,
        rate=0.25 * clip.rate,
        position=clip.position[::4],
        orientation=clip.orientation[::4],
        frames_per_sample=1.0,
    )
    steps = []
    for each in (clip, few):
        found = prepare(each, CMU_ROLES)
        schedule = label(found.plan.character, found.trajectory)
        stands = {side: np.zeros(len(found.trajectory.q), dtype=bool) for side in ("left", "right")}
        for point, active in zip(schedule.points, schedule.active.T, strict=True):
            if point.foot:
                stands[point.name.partition("_")[0]] |= active
        steps.append({side: len(runs(active)) for side, active in stands.items()})
    assert steps[0] == steps[1]
    assert sum(steps[0].values()) >= 3


@pytest.mark.parametrize(("rises", "carries"), [(0.0, True), (0.1, False)])
def test_a_foot_near_the_ground_carries_where_nothing_else_would(rises, carries):
    """It sweeps along at 1.5 m/s for a seventh of a second, near the ground, or over it."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (120, 1))
    q[:, 0] = np.interp(np.arange(120), [50, 66], [0.0, 0.2])
    q[50:67, 2] += rises
    trajectory = Trajectory(120.0, q, velocities(character, q, 120.0))
    schedule = label(character, trajectory)
    feet = [point.foot for point in schedule.points]
    assert schedule.active[:40, feet].all()
    assert schedule.active[54:62, feet].all() == carries
    assert schedule.active[54:62, feet].any() == carries


@pytest.mark.parametrize(("lifted", "carries"), [(0.1, True), (0.3, False)])
def test_who_is_upside_down_stands_on_the_hands(lifted, carries):
    """Their middles are so high over the ground."""
    character = Character.preset("muico29")
    q = np.tile(character.neutral(), (60, 1))
    over = [0.0, 0.0, 1.0, 0.0]
    q[:, 3:7] = over
    for side in ("left", "right"):
        start = character.tree.position_start[character.index(f"{side}_arm")]
        q[:, start : start + 4] = over
    points = contact_points(character)
    hands = np.array([point.name.endswith("_hand") for point in points])
    lowest = point_places(character, q, points)[0, hands, 2].min() - points[int(np.argmax(hands))].radius
    q[:, 2] += lifted - lowest
    schedule = label(character, Trajectory(120.0, q, velocities(character, q, 120.0)))
    assert (schedule.active[:, hands] == carries).all()
    assert not schedule.active[:, ~hands].any()
