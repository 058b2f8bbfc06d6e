# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion rests on and its scene lacks: found where it was left out."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.motion import fit
from heft.core.motion.boxes import Box, depth_in
from heft.core.motion.fit import Trajectory
from heft.core.motion.ground import missing_ground
from heft.core.motion.labels import label, level_ground, relabel
from heft.core.motion.make_reference import make_reference
from heft.core.motion.schedule import contact_points
from heft.core.motion.spacetime.help import helping, shares, weight_of
from heft.core.motion.steps import steps_of
from heft.core.motion.support import Support
from heft.core.motion.supports import find_supports, lies_there
from heft.core.motion.tracks import ground_under, point_places

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.walkers import ANKLE, bend, captured, glide

RATE = 120.0
STANDS, SITS, BACK = 0.78, 0.5, 0.3  # m, of the hips' height, and how far back they go
ARMS = np.radians(-70.0)  # about Y: held out in front, clear of a seat
STRAIGHT = 0.92  # m, of hips over legs that are nearly straight


def posed(place, seconds=2.0):
    """muico29 with feet where they are under the hips at first, whose root goes (x, z) by seconds."""
    character = Character.preset("muico29")
    time = np.arange(round(seconds * RATE) + 1) / RATE
    q = np.tile(character.neutral(), (len(time), 1))
    x, z = place(time)
    q[:, 0], q[:, 2] = x, z
    for side in ("left", "right"):
        bend(character, q, character.tree, side, -x, np.full(len(time), ANKLE) - z)
        start = character.tree.position_start[character.index(f"{side}_arm")]
        q[:, start : start + 4] = np.cos(0.5 * ARMS), 0.0, np.sin(0.5 * ARMS), 0.0
    return character, Trajectory(RATE, q, fit.velocities(character, q, RATE), first_frame=1.0)


def eased(time, start, stop):
    share = np.clip((time - start) / (stop - start), 0.0, 1.0)
    return share**2 * (3.0 - 2.0 * share)


def sits_down():
    return posed(lambda time: (-BACK * eased(time, 0.2, 0.9), STANDS + (SITS - STANDS) * eased(time, 0.2, 0.9)))


def sits():
    """All the time."""
    return posed(lambda time: (-BACK + 0.0 * time, SITS + 0.0 * time), seconds=1.0)


def squats():
    """Over its feet."""
    return posed(lambda time: (0.0 * time, STANDS + (0.55 - STANDS) * eased(time, 0.2, 0.9)))


def found_in(character, trajectory, terrain=None, grabs=()):
    terrain = terrain or level_ground()
    return find_supports(character, trajectory, label(character, trajectory, terrain, grabs=grabs), terrain)


def hips_underside(character):
    pelvis = next(shape for shape in character.contacts if shape.body == character.bodies[0].name)
    middle = getattr(pelvis, "position", None)
    height = middle[2] if middle else 0.5 * (pelvis.start[2] + pelvis.end[2])
    return SITS + height - pelvis.radius


def test_who_sits_down_on_air_gets_a_seat_under_the_hips():
    character, trajectory = sits_down()
    (seat,) = found_in(character, trajectory)
    (box,) = seat.objects
    assert seat.kind == "seat"
    assert box.bottom == 0.0
    assert box.top == seat.height == pytest.approx(hips_underside(character), abs=0.001)
    assert box.place == pytest.approx((-BACK, 0.0), abs=0.06)
    assert box.along == pytest.approx((1.0, 0.0), abs=1e-6)
    # it is sat on from when the hips are down to the end
    assert seat.frames[0] == pytest.approx(1.0 + 0.8 * RATE, abs=12.0)
    assert seat.frames[1] == trajectory.frame(len(trajectory.q) - 1)
    assert {rest.pulls for rest in seat.rests} == {False}
    assert "a seat" in seat.text
    # the feet and the shanks have room before it
    assert depth_in(character, trajectory, box.mesh()) < 0.05


def test_a_squat_and_a_walk_need_no_seat():
    assert found_in(*squats()) == []
    walk = glide()
    assert found_in(walk.character, walk.trajectory) == []


