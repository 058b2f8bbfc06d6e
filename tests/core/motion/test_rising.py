# SPDX-License-Identifier: GPL-3.0-or-later
"""Getting up: poses by where limbs point, how a body lies, and the rough way up."""

import numpy as np
import pytest
from heft.core.character import Capsule, Character
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.dynamics import body_poses, difference, integrate
from heft.core.motion.cycle import Cycle
from heft.core.motion.quaternions import exp, multiply, rotate
from heft.core.motion.rising import ways
from heft.core.motion.rising.by_action import nearest
from heft.core.motion.rising.by_action import put_down as put_all_down
from heft.core.motion.rising.figure import Figure, Limbs, posed
from heft.core.motion.rising.lying import bearing_points, can_rise, heading_of, keys_of
from heft.core.motion.rising.rise import LIGHT, rise
from heft.core.motion.rising.rough import Goal, turned
from heft.core.motion.schedule import ContactSchedule, contact_points
from heft.core.motion.tracks import point_places

CHARACTER = Character.preset("muico29")
RATE = 60.0
SITTING = Limbs((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0))


def along(q, upper, lower):
    """The direction from one body's joint to another's."""
    place, _ = body_poses(CHARACTER, q)
    way = place[CHARACTER.index(lower)] - place[CHARACTER.index(upper)]
    return way / np.linalg.norm(way)


@pytest.mark.parametrize("side", ["left", "right"])
def test_limbs_point_where_a_figure_has_them(side):
    """Who sits on a chair: thighs ahead, shanks down, forearms ahead."""
    q = posed(CHARACTER, Figure((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), SITTING, SITTING))
    for upper, lower, wanted in (
        ("thigh", "shank", (1.0, 0.0, 0.0)),
        ("shank", "foot", (0.0, 0.0, -1.0)),
        ("arm", "forearm", (0.0, 0.0, -1.0)),
        ("forearm", "hand", (1.0, 0.0, 0.0)),
    ):
        found = along(q, f"{side}_{upper}", f"{side}_{lower}")
        np.testing.assert_allclose(found, wanted, atol=0.03)  # joints are a degree or two off the bodies' axes


def test_a_mirrored_figure_is_the_mirror_image():
    figure = ways.FOOT_FORWARD.figure
    q, mirrored = posed(CHARACTER, figure), posed(CHARACTER, figure.mirrored)
    flip = np.array([1.0, -1.0, 1.0])
    for part in ("thigh", "shank", "foot", "forearm", "hand"):
        place, other = (body_poses(CHARACTER, pose)[0] for pose in (q, mirrored))
        here, there = CHARACTER.index(f"left_{part}"), CHARACTER.index(f"right_{part}")
        np.testing.assert_allclose(place[here] - place[0], flip * (other[there] - other[0]), atol=0.01)


def lain(turn):
    """The neutral pose, turned over and put down."""
    q = CHARACTER.neutral()
    q[3:7] = turn
    return put_down(q)


def put_down(q):
    """A pose with its lowest point on the ground."""
    q = q.copy()
    low = point_places(CHARACTER, q[None], bearing_points(CHARACTER))[0, :, 2]
    q[2] -= float((low - [point.radius for point in bearing_points(CHARACTER)]).min())
    return q


@pytest.mark.parametrize("preset", ["muico29", "jain42"])
@pytest.mark.parametrize("key", [ways.ON_ALL_FOURS, ways.ON_ONE_KNEE], ids=["fours", "knee"])
def test_who_kneels_kneels_on_what_touches_the_ground_first(preset, key):
    """Thighs are thicker at the knee than shanks: those who knelt on shanks were 2 cm in the ground."""
    character = Character.preset(preset)
    q = posed(character, key.figure)
    place, turn = body_poses(character, q)
    knees = {point.name: point for point in bearing_points(character) if point.name.endswith("_knee")}
    assert set(knees) == {"left_knee", "right_knee"}
    for name, point in knees.items():
        joint = place[character.index(name.replace("knee", "shank"))]
        bearing = point_places(character, q[None], [point])[0, 0, 2] - point.radius
        around = []
        for shape in character.contacts:
            if isinstance(shape, Capsule):
                b = character.index(shape.body)
                ends = [place[b] + rotate(turn[b], np.array(end)) for end in (shape.start, shape.end)]
                around += [end[2] - shape.radius for end in ends if np.linalg.norm(end - joint) < 0.02]
        assert around
        assert bearing == pytest.approx(min(around), abs=1e-3)


