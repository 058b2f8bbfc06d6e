# SPDX-License-Identifier: GPL-3.0-or-later
"""The pieces of a gait against answers in closed form."""

import math
from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character, Corner
from heft.core.control.gait.biped import BEARABLE, make_biped
from heft.core.control.gait.erect import erect
from heft.core.control.gait.gains import GROUPS, load_gains, read_gains, write_gains
from heft.core.control.gait.heading import FIRST, SHARPEST, STILL, TURNING, Heading
from heft.core.control.gait.leg import STRAIGHT, aim_thigh, bend_knee
from heft.core.control.gait.pendulum import returning_width, step_length
from heft.core.control.gait.standing import standing
from heft.core.control.gait.style import CHANNELS, STYLES, load_style, read_style
from heft.core.control.gait.velocity import BINS, Learnt, learn
from heft.core.dynamics import body_poses, center_of_mass, mass_matrix
from heft.core.maths.kernel import kernel
from heft.core.motion import quaternions
from heft.core.motion.body_plan import make_body_plan
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.motion.skeletons import wooden, wooden_roles

GAIT28 = Character.preset("gait28")
MANNEQUIN = make_body_plan(wooden(), wooden_roles()).character
POSES = """
step_seconds = 0.5
clearance = 0.1
width = 0
[[pose]]
phase = 0
stance_knee = 90
[[pose]]
phase = 1
"""


@kernel
def reach(thigh, shank, axis, target, side, forward, out):
    distance = math.sqrt(target[0] ** 2 + target[1] ** 2 + target[2] ** 2)
    knee = bend_knee(thigh, shank, axis, distance, forward)
    out[0] = knee
    out[1], out[2], out[3], out[4] = aim_thigh(thigh, shank, axis, knee, target, side)


def ankle_of(thigh, shank, axis, knee, orientation):
    bent = np.concatenate(([np.cos(knee / 2)], np.sin(knee / 2) * np.array(axis)))
    return quaternions.rotate(orientation, np.array(thigh) + quaternions.rotate(bent, np.array(shank)))


class TestPendulum:
    def test_all_energy_of_motion_becomes_height(self):
        height, speed, gravity = 0.9, 1.3, 9.81
        length = step_length(height, speed, gravity)
        assert 0.5 * speed**2 + gravity * height == pytest.approx(gravity * math.hypot(height, length), rel=1e-14)

    def test_mirrored_by_the_speed(self):
        assert step_length(0.9, -0.7, 9.81) == -step_length(0.9, 0.7, 9.81) < 0.0

    def test_a_mass_comes_back_to_where_it_began(self):
        apart, height, seconds, gravity = 0.1, 0.9, 0.6, 9.81
        w = math.sqrt(gravity / height)
        # where it would come to rest, v / w, and the width make up the distance
        speed = w * (apart - returning_width(apart, height, seconds, gravity))
        place = -apart * math.cosh(w * seconds) + speed / w * math.sinh(w * seconds)
        assert place == pytest.approx(-apart, rel=1e-12)


