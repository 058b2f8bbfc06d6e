# SPDX-License-Identifier: GPL-3.0-or-later
"""A forecast against the step that follows."""

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.maths.kernel import allocating_kernel
from heft.core.simulation import AffineLaw, Grab, World
from heft.core.simulation.forecast import add_joint, begin, make_forecast, with_extra

GAIT28 = Character.preset("gait28")
KNEE, PITCH, ROLL = 23, 24, 25  # of the left leg


@allocating_kernel
def foresee(machine, forecast, velocities):
    """Under the law and the extra torques."""
    known = begin(machine, forecast)
    for j in range(len(velocities)):
        add_joint(machine, forecast, j, velocities[j])
    return known and with_extra(machine, forecast)


@allocating_kernel
def foresee_law(machine, forecast):
    return begin(machine, forecast)


def standing(seed, **options):
    """In the middle of a fall onto both feet, joints held by a stable PD."""
    world, random = World(GAIT28, rate=300.0, **options), np.random.default_rng(seed)
    law = AffineLaw(random.normal(scale=5.0, size=28), implicit=np.full(28, 0.5))
    world.reset(GAIT28.neutral(), random.normal(scale=0.1, size=GAIT28.nv))
    for _ in range(12):
        world.step(law)
    world.begin_step()
    return world, law


def forecast_of(world, law):
    system = world.system
    unknowns = len(world._scratch.vector)
    forecast = make_forecast(len(world._memory.v), len(world._scratch.contacts.gap), unknowns, 3)
    first, last = system.motors
    forecast.torque[first:last] = law.torque
    forecast.implicit[first:last] = law.implicit
    return forecast


def normal_forces(world):
    return np.sum(world.contacts.force * world.contacts.normal, axis=1)


class TestForecast:
    @pytest.mark.parametrize("seed", range(4))
    def test_it_is_what_the_step_then_finds_to_the_bit(self, seed):
        world, law = standing(seed)
        twin = world.copy()
        twin.begin_step()
        forecast = forecast_of(world, law)
        assert foresee_law(world.state().machine, forecast)
        foreseen = forecast.normal.copy()
        world.solve(law)
        twin.solve(law)
        np.testing.assert_array_equal(foreseen[: len(world.contacts.key)], normal_forces(world))
        np.testing.assert_array_equal(world.v, twin.v)  # and having asked changes nothing
        assert foreseen.sum() > 100.0

    @pytest.mark.parametrize("seed", range(4))
    def test_with_more_torque_it_is_what_a_step_with_that_law_finds(self, seed):
        world, law = standing(seed)
        forecast = forecast_of(world, law)
        forecast.extra[:] = 40.0, -15.0, 6.0
        velocities = (KNEE, PITCH, ROLL)
        assert foresee(world.state().machine, forecast, velocities)
        more = law.torque.copy()
        more[np.array(velocities) - 6] += forecast.extra
        world.solve(AffineLaw(more, implicit=law.implicit))
        found = normal_forces(world)
        # four corners of a sole share its force as they like: what they do to it together is one
        for moment in (np.ones(len(found)), world.contacts.point[:, 0], world.contacts.point[:, 1]):
            foreseen = moment @ forecast.normal[: len(found)]
            assert foreseen == pytest.approx(moment @ found, abs=1e-7 * found.sum())

    def test_with_a_held_hand(self):
        world, law = standing(1, grabs=[Grab("left_hand")])
        forecast = forecast_of(world, law)
        forecast.extra[:] = 40.0, -15.0, 6.0
        velocities = (KNEE, PITCH, ROLL)
        assert foresee(world.state().machine, forecast, velocities)
        more = law.torque.copy()
        more[np.array(velocities) - 6] += forecast.extra
        world.solve(AffineLaw(more, implicit=law.implicit))
        found = normal_forces(world)
        assert forecast.normal[: len(found)].sum() == pytest.approx(found.sum(), rel=1e-7)
        assert np.abs(world.grab_forces).max() > 1.0

    def test_what_must_not_be_a_number_has_no_forecast(self):
        world, law = standing(0)
        forecast = forecast_of(world, law)
        forecast.torque[KNEE] = np.nan
        assert not foresee_law(world.state().machine, forecast)
