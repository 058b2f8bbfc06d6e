# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans under a push that goes on: what it still gives, a motion that is possible with it, and gains that reckon so."""

import math
from dataclasses import replace

import numpy as np
import pytest
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.choices import CHOICES
from heft.core.control.recovery.detour import Detour
from heft.core.control.recovery.plan import make_plan
from heft.core.control.recovery.pushing import Pushing, outside
from heft.core.control.stage import Stage
from heft.core.simulation import Push
from heft.core.simulation.pushes import make_pushes, mean_force
from heft.core.simulation.scene import Scene

NEWTONS, SECONDS = 40.0, 0.3
SEEN = 0.1  # s after its beginning, when it is answered


@pytest.fixture(scope="module")
def controller(walk_on_corners):
    track = Track.of(walk_on_corners)
    settings = Settings(rehearsals=0)
    return LookAhead(walk_on_corners.character, track, settings, terrain=make_terrain([Plane()]))


def test_mean_forces_are_those_of_steps(rng):
    push = Push("torso", rng.normal(size=(7, 3)), 31.0, 0.4)
    begin, dt, steps = 0.33, 1.0 / 120.0, 60
    arrays = make_pushes([push], {"torso": 0})
    expected = [mean_force(arrays, 0, begin + k * dt, begin + (k + 1) * dt) for k in range(steps)]
    np.testing.assert_allclose(push.mean_forces(begin, dt, steps), expected, atol=1e-12)


def test_what_is_to_come_counts_less_the_later_it_comes():
    """A constant force F until T moves a pendulum's deviation, seen from now, by F (1 - exp(-omega T)) / omega."""
    push, omega = Push.constant("torso", (40.0, -30.0, 5.0), 1.0, 0.8), 3.3
    found = Pushing([push]).to_come(1.2, 1.0 / 1200.0, omega)
    np.testing.assert_allclose(found, np.array([40.0, -30.0]) * (1.0 - math.exp(-omega * 0.6)) / omega, rtol=1e-5)
    np.testing.assert_array_equal(Pushing([push]).to_come(1.9, 1.0 / 1200.0, omega), 0.0)


@pytest.fixture
def pushed(controller, walk_on_corners):
    """The walk after a lap, a tenth of a second into a push to its left: its world, and who plans for it."""
    x, y = controller.track.cycle.shift
    aside = math.atan2(y, x) + 0.5 * math.pi
    start = len(controller.track.q) * controller.track.dt
    force = (NEWTONS * math.cos(aside), NEWTONS * math.sin(aside), 0.0)
    scene = Scene(pushes=(Push.constant("torso", force, start, SECONDS),))
    rate = 1.0 / controller.track.dt
    stage = Stage(controller.character, controller.terrain, scene, rate, 6.0, 0.0, recovery=6)
    controller.seek()
    world = stage.world()
    world.reset(*controller.reference_state())
    while world.time < start + SEEN:
        world.step(controller)
    return world, Recovering(controller, walk_on_corners, stage)


def test_plan_reckons_with_a_push_that_goes_on(controller, pushed):
    """All the while it acts the body moves as planned; a plan that knows nothing of it is overtaken."""
    world, follower = pushed
    question = follower._question(world)
    (push,) = question.pushes
    assert push.force[0] @ push.force[0] == pytest.approx(NEWTONS**2)
    known = outside(controller.character, question.pushes, world.time, world.dt, 60)
    lasting = round((push.start + SECONDS - world.time) / world.dt)
    np.testing.assert_allclose(
        np.linalg.norm(known.force[:, 0], axis=1), [NEWTONS] * lasting + [0.0] * (60 - lasting), atol=1e-9
    )
    state, off = world.save_state(), []
    for asked in (question, replace(question, pushes=())):
        plan = make_plan(asked, CHOICES[0], lambda: True)
        detour = Detour(controller, plan)
        world.load_state(state)
        for _ in range(lasting):
            world.step(detour)
        off.append(np.linalg.norm(world.v[:3] - detour.reference_state()[1][:3]))
    assert off[0] < 0.01
    assert off[1] > 0.05


def test_push_on_a_prop_is_none_of_the_body(controller):
    assert outside(controller.character, [Push.constant("ball", (50.0, 0.0, 0.0), 0.0, 1.0)], 0.2, 0.01, 10) is None