def test_a_seat_lets_a_body_stay_where_it_sits():
    """Without one it leans over its feet, or is helped."""
    character, trajectory = sits()
    (seat,) = found_in(character, trajectory)
    terrain = make_terrain([Plane(), *seat.solid])
    wanted = {"help_given": "as_needed"}
    without = make_reference(character, trajectory, **wanted).reference
    seated = make_reference(character, trajectory, terrain=terrain, grabs=seat.rests, **wanted).reference
    helped = [
        shares(one.force[:, helping(one.schedule.points)], weight_of(character)).max(initial=0.0)
        for one in (without, seated)
    ]
    assert helped[0] > 0.1 or without.quality.root_rms_metres > 0.03
    assert helped[1] < 0.01
    assert seated.quality.root_rms_metres < 0.02
    # the seat carries much of the weight
    rests = [i for i, point in enumerate(seated.schedule.points) if point.name.startswith("seat")]
    carried = seated.force[-30:, rests, 2].sum(axis=1).mean() / weight_of(character)
    assert carried > 0.3


def test_a_seat_that_is_there_is_rested_on_and_not_put_there_again():
    character, trajectory = sits_down()
    (seat,) = found_in(character, trajectory)
    terrain = make_terrain([Plane(), *seat.solid])
    (again,) = found_in(character, trajectory, terrain)
    assert again.objects == ()
    assert again.rests == seat.rests
    assert lies_there(seat, terrain, RATE)
    assert not lies_there(seat, level_ground(), RATE)


def test_hips_on_a_seat_touch_once():
    """The thighs begin where the pelvis ends: its points say all of the seat."""
    character, trajectory = sits_down()
    (seat,) = found_in(character, trajectory)
    terrain = make_terrain([Plane(), *seat.solid])
    schedule = label(character, trajectory, terrain, grabs=seat.rests)
    active = {name for i, name in enumerate(schedule.names) if schedule.active[-1, i]}
    rests = {rest.point.name for rest in seat.rests}
    assert rests < active
    assert not {name for name in active - rests if "thigh" in name or "pelvis" in name or "hand" in name}
    # an animator's edit of other contacts leaves them
    assert (
        relabel(character, trajectory, schedule, []).active.any(axis=1) == (trajectory.q[:, 0] < -BACK + 0.07)
    ).mean() > 0.9


def test_hands_that_stay_above_hold_on_to_a_bar():
    """The body swings below them like a pendulum."""
    character = Character.preset("muico29")
    time = np.arange(round(3.0 * RATE) + 1) / RATE
    q = np.tile(character.neutral(), (len(time), 1))
    for side in ("left", "right"):  # arms up
        start = character.tree.position_start[character.index(f"{side}_arm")]
        q[:, start : start + 4] = (0.0, 0.0, 1.0, 0.0)
    q[:, 2] = 1.2
    hands = [
        next(p for p in contact_points(character) if p.name.startswith(f"{side}_hand")) for side in ("left", "right")
    ]
    before = point_places(character, q[:1], hands)[0].mean(axis=0)
    angle = np.radians(10.0) * np.sin(2.0 * np.pi * time / 1.8)
    q[:, 3], q[:, 5] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    after = point_places(character, q, hands).mean(axis=1)
    q[:, :3] += before - after
    trajectory = Trajectory(RATE, q, fit.velocities(character, q, RATE))
    (bar,) = found_in(character, trajectory)
    assert bar.kind == "bar"
    assert bar.height == pytest.approx(before[2], abs=0.03)
    assert bar.solid == ()
    assert {rest.point.body for rest in bar.rests} == {hand.body for hand in hands}
    assert all(rest.pulls and rest.end_frame - rest.start_frame > 0.9 * len(q) for rest in bar.rests)
    np.testing.assert_allclose(np.mean(bar.held, axis=0), before, atol=0.03)


