# SPDX-License-Identifier: GPL-3.0-or-later
"""The law against what is known of it, and walks."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.control.gait import STYLES, Gait, Settings
from heft.core.dynamics import bias_force, body_poses
from heft.core.motion import quaternions
from heft.core.motion.body_plan import make_body_plan
from heft.core.simulation import Course, Push, World

from tests.core.motion.skeletons import wooden, wooden_roles

GAIT28 = Character.preset("gait28")
UP = np.array([0.0, 0.0, 1.0])
LEGS = [GAIT28.index(f"{side}_thigh") for side in ("left", "right")]


def first_law(q=None, v=None, **settings):
    """The law at the first step, and what it was made of."""
    world = World(GAIT28, rate=300.0)
    world.reset(q, v)
    gait = Gait(GAIT28, Course(), 300.0, Settings(**settings))
    contacts = world.begin_step()
    return gait, gait.law(world.state(), contacts), world


def walked(course, seconds, rate=300.0, settings=None):
    world = World(GAIT28, rate=rate)
    gait = Gait(GAIT28, course, rate, settings)
    world.reset(*gait.reference_state())
    places = []
    for _ in range(round(seconds * rate)):
        world.step(gait)
        places.append(world.q[:3])
    return np.array(places), gait, world


class TestLaw:
    def test_joints_off_the_standing_leg_hold_up_what_hangs_from_them(self):
        gait, _, world = first_law()
        still = bias_force(GAIT28, world.state().q_next, np.zeros(GAIT28.nv))
        off = [i for i in range(6, GAIT28.nv) if not 20 <= i < 27]
        held = gait._scratch.torque - gait._scratch.pd
        np.testing.assert_allclose(held[off], still[off], atol=1e-9)

    def test_pd_looks_at_the_steps_end(self):
        moving = np.zeros(GAIT28.nv)
        moving[15] = 0.7  # the left elbow
        gait, law, world = first_law(v=moving)
        h, kp, kd = 1.0 / 300.0, gait.biped.stiffness[15], gait.biped.damping[15]
        lacks = gait._scratch.goal[19] - world.state().q_next[19]
        assert gait._scratch.pd[15] == pytest.approx(kp * (lacks - h * 0.7) - kd * 0.7, rel=1e-12)
        assert law.implicit[15 - 6] == pytest.approx(h * kd + h * h * kp, rel=1e-12)
        explicit = first_law(v=moving, implicit=False)[1]
        assert not explicit.implicit.any()

    def test_the_standing_hip_takes_over_what_else_turns_the_pelvis(self):
        # march keeps the pelvis level, and nothing moves: what is left over on it holds up all that the leg carries
        _, law, _ = first_law(style="march")
        turn = body_poses(GAIT28, GAIT28.neutral())[1]
        torque = np.concatenate((np.zeros(6), law.torque))
        on_pelvis = -sum(
            quaternions.rotate(turn[b], torque[k : k + 3])
            for b, k in ((GAIT28.index("trunk"), 6), (LEGS[0], 20), (LEGS[1], 27))
        )
        place = body_poses(GAIT28, GAIT28.neutral())[0]
        leg = {GAIT28.index(f"left_{part}") for part in ("thigh", "shin", "foot", "toes")}
        held = np.zeros(3)
        for b, body in enumerate(GAIT28.bodies):
            if b not in leg:
                arm = place[b] + quaternions.rotate(turn[b], np.array(body.center_of_mass)) - place[LEGS[0]]
                held += body.mass * 9.81 * np.cross(arm, UP)
        np.testing.assert_allclose(on_pelvis, held, atol=1e-9)
        assert abs(held[0]) > 50.0
        assert np.abs(torque[20:23]).max() > 1.0


class TestWalks:
    @pytest.mark.parametrize("rate", [225.0, 300.0, 500.0, 1000.0])
    def test_ahead_with_the_wanted_speed(self, rate):
        places, gait, _ = walked(Course.straight(0.7), 12.0, rate)
        way = places[-1] - places[round(6.0 * rate)]
        assert way[0] / 6.0 == pytest.approx(0.7, abs=0.07)
        assert places[:, 2].min() > 0.85
        assert gait.steps > 16

    @pytest.mark.parametrize("rate", [1000.0, 300.0])
    def test_explicit_as_the_paper_has_it(self, rate):
        # at 2000 Hz the damping of a free foot alone, 10 N m s/rad on 0.002 kg m², would be 2.5 of the 2 that diverge
        places, _, _ = walked(Course.straight(0.7), 5.0, rate, Settings(implicit=False))
        assert places[-1, 0] > 2.0
        assert places[:, 2].min() > 0.85

    def test_sideways_to_and_fro(self):
        time = 2.75 * np.repeat(np.arange(5), 2)[1:]
        left = np.repeat([0.0, 0.2, -0.2, 0.0, 0.2], 2)[:-1]
        places, _, _ = walked(Course(time, np.full(9, 0.7), left, np.zeros(9)), 14.0)
        assert places[:, 2].min() > 0.85
        # two steps after the command has turned to the right
        assert (places[round(8.25 * 300), 1] - places[round(6.6 * 300), 1]) / 1.65 < -0.1

    @pytest.mark.parametrize(("force", "at"), [(300.0, 5.4), (-300.0, 5.0)])
    def test_a_push_out_over_the_standing_foot(self, force, at):
        # feet that must not cross could not catch it
        push = Push("trunk", np.tile([0.0, force, 0.0], (2, 1)), rate=10.0, start=at)
        world = World(GAIT28, rate=300.0, pushes=[push])
        gait = Gait(GAIT28, Course.straight(0.7), 300.0)
        world.reset(*gait.reference_state())
        height = []
        for _ in range(2400):
            world.step(gait)
            height.append(world.q[2])
        assert min(height) > 0.8

    @pytest.mark.parametrize("degrees", [45.0, -115.0])
    def test_a_turn(self, degrees):
        course = Course(np.array([4.0, 4.0]), np.full(2, 0.7), np.zeros(2), np.radians([0.0, degrees]))
        places, _, _ = walked(course, 12.0)
        way = places[-1] - places[-900]
        assert np.degrees(np.arctan2(way[1], way[0])) == pytest.approx(degrees, abs=8.0)

    def test_a_foot_that_leaves_rolls_over_its_tip(self):
        """Toes on the ground were thrust back by 23 mm as each step began."""
        world = World(GAIT28, rate=300.0)
        gait = Gait(GAIT28, Course.straight(0.7), 300.0)
        world.reset(*gait.reference_state())
        toes, tip = GAIT28.index("left_toes"), np.array([0.065, 0.0, -0.015])
        slides, slid, before = [], 0.0, None
        for _ in range(2400):
            world.step(gait)
            position, turn = world.poses()
            place = position[toes] + quaternions.rotate(turn[toes], tip)
            if place[2] > 1e-3:
                slides, slid, before = [*slides, slid], 0.0, None
                continue
            slid += 0.0 if before is None else float(np.linalg.norm((place - before)[:2]))
            before = place
        steps = np.array([slide for slide in slides[1:] if slide > 0.0])
        assert len(steps) > 4
        assert steps.max() < 0.015

    @pytest.mark.parametrize("style", STYLES)
    def test_every_style(self, style):
        places, _, _ = walked(Course.straight(0.6), 8.0, settings=Settings(style=style))
        assert places[-1, 0] > 2.5
        assert places[:, 2].min() > 0.75

    @pytest.mark.parametrize("name", ["muico29", "jain42"])
    def test_others_walk_with_the_same_gains(self, name):
        character = Character.preset(name)
        world = World(character, rate=300.0)
        gait = Gait(character, Course.straight(0.6), 300.0)
        gait.begin(first=1)
        world.reset(*gait.reference_state())
        for _ in range(1800):
            world.step(gait)
        assert world.q[0] > 2.0
        assert world.q[2] > 0.9 * character.neutral()[2]

    @pytest.mark.parametrize("style", STYLES)
    def test_the_planar_walker(self, style):
        character = Character.preset("simbicon2d")
        world = World(character, rate=300.0)
        gait = Gait(character, Course.straight(0.6), 300.0, Settings(style=style))
        world.reset(*gait.reference_state())
        for _ in range(4500):
            world.step(gait)
        assert 0.5 < world.q[0] / 15.0 < 0.8
        assert world.q[2] > 0.8 * character.neutral()[2]

    def test_the_same_bits_after_a_reset(self):
        _, gait, world = walked(Course.straight(0.7), 3.0)
        once = world.q
        gait.begin()
        world.reset(*gait.reference_state())
        for _ in range(900):
            world.step(gait)
        np.testing.assert_array_equal(world.q, once)

    def test_it_walks_where_it_faces_at_the_start(self):
        start = GAIT28.neutral()
        start[3:7] = np.cos(0.5), 0.0, 0.0, np.sin(0.5)
        world = World(GAIT28, rate=300.0)
        gait = Gait(GAIT28, Course.straight(0.7), 300.0, start=start)
        world.reset(*gait.reference_state())
        for _ in range(2400):
            world.step(gait)
        way = world.q - start
        assert np.arctan2(way[1], way[0]) == pytest.approx(1.0, abs=0.15)

    @pytest.mark.parametrize("first", [0, 1])
    def test_a_fitted_mannequin_caught_in_mid_stride(self, first):
        character = make_body_plan(wooden(), wooden_roles()).character
        start = character.neutral()
        for side, angle in (("left", -0.4), ("right", 0.3)):
            k = character.tree.position_start[character.index(f"{side}_thigh")]
            start[k : k + 4] = quaternions.exp(np.array([0.0, angle, 0.0]))
        world = World(character, rate=300.0)
        gait = Gait(character, Course.straight(0.7), 300.0, start=start)
        gait.begin(first)
        world.reset(*gait.reference_state())
        for _ in range(2400):
            world.step(gait)
        assert world.q[1] < -4.0  # it faces -Y
        assert world.q[2] > 0.9 * character.neutral()[2]
