# SPDX-License-Identifier: GPL-3.0-or-later
"""The stabiliser: what it foresees against what happens, what it costs the sides of a sole, what it leaves alone."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.control.gait import Gait, Settings
from heft.core.control.gait.biped import make_biped
from heft.core.control.gait.gains import load_gains
from heft.core.control.gait.prediction import CORRECTED, LACKING, LAWS, TRIED
from heft.core.control.gait.reduced import MODELS, reduce, removed_bodies
from heft.core.control.gait.sole import ACCEPTED, LIFTED, LIMIT, SLACKER, UNBALANCED, cost, quality
from heft.core.control.gait.stabiliser import Stabiliser
from heft.core.simulation import Course, World

from tests.core.control.gait.soles import Soles

GAIT28 = Character.preset("gait28")
BIPED = make_biped(GAIT28, load_gains(300.0), GAIT28.neutral())
FIRST = 60  # steps of time until the walk is on one leg


class Watched:
    """A walk, what models foresee of each of its steps, and what came of them."""

    def __init__(self, models=(), **settings):
        self.world = World(GAIT28, rate=300.0)
        course = Course(forward=np.full(1, 0.7), left=np.full(1, 0.4))  # ahead alone little is to be corrected
        self.gait = Gait(GAIT28, course, 300.0, Settings(**settings))
        self.stabilisers = {model: Stabiliser(GAIT28, self.gait.biped, model) for model in models}
        self.foreseen = {model: [] for model in models}
        self.found = []
        self.soles = Soles(GAIT28, self.gait)
        self.world.reset(*self.gait.reference_state())

    def law(self, state, contacts):
        stance = self.gait.stance
        law = self.gait.law(state, contacts)
        work = self.gait._scratch
        for model, stabiliser in self.stabilisers.items():
            shares = stabiliser.predict(state, contacts, stance, work.torque, work.implicit)
            self.foreseen[model].append(shares)
        return law

    def walk(self, steps):
        for _ in range(steps):
            stance = self.gait.stance
            self.world.step(self)
            self.found.append(self.soles.shares(self.world, stance))
        return self


def forces(shares):
    """Of the four sides, of the weight."""
    shares = np.array(shares)
    return shares[..., :4] * shares[..., 4:]


def difference(shares, others):
    """Force that lies elsewhere, of all."""
    return 0.5 * np.abs(forces(shares) - forces(others)).sum() / np.array(others)[:, 4].sum()


@pytest.fixture(scope="module")
def watched():
    return Watched(MODELS).walk(450)


class TestForesight:
    def test_the_whole_model_foresees_what_then_happens(self, watched):
        np.testing.assert_allclose(watched.foreseen["M0"], watched.found, atol=1e-9)

    def test_also_with_what_the_stabiliser_adds(self):
        watched = Watched(["M0"], stabiliser=True).walk(450)
        assert watched.gait.stabiliser.counts[CORRECTED] > 5
        np.testing.assert_allclose(watched.foreseen["M0"], watched.found, atol=1e-7)

    @pytest.mark.parametrize(("model", "most"), [("M1", 0.015), ("M2", 0.03), ("M3", 0.15), ("M4", 0.3), ("M5", 0.15)])
    def test_what_is_taken_off_is_missed_a_little(self, watched, model, most):
        error = difference(watched.foreseen[model][FIRST:], watched.found[FIRST:])
        assert 1e-4 < error < most

    def test_the_sixth_is_the_third_on_two_feet_and_the_fourth_on_one(self, watched):
        third, fourth, sixth = (np.array(watched.foreseen[model]) for model in ("M3", "M4", "M6"))
        # friction remembers where it held, and each remembers for itself
        like = [np.abs(sixth - other).max(axis=1) < 0.05 for other in (third, fourth)]
        assert (like[0] | like[1]).mean() > 0.9
        assert min(like[0].mean(), like[1].mean()) > 0.02

    def test_without_a_correction_nothing_changes(self, watched):
        other = Watched().walk(450)
        np.testing.assert_array_equal(other.world.q, watched.world.q)


class TestCorrections:
    def test_only_where_a_side_lacks_force_and_then_it_does_not(self):
        plain = Watched(["M0"], stabiliser=True)
        plain.gait.stabiliser = None  # its ankles keep to the same bounds
        stabilised = Watched(stabiliser=True)
        kept = corrected = 0
        for _ in range(450):
            stance, before = plain.gait.stance, stabilised.gait.stabiliser.counts.copy()
            plain.walk(1)
            stabilised.walk(1)
            lacking = quality(plain.foreseen["M0"][-1], SLACKER * LIMIT) >= UNBALANCED
            done = stabilised.gait.stabiliser.counts - before
            assert done[LAWS] == 1
            assert done[LACKING] == lacking
            if done[CORRECTED]:
                corrected += 1
                assert cost(stabilised.found[-1], plain.foreseen["M0"][-1], LIMIT) < ACCEPTED
                assert done[TRIED] % 7 == 0
                assert done[TRIED] <= 50
            else:
                kept += 1
                np.testing.assert_array_equal(stabilised.world.torque, plain.world.torque)
            # both go on from the same state
            stabilised.world.load_state(plain.world.save_state())
            assert stabilised.gait.stance == plain.gait.stance or stance != plain.gait.stance
        assert corrected > 5
        assert kept > 100

    def test_the_wanted_share_is_a_setting(self):
        counts = [Watched(stabiliser=True, share=share).walk(300).gait.stabiliser.counts for share in (0.03, 0.25)]
        assert counts[0][LACKING] < counts[1][LACKING]

    def test_the_same_bits_again(self):
        once = Watched(stabiliser=True).walk(450)
        again = Watched(stabiliser=True).walk(450)
        np.testing.assert_array_equal(once.world.q, again.world.q)
        first = again.world.q
        again.gait.begin()
        again.world.reset(*again.gait.reference_state())
        again.walk(450)
        np.testing.assert_array_equal(again.world.q, first)

    def test_who_has_nothing_under_the_sole_is_left_alone(self):
        world, gait = World(GAIT28, rate=300.0), Gait(GAIT28, Course(), 300.0, Settings(stabiliser=True))
        q = GAIT28.neutral()
        q[2] += 1.0
        world.reset(q)
        world.step(gait)
        assert gait.stabiliser.counts[:3].tolist() == [1, 1, 0]


class TestSole:
    def test_balanced(self):
        assert quality((0.5, 0.5, 0.5, 0.5, 1.0), LIMIT) == 0.0
        assert quality((LIMIT, 1.0 - LIMIT, 0.5, 0.5, 1.0), LIMIT) == 0.0

    def test_one_side_without_force(self):
        assert quality((0.0, 1.0, 0.5, 0.5, 1.0), LIMIT) == pytest.approx(22.5)
        assert quality((0.0, 1.0, 0.0, 1.0, 1.0), LIMIT) == pytest.approx(45.0)

    def test_a_lifted_sole_is_worse_than_any_and_the_worse_the_less_it_bears(self):
        worst = quality((0.0, 1.0, 0.0, 1.0, 1.0), LIMIT)
        at_the_border = quality((0.5, 0.5, 0.5, 0.5, LIFTED * (1.0 - 1e-12)), LIMIT)
        assert at_the_border == pytest.approx(1e4, rel=1e-6)
        assert worst < at_the_border < quality((0.5, 0.5, 0.5, 0.5, 0.5 * LIFTED), LIMIT)

    def test_equation_1_and_3(self):
        initial, shares = (0.05, 0.95, 0.6, 0.4, 1.0), (0.14, 0.86, 0.5, 0.5, 1.0)
        distance = (0.15 - 0.14) ** 2 + (0.95 - 0.86) ** 2 + (0.6 - 0.5) ** 2
        assert cost(shares, initial, LIMIT) == pytest.approx(10.0 * 1000.0 * 0.01**2 + distance)


class TestReduced:
    @pytest.mark.parametrize(
        ("model", "left"), [("M0", 34), ("M1", 26), ("M2", 23), ("M3", 20), ("M4", 13), ("M5", 16)]
    )
    def test_velocities_that_are_left(self, model, left):
        smaller, mirror = reduce(GAIT28, removed_bodies(model, GAIT28, BIPED, 1))
        assert smaller.nv == len(mirror.velocity) == left
        assert smaller.nq == len(mirror.position)
        names = [GAIT28.bodies[b].name for b in mirror.body]
        assert names == [body.name for body in smaller.bodies]

    def test_a_swinging_leg(self):
        right = reduce(GAIT28, removed_bodies("M4", GAIT28, BIPED, 1))[0]
        left = reduce(GAIT28, removed_bodies("M4", GAIT28, BIPED, 0))[0]
        assert {body.name for body in right.bodies} == {"pelvis", "left_thigh", "left_shin", "left_foot", "left_toes"}
        assert "right_foot" in {body.name for body in left.bodies}

    @pytest.mark.parametrize("share", [0.0, 0.5, np.nan])
    def test_a_share_that_no_two_sides_can_have(self, share):
        with pytest.raises(ValueError, match="'share' of gait control must be at"):
            Settings(share=share).checked()

    def test_an_unknown_model(self):
        with pytest.raises(ValueError, match=r"must be one of M0, .* not 'M7'"):
            Settings(prediction="M7").checked()