def about(x, y, z):
    return exp(np.array([x, y, z]))


FACE_DOWN, FACE_UP = about(0.0, 0.5 * np.pi, 0.0), about(0.0, -0.5 * np.pi, 0.0)
ON_THE_RIGHT = multiply(FACE_UP, about(0.0, 0.0, 0.5 * np.pi))


def test_it_will_face_the_way_of_its_head():
    assert heading_of(lain(FACE_DOWN)) == pytest.approx(0.0, abs=1e-9)
    assert abs(heading_of(lain(FACE_UP))) == pytest.approx(np.pi, abs=1e-9)
    assert heading_of(lain(multiply(about(0.0, 0.0, 0.7), FACE_DOWN))) == pytest.approx(0.7, abs=1e-9)


def test_the_way_up_is_the_one_for_how_it_lies():
    down, up, side = (keys_of(CHARACTER, lain(turn), "right_foot") for turn in (FACE_DOWN, FACE_UP, ON_THE_RIGHT))
    assert down[0].figure == ways.ON_BELLY.figure
    assert up[0].figure in {ways.ON_SIDE.figure, ways.ON_SIDE.figure.mirrored}
    lower = rotate(ON_THE_RIGHT, np.array([0.0, 1.0, 0.0]))[2]
    assert side[0].figure == (ways.ON_SIDE.figure if lower > 0.0 else ways.ON_SIDE.figure.mirrored)
    for keys, foot in ((down, "right_foot"), (keys_of(CHARACTER, lain(FACE_UP), "left_foot"), "left_foot")):
        assert keys[-1].over == foot
        stays = "left" if foot == "right_foot" else "right"
        assert f"{stays}_foot" in keys[-4].holds  # the other foot is brought forward
        assert foot not in keys[-4].holds


def test_only_who_has_a_persons_legs_rises():
    assert can_rise(CHARACTER)
    assert not can_rise(Character.preset("diver7"))


def standing():
    """The neutral pose on both feet, for 20 frames, the right one first."""
    stands = CHARACTER.neutral()
    points = tuple(point for point in contact_points(CHARACTER) if point.foot)
    stands[2] -= float(point_places(CHARACTER, stands[None], points)[0, :, 2].min())
    place = np.repeat(point_places(CHARACTER, stands[None], points), 20, axis=0)
    active = np.ones(place.shape[:2], np.bool_)
    return Goal(np.repeat(stands[None], 20, axis=0), ContactSchedule(points, active, place), "right_foot")


def sitting_up():
    """An action of two seconds: from the back to sitting, to squatting, to standing; each pose with its time."""
    crouched = Limbs((0.9, 0.3, 0.1), (-0.4, 0.0, -1.0), (1.0, 0.1, 0.0), (1.0, 0.1, -0.3), (1.0, 0.0, 0.0))
    sits = posed(CHARACTER, Figure((-0.2, 0.0, 1.0), (1.0, 0.0, 0.2), crouched, crouched))
    squats = posed(CHARACTER, Figure((0.6, 0.0, 0.8), (0.8, 0.0, -0.6), crouched, crouched))
    poses = [lain(FACE_UP), put_down(sits), put_down(squats), standing().q[0]]
    times = [0.0, 0.7, 1.3, 2.0]
    frames = []
    for time in np.arange(round(times[-1] * RATE) + 1) / RATE:
        k = min(int(np.searchsorted(times, time, side="right")) - 1, 2)
        x = (time - times[k]) / (times[k + 1] - times[k])
        step = difference(CHARACTER, poses[k], poses[k + 1])
        frames.append(integrate(CHARACTER, poses[k], x * x * (3.0 - 2.0 * x) * step, 1.0))
    return put_all_down(CHARACTER, np.array(frames), RATE)