class TestLeg:
    @given(st.integers(0, 10_000))
    def test_the_ankle_is_where_it_was_wanted(self, seed):
        rng = np.random.default_rng(seed)
        thigh = np.array([0.0, 0.0, -0.45]) + rng.normal(scale=0.05, size=3)
        shank = np.array([0.0, 0.0, -0.42]) + rng.normal(scale=0.05, size=3)
        axis = np.array([0.0, 1.0, 0.0]) + rng.normal(scale=0.1, size=3)
        axis /= np.linalg.norm(axis)
        pose = np.array([1.0, 0.0, 0.0, 0.0]) + rng.normal(scale=0.3, size=4)
        # bones beside the axis are straightest at an angle of their own, and reach no further
        straightest = np.arctan2(thigh @ np.cross(axis, shank), thigh @ shank - (thigh @ axis) * (shank @ axis))
        knee = straightest + rng.uniform(0.4, 2.0)
        target = ankle_of(thigh, shank, axis, knee, pose / np.linalg.norm(pose))
        # a leg that points to the left itself leaves no side to prefer
        assume(abs(target[1]) < 0.95 * np.linalg.norm(target))
        out = np.zeros(5)
        reach(tuple(thigh), tuple(shank), tuple(axis), tuple(target), (0.0, 1.0, 0.0), 1.0, out)
        np.testing.assert_allclose(ankle_of(thigh, shank, axis, out[0], out[1:]), target, atol=1e-12)
        # and the knee's axis as near to the left as the leg's direction lets it be
        turned = quaternions.rotate(out[1:], axis)
        assert np.linalg.det([target, turned, [0.0, 1.0, 0.0]]) == pytest.approx(0.0, abs=1e-12)
        assert turned[1] > 0.0

    def test_equal_bones_at_a_right_angle(self):
        out = np.zeros(5)
        target = (0.0, 0.0, -math.sqrt(2.0))
        reach((0.0, 0.0, -1.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0), target, (0.0, 1.0, 0.0), 1.0, out)
        assert out[0] == pytest.approx(math.pi / 2)

    def test_beyond_reach_the_leg_points_there_almost_straight(self):
        out = np.zeros(5)
        reach((0.0, 0.0, -1.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (0.0, 0.0, -3.0), (0.0, 1.0, 0.0), 1.0, out)
        found = ankle_of((0.0, 0.0, -1.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0), out[0], out[1:])
        np.testing.assert_allclose(found, [0.0, 0.0, -2.0 * (1.0 - STRAIGHT)], atol=1e-12)


class TestHeading:
    def test_a_change_is_spread_over_two_steps_of_which_each_turns_for_a_while(self):
        heading, part = Heading(0.0), 0.5 * FIRST
        heading.begin_step(0.5, outside=1.0)
        assert [heading.at(t) for t in (0.0, 0.5 * TURNING, TURNING, 9.0)] == [0.0, 0.5 * part, part, part]
        heading.begin_step(0.5, outside=-1.0)
        assert [heading.at(t) for t in (0.0, TURNING)] == pytest.approx([part, 0.5])
        heading.begin_step(0.5, outside=1.0)
        assert heading.at(1.0) == pytest.approx(0.5)

    def test_it_begins_on_the_leg_outside(self):
        heading = Heading(0.0)
        heading.begin_step(-0.5, outside=1.0)
        assert heading.at(1.0) == 0.0
        heading.begin_step(-0.5, outside=-1.0)
        assert heading.at(1.0) < 0.0

    def test_what_is_too_much_for_two_steps_follows(self):
        heading, wanted = Heading(0.0), 1.5 * SHARPEST
        for step in range(4):
            heading.begin_step(wanted, outside=1.0 if step % 2 == 0 else -1.0)
            assert heading.at(1.0) <= SHARPEST + 1e-12 or step > 1
        assert heading.at(1.0) == pytest.approx(wanted)

    def test_who_turns_slows_down_until_it_is_over(self):
        heading = Heading(0.0)
        assert heading.pace == 1.0
        heading.begin_step(-SHARPEST, outside=-1.0)
        assert heading.pace == pytest.approx(1.0 - SHARPEST / STILL)
        heading.begin_step(-SHARPEST, outside=1.0)
        assert heading.pace == pytest.approx(1.0 - (1.0 - FIRST) * SHARPEST / STILL)
        heading.begin_step(-SHARPEST, outside=-1.0)
        assert heading.pace == 1.0


class TestVelocity:
    def test_the_curve_learns_the_shape_and_the_offset_the_mean(self):
        wave = 0.1 * np.sin(np.linspace(0.0, 2.0 * np.pi, BINS, endpoint=False))
        learnt = Learnt(np.zeros(BINS), 0.0)
        for _ in range(300):
            # a body that does what it is asked, less a tenth, and sways
            learnt = learn(learnt, 0.7 + learnt.offset + wave, wanted=0.8)
        np.testing.assert_allclose(learnt.curve, wave, atol=1e-6)
        assert learnt.offset == pytest.approx(0.1, abs=1e-5)

    def test_parts_of_a_step_that_were_not_reached_teach_nothing(self):
        seen = np.full(BINS, np.nan)
        assert learn(Learnt(np.ones(BINS), 0.2), seen, 1.0).offset == 0.2
        seen[:5] = 1.0
        assert np.isfinite(learn(Learnt(np.zeros(BINS), 0.0), seen, 1.0).curve).all()


class TestStyles:
    @pytest.mark.parametrize("name", STYLES)
    def test_every_style_is_read(self, name):
        style = load_style(name)
        assert style.poses.shape == (len(style.phases), len(CHANNELS))

    def test_degrees_become_radians_and_what_is_not_named_is_zero(self):
        style = read_style(POSES, "here")
        assert style.poses[0, CHANNELS.index("stance_knee")] == pytest.approx(math.pi / 2)
        assert np.abs(style.poses).sum() == pytest.approx(math.pi / 2)

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("phase = 1", "phase = 0.5", "phases"),
            ("stance_knee = 90", "stance_knee = 200", "180"),
            ("stance_knee = 90", "stance_knees = 90", "stance_knees"),
            ("stance_knee = 90", "stance_knee = nan", "stance_knee"),
            ("phase = 1", "phase = '1'", "phase"),
            ("step_seconds = 0.5", "step_seconds = 9", "step_seconds"),
            ("step_seconds = 0.5", "", "step_seconds"),
            ("width = 0", "widths = 0\nwidth = 0", "widths"),
            ("[[pose]]\nphase = 1", "", "two"),
            ("width = 0", "width = ", "TOML"),
        ],
    )
    def test_what_is_wrong_is_said(self, old, new, said):
        with pytest.raises(ValueError, match=said) as caught:
            read_style(POSES.replace(old, new), "here.toml")
        assert "here.toml" in str(caught.value)

    def test_an_unknown_style(self):
        with pytest.raises(ValueError, match=r"no walking style 'moon'.*sneak"):
            load_style("moon")