def test_who_leans_a_hand_beside_the_feet_gets_something_under_it_or_before_it():
    """Stiff, 25 degrees over to the left, about the left foot's edge."""
    character = Character.preset("muico29")
    count = round(1.5 * RATE)
    q = np.tile(character.neutral(), (count, 1))
    for side in ("left", "right"):
        bend(character, q, character.tree, side, np.zeros(count), np.full(count, ANKLE - STRAIGHT))
    angle = -np.radians(25.0)
    q[:, 3], q[:, 4] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    left = [point for point in contact_points(character) if point.foot and point.name.startswith("left")]
    q[:, 2] -= point_places(character, q, left)[..., 2].min(axis=1)
    start = character.tree.position_start[character.index("left_arm")]
    for lift, kind in ((np.radians(110.0), "wall"), (np.radians(50.0), "ledge")):
        q[:, start : start + 4] = (np.cos(0.5 * lift), np.sin(0.5 * lift), 0.0, 0.0)
        trajectory = Trajectory(RATE, q, np.zeros((count, character.nv)))
        (support,) = [one for one in found_in(character, trajectory) if one.kind in {"wall", "ledge"}]
        hand = next(p for p in contact_points(character) if p.name.startswith("left_hand"))
        place = point_places(character, q[:1], (hand,))[0, 0]
        assert support.kind == kind
        terrain = make_terrain(support.solid)
        gap = ground_under(terrain, place[None, None], np.array([hand.radius]), RATE).height[0, 0]
        assert gap == pytest.approx(0.0, abs=0.005)


def test_a_box_is_felt_as_deep_as_it_reaches():
    character, trajectory = squats()
    low = point_places(character, trajectory.q, [p for p in contact_points(character) if p.foot])[..., 2].min()
    box = Box("Box", (0.0, 0.0), (0.0, 1.0), 0.5, 0.5, 0.5, 0.5, low - 1.0, low + 0.02)
    assert depth_in(character, trajectory, box.mesh()) == pytest.approx(0.02, abs=0.005)
    assert depth_in(character, trajectory, box._replace(top=low - 0.02).mesh()) == 0.0


def test_a_walk_on_a_stage_is_offered_one_block():
    walk = glide()
    raised = walk.trajectory.q + np.eye(1, walk.character.nq, 2) * 0.4
    trajectory = Trajectory(RATE, raised, walk.trajectory.v, first_frame=1.0)
    missing = missing_ground(walk.character, trajectory, label(walk.character, trajectory))
    (ground,) = steps_of(walk.character, trajectory, missing)
    (block,) = ground.objects
    assert (block.bottom, block.top) == pytest.approx((0.0, 0.4), abs=1e-6)
    assert ground.text == "ground 40 cm off the floor"
    feet = point_places(walk.character, raised, [p for p in contact_points(walk.character) if p.foot])
    assert block.within(feet[..., :2].reshape(-1, 2)).all()


def test_a_flight_of_steps_is_told_by_its_rise():
    boxes = [Box(f"Step {k}", (0.0, 0.0), (1.0, 0.0), 0.1, 0.1, 0.1, 0.1, 0.0, 0.17 * k) for k in range(1, 7)]
    steps = Support("ground", (1.0, 9.0), 1.02, tuple(boxes))
    assert steps.text == "6 steps of 17 cm"
    assert steps.solid == ()  # the height grid is there already
    assert steps.lifted(0.5).objects[5].top == pytest.approx(1.52)
    uneven = Support("ground", (1.0, 9.0), 0.5, (boxes[0], boxes[1], boxes[1]._replace(top=0.8)))
    assert uneven.text == "ground 17, 34 and 80 cm off the floor"


@needs_clips
@pytest.mark.parametrize(("name", "tops"), [("83_28", (0.126, 0.241, 0.357)), ("83_10", (0.141,))])
def test_cmu_stairs_become_steps_that_the_feet_stand_on(name, tops):
    character, trajectory = captured(name)
    missing = missing_ground(character, trajectory, label(character, trajectory))
    (ground,) = steps_of(character, trajectory, missing)
    np.testing.assert_allclose(sorted(box.top for box in ground.objects), tops, atol=2e-3)
    feet = [point for point in contact_points(character) if point.foot]
    places = point_places(character, trajectory.q, feet)
    guess, steps = (
        ground_under(make_terrain(surfaces), places, np.zeros(len(feet)), RATE).height
        for surfaces in ([missing.ground], [Plane(), *(box.mesh() for box in ground.objects)])
    )
    low = guess < 0.1
    assert (np.abs(guess - steps)[low] > 0.02).mean() < 0.01
    assert steps.min() > guess.min() - 0.005
