# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference goes along with what the character stands on, and feet turn as the reference has them turn."""

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, RigidMotion
from heft.core.control.balance import Balance
from heft.core.control.balance.riding import LAG
from heft.core.control.track import Track
from heft.core.dynamics import difference
from heft.core.simulation import Prop, World
from heft.core.simulation.props import Hinge

from tests.core.control.replanning.tracks import held, soles

RATE = 120.0
FLOOR = np.array([(-20.0, -5.0, 0.0), (40.0, -5.0, 0.0), (40.0, 5.0, 0.0), (-20.0, 5.0, 0.0)])


def moving_floor(velocity, begin, until, seconds):
    """Takes up the velocity between two times."""
    time = np.arange(round(seconds * RATE)) / RATE
    places = np.cumsum(np.interp(time, (begin, until), (0.0, 1.0)))[:, None] / RATE * np.array(velocity)
    motion = RigidMotion(places, np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1)), RATE)
    return Mesh(FLOOR, np.array([(0, 1, 2), (0, 2, 3)]), motion=motion), places


@pytest.mark.parametrize("velocity", [(0.3, 0.0, 0.0), (0.0, 0.0, 0.3)])
def test_a_walk_rides_on_a_platform(walk_on_corners, velocity):
    character, track = walk_on_corners.character, Track.of(walk_on_corners)
    floor, places = moving_floor(velocity, 0.5, 1.5, 5.0)
    controller, world = Balance(character, track), World(character, [floor])
    world.reset(*controller.reference_state())
    for _ in range(480):
        world.step(controller)
    q, v = controller.reference_state()
    error = difference(character, q, world.q)
    own = Balance(character, track)
    own.seek(controller.row)
    assert np.linalg.norm(error[:3]) < 0.03
    # a lag of first order stays behind by its time
    carried = q[:3] - track.pose(character, controller.frame)[:3]
    np.testing.assert_allclose(carried, places[480] - LAG * np.array(velocity) * [1.0, 1.0, 0.0], atol=0.01)
    np.testing.assert_allclose((v - own.reference_state()[1])[:3], velocity, atol=0.01)
    controller.seek()
    np.testing.assert_array_equal(controller.reference_state()[0], track.q[0])


def test_standing_on_a_plank_that_tips_is_no_fall(muico29):
    """A prop on a hinge: its point's velocity counts, and the height that it has there."""
    points = [(corner.body, corner.position) for corner in soles(muico29)]
    track = held(muico29, [muico29.neutral()] * 10, points)
    plank = Prop.box("plank", (0.8, 0.6, 0.02), 30.0, (-0.03, 0.0, 0.3), hinge=Hinge((0.0, 1.0, 0.0)))
    controller, world = Balance(muico29, track), World(muico29, props=[plank])
    controller.seek(lift=0.32)
    world.reset(*controller.reference_state())
    for _ in range(24):
        world.step(controller)
    tipped = np.degrees(world.system_q[-1])
    assert abs(tipped) > 0.2  # nothing but the feet could hold it
    q, _ = controller.reference_state()
    assert abs(difference(muico29, q, world.q)[2]) < 0.02
    assert world.contacts.force[:, 2].sum() > 100.0


def test_a_foot_turns_about_its_toe_as_the_reference_has_it(muico29):
    """Loaded by a point between two corners, which go around it: they are not held, nor is what lies still."""
    toe = sorted((corner.position for corner in soles(muico29) if corner.body == "left_foot"), reverse=True)[:2]
    middle = tuple(np.mean(toe, axis=0))
    still = muico29.neutral()
    poses = [still.copy() for _ in range(10)]
    for k, q in enumerate(poses):
        q[3:7] = (np.cos(0.005 * k), 0.0, 0.0, np.sin(0.005 * k))
    track = held(muico29, poses, [("left_foot", middle)])
    policy = Balance(muico29, track).policy
    radii = policy.place[4, :, :2] - policy.place[4, :, :2].mean(axis=0)
    around = policy.glide[4, :, :2] - policy.glide[4, :, :2].mean(axis=0)
    np.testing.assert_allclose(around, 0.01 * RATE * np.column_stack([-radii[:, 1], radii[:, 0]]), atol=2e-3)
    np.testing.assert_array_equal(policy.glide[..., 2], 0.0)
    np.testing.assert_array_equal(
        Balance(muico29, held(muico29, [still] * 10, [("left_foot", middle)])).policy.glide, 0
    )