class TestGains:
    def test_written_and_read(self):
        gains = load_gains(300.0)
        [(rate, read)] = read_gains(write_gains({300.0: gains}, "a test"), "here").items()
        assert rate == 300.0
        assert (read.stiffness, read.damping) == (gains.stiffness, gains.damping)
        assert read.feedback._asdict() == gains.feedback._asdict()
        assert set(gains.stiffness) == set(GROUPS)

    def test_each_rate_has_its_own_and_those_between_take_the_next_lower_ones(self):
        rates = (225.0, 300.0, 500.0, 1000.0, 2000.0)
        assert len({id(load_gains(rate)) for rate in rates}) == len(rates)
        for rate, like in ((100.0, 225.0), (299.0, 225.0), (750.0, 500.0), (5000.0, 2000.0)):
            assert load_gains(rate) is load_gains(like)

    @pytest.mark.parametrize("text", ["{}", "[]", "no", '{"rates": {"300": {"stiffness": {}}}}'])
    def test_no_table(self, text):
        with pytest.raises(ValueError, match="here"):
            read_gains(text, "here")


class TestBiped:
    def test_gait28(self):
        character = Character.preset("gait28")
        biped = make_biped(character, load_gains(300.0), character.neutral())
        names = [character.bodies[b].name for b in (biped.trunk[0], biped.head[0], *biped.foot, *biped.elbow)]
        assert names == ["trunk", "head", "left_foot", "right_foot", "left_lower_arm", "right_lower_arm"]
        np.testing.assert_allclose(biped.sole[0], [-0.075, 0.19, 0.045, 0.0692], atol=1e-12)
        # straight down: the neutral pose itself
        np.testing.assert_allclose(biped.upper_leg[0] + biped.lower_leg[0], [0.0208, -0.0494, -0.9074], atol=1e-12)

    def test_explicit_damping_is_what_a_step_can_bear(self):
        inverse = np.linalg.inv(mass_matrix(GAIT28, GAIT28.neutral()))
        freely, held = (
            make_biped(GAIT28, load_gains(300.0), GAIT28.neutral(), rate).damping for rate in (None, 1000.0)
        )
        ankle, elbow = 25, 15
        assert freely[ankle] * inverse[ankle, ankle] / 1000.0 > 2.0
        assert held[ankle] * inverse[ankle, ankle] / 1000.0 == pytest.approx(BEARABLE)
        assert held[elbow] == freely[elbow]

    @pytest.mark.parametrize("name", ["muico29", "jain42"])
    def test_other_people_can_walk_too(self, name):
        character = Character.preset(name)
        biped = make_biped(character, load_gains(300.0), character.neutral())
        assert (biped.stiffness[6:] > 0.0).all()

    @pytest.mark.parametrize(("name", "said"), [("gymnast2", "free root"), ("diver7", "left_thigh")])
    def test_who_cannot_walk_is_told_why(self, name, said):
        character = Character.preset(name)
        with pytest.raises(ValueError, match=said):
            make_biped(character, load_gains(300.0), character.neutral())


def lowest_corner(q):
    place, turn = body_poses(GAIT28, q)
    corners = [(GAIT28.index(shape.body), shape.position) for shape in GAIT28.contacts if isinstance(shape, Corner)]
    return min((place[b] + quaternions.rotate(turn[b], np.array(position)))[2] for b, position in corners)