def test_the_nearest_pose_of_an_action_is_found_wherever_it_lies():
    """A pose of the action itself, elsewhere and turned by any angle: that pose, and how it came there."""
    action = sitting_up()
    for frame, turn in ((0, 2.5), (25, -1.2), (60, 0.3)):
        moved = Cycle((3.0, -2.0), turn)
        found = nearest(CHARACTER, turned(CHARACTER, action[frame], moved), action)
        assert found.frame == frame
        assert found.distance < 1e-9
        assert found.moved.turn == pytest.approx(turn, abs=1e-9)
        np.testing.assert_allclose(found.moved.shift, moved.shift, atol=1e-9)


@pytest.mark.parametrize("turn", [FACE_UP, ON_THE_RIGHT, FACE_DOWN], ids=["up", "side", "down"])
def test_who_gets_up_by_an_action_goes_along_it_from_how_it_lies(turn):
    """From its back it goes on with the action at once; from the belly it turns over first."""
    action, goal = sitting_up(), standing()
    q = lain(multiply(about(0.0, 0.0, 0.8), turn))
    q[:2] = 1.0, 2.0
    way = rise(CHARACTER, make_terrain([Plane()]), q, goal, RATE, named=action)
    poses = way.trajectory.q
    np.testing.assert_allclose(poses[0, :3], q[:3], atol=0.02)
    assert np.abs(difference(CHARACTER, poses[-1], goal.q[-1])[6:]).max() < 0.05
    assert poses[-1, 2] == pytest.approx(goal.q[-1, 2], abs=0.02)
    then = 0
    for frame in (42, 78, 115):  # sitting, squatting, almost up
        joints = np.array([np.abs(difference(CHARACTER, pose, action[frame])[6:]).max() for pose in poses[then:]])
        assert joints.min() < 0.35
        then += int(np.argmin(joints))
        assert poses[then, 2] == pytest.approx(action[frame, 2], abs=0.05)
    own = [p for p in bearing_points(CHARACTER) if not CHARACTER.bodies[p.body].name.endswith(LIGHT)]
    heights = point_places(CHARACTER, poses, own)[..., 2] - [point.radius for point in own]
    assert heights.min() > -0.03
    on = way.schedule.active
    assert on.any(axis=1).mean() > 0.8  # but where it turns over
    assert all(way.schedule.points[i].foot for i in np.flatnonzero(on[-1]))


@pytest.mark.parametrize("turn", [FACE_DOWN, FACE_UP, ON_THE_RIGHT], ids=["down", "up", "side"])
def test_the_rough_way_up_begins_as_it_lies_and_leads_on_the_ground_to_the_goal(turn):
    q = lain(turn)
    goal = standing()
    way = rise(CHARACTER, make_terrain([Plane()]), q, goal, RATE)
    poses = way.trajectory.q
    np.testing.assert_allclose(poses[0, :3], q[:3], atol=0.02)
    assert poses[-1, 2] == pytest.approx(goal.q[0, 2], abs=0.02)
    heavy = [p for p in bearing_points(CHARACTER) if not CHARACTER.bodies[p.body].name.endswith(LIGHT)]
    heights = point_places(CHARACTER, poses, heavy)[..., 2] - [point.radius for point in heavy]
    assert heights.min() > -0.03
    assert np.abs(np.diff(poses[:, :3], axis=0)).max() * RATE < 3.0  # m/s
    on = way.schedule.active
    assert on.any(axis=1).mean() > 0.9  # something bears weight nearly all of the time
    for start in np.flatnonzero(on[-1]):
        assert way.schedule.points[start].foot