def spread(left, right):
    """A character whose legs are turned outward at rest, with level feet."""
    bodies = []
    for body in MANNEQUIN.bodies:
        angle = left if body.name.startswith("left") else right
        sign = {"thigh": 1.0, "foot": -1.0}.get(body.name.split("_")[-1], 0.0)
        turn = quaternions.exp(np.array([sign * angle, 0.0, 0.0]))
        bodies.append(replace(body, orientation=tuple(quaternions.multiply(np.array(body.orientation), turn).tolist())))
    return Character("spread", tuple(bodies), MANNEQUIN.contacts)


class TestErect:
    def test_legs_that_are_spread_come_under_the_hips_and_feet_stay_turned_as_they_were(self):
        character = spread(0.35, -0.2)
        biped = make_biped(character, load_gains(300.0), character.neutral())
        pose = erect(character, biped.thigh, biped.foot)
        before, after = body_poses(character, character.neutral()), body_poses(character, pose)
        for thigh, foot in zip(biped.thigh, biped.foot, strict=True):
            assert np.linalg.norm((before[0][foot] - before[0][thigh])[:2]) > 0.1
            np.testing.assert_allclose(after[0][foot, :2], after[0][thigh, :2], atol=1e-9)
            assert quaternions.angle(after[1][foot], before[1][foot]) < 1e-9
        assert biped.apart == pytest.approx(
            make_biped(MANNEQUIN, load_gains(300.0), MANNEQUIN.neutral()).apart, abs=0.01
        )
        lowest = after[0][biped.foot, 2].min()
        assert lowest == pytest.approx(before[0][biped.foot, 2].min(), abs=1e-12)

    def test_legs_that_hang_straight_stay_as_they_are(self):
        biped = make_biped(GAIT28, load_gains(300.0), GAIT28.neutral())
        np.testing.assert_array_equal(erect(GAIT28, biped.thigh, biped.foot), GAIT28.neutral())


class TestStanding:
    def test_who_stands_on_both_feet_stays_as_it_is(self):
        pose = GAIT28.neutral()
        pose[19] = 0.4  # the left elbow
        np.testing.assert_array_equal(standing(GAIT28, make_biped(GAIT28, load_gains(300.0), pose), pose), pose)

    def test_who_leans_out_over_its_toes_stands_up(self):
        pose = MANNEQUIN.neutral()
        biped = make_biped(MANNEQUIN, load_gains(300.0), pose)
        for side in ("left", "right"):
            for name, angle in ((f"{side}_thigh", 0.25), (f"{side}_foot", -0.25)):
                start = MANNEQUIN.tree.position_start[MANNEQUIN.index(name)]
                pose[start : start + 4] = quaternions.exp(np.array([0.0, angle, 0.0]))
        ankle = body_poses(MANNEQUIN, pose)[0][biped.foot]
        ahead = quaternions.rotate(pose[3:7], np.array([1.0, 0.0, 0.0]))
        assert (center_of_mass(MANNEQUIN, pose) - ankle.mean(axis=0)) @ ahead > biped.sole[:, 1].min()
        np.testing.assert_allclose(standing(MANNEQUIN, biped, pose)[7:], MANNEQUIN.neutral()[7:], atol=1e-12)

    def test_who_strides_is_put_on_straight_legs_where_it_was(self):
        pose = GAIT28.neutral()
        pose[:7] = 3.0, -2.0, 0.9, *quaternions.exp(np.array([0.0, 0.1, 0.0]))
        for side, angle in (("left", -0.4), ("right", 0.3)):
            start = GAIT28.tree.position_start[GAIT28.index(f"{side}_thigh")]
            pose[start : start + 4] = quaternions.exp(np.array([0.0, angle, 0.0]))
        pose[19] = 0.4
        stood = standing(GAIT28, make_biped(GAIT28, load_gains(300.0), pose), pose)
        neutral = GAIT28.neutral()
        np.testing.assert_allclose(stood[:2], pose[:2])
        np.testing.assert_allclose(stood[3:7], (1.0, 0.0, 0.0, 0.0), atol=1e-12)
        assert stood[19] == 0.4
        thigh = GAIT28.tree.position_start[GAIT28.index("left_thigh")]
        np.testing.assert_array_equal(stood[thigh:], neutral[thigh:])
        assert lowest_corner(stood) == pytest.approx(lowest_corner(pose), abs=1e-9)
