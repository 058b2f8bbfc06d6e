# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that is lost falls with its hands out, lets go, and is watched to where it lies."""

import numpy as np
import pytest
from heft.core.batch.terrains import extruded, stairs
from heft.core.character import Character
from heft.core.character.strength import joint_strengths
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.falling import FAST, Falling
from heft.core.control.loop import AFTER_FALL, STILL, STRONGEST, TUMBLES, follow
from heft.core.control.method import Follower
from heft.core.control.stage import Stage
from heft.core.job import Scene
from heft.core.simulation import World, simulate
from heft.core.simulation.fall import LEANING, STRAYS, SUNK, height_of, lean
from heft.core.simulation.law import AffineLaw
from heft.core.simulation.own_contact import own_pairs
from heft.core.simulation.strength import TorqueLimits

CHARACTER = Character.preset("muico29")
RATE = 120.0


@pytest.mark.parametrize("speed", [100.0, 300.0])
@pytest.mark.parametrize("joint", [10, 20])
def test_a_limb_that_whirls_comes_to_rest_and_lies(joint, speed):
    """Whatever its controller has done to it: an explicit integrator alone would blow such speeds up."""
    world = World(CHARACTER, rate=RATE)
    v = np.zeros(CHARACTER.nv)
    v[joint] = speed
    world.reset(CHARACTER.neutral(), v)
    recording = simulate(world, Falling(CHARACTER), seconds=3.0)
    assert recording.outcome == "completed"
    joints = np.abs(recording.v[:, 6:]).max(axis=1)
    assert joints[round(0.15 * RATE) :].max() < 2.0 * FAST
    assert np.abs(recording.v[-1]).max() < 3.0
    assert recording.q[-1, 2] < 0.5


WAYS = {"ahead": (1.0, 0.0), "back": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}


@pytest.mark.parametrize("way", WAYS)
def test_it_falls_on_its_hands_and_lies(way):
    """From standing, tipped over: no limb sinks in, no joint gives more than it has, all is still after two seconds."""
    character = Character.preset("jain42")
    limits = TorqueLimits(joint_strengths(character, "male"))
    world = World(character, rate=RATE, torque_limits=limits)
    v = np.zeros(character.nv)
    x, y = WAYS[way]
    v[:2], v[3:5] = (0.5 * x, 0.5 * y), (-1.5 * y, 1.5 * x)
    world.reset(character.neutral(), v)
    recording = simulate(world, Falling(character), seconds=3.0)
    names = [body.name for body in character.bodies]
    first = {}
    for step in range(recording.steps):
        for body, wrench in zip(names, recording.wrench[step], strict=True):
            if np.linalg.norm(wrench[:3]) > 20.0:
                first.setdefault(body, step)
    arms = min(first.get(f"{side}_{part}", 999) for side in ("left", "right") for part in ("hand", "forearm"))
    assert arms < first.get("head", 1000)
    assert recording.contact_gap.min() > -0.01
    assert np.abs(recording.v[-round(0.1 * RATE) :]).max() < 0.3
    torque = np.concatenate((np.zeros((recording.steps, 6)), recording.torque), axis=1)
    for b, body in enumerate(character.bodies):
        if body.joint.name in limits.most:
            own = torque[:, character.tree.velocity_body == b]
            assert np.linalg.norm(own, axis=1).max() <= limits.most[body.joint.name]


class Raging(Follower):
    """After a first step it is to be a metre higher, and asks for far more torque than any body has."""

    lap = 0

    def __init__(self, ahead: float = 0.0) -> None:
        self._steps, self._ahead = 0, ahead

    @property
    def row(self):
        return 0

    def reference_state(self):
        q = CHARACTER.neutral()
        q[2] += 0.0 if self._steps == 0 else 1.0
        v = np.zeros(CHARACTER.nv)
        v[0] = self._ahead
        return q, v

    def law(self, _state, _contacts):
        torque = 0.0 if self._steps == 0 else 2.0 * STRONGEST * CHARACTER.total_mass
        self._steps += 1
        return AffineLaw(np.full(CHARACTER.nv - 6, torque))


def test_it_is_watched_to_the_ground_whatever_its_controller_asks_for():
    stage = Stage(CHARACTER, make_terrain([Plane()]), Scene(), RATE, 4.0, 0.0)
    simulation = follow(Raging(), stage.world(), stage, lambda *_: True)
    assert simulation.lost == 1
    assert simulation.recording.steps == simulation.lost + round(AFTER_FALL * RATE)
    assert np.abs(simulation.recording.v).max() < 3.0 * FAST
    assert simulation.recording.q[-1, 2] < 0.5


def test_who_tumbles_down_stairs_is_watched_until_it_lies():
    """It was left in the air, on its way from one step to the next, two seconds after it had begun to fall."""
    ground = extruded(stairs(0.3, -0.2, 0.2, 40), np.zeros(2), 0.0, 1.0)
    stage = Stage(CHARACTER, make_terrain([ground]), Scene(), RATE, 8.0, 0.0)
    world = stage.world()
    simulation = follow(Raging(ahead=5.0), world, stage, lambda *_: True)
    watched = (simulation.recording.steps - simulation.lost) / RATE
    assert AFTER_FALL < watched < TUMBLES
    speed = np.abs(simulation.recording.v).max(axis=1)
    assert speed[-1] < STILL
    assert speed[simulation.lost + round(AFTER_FALL * RATE) - 1] > STILL


class Limp(Raging):
    """It is to stand, and does nothing for it."""

    def law(self, _state, _contacts):
        return AffineLaw(np.zeros(CHARACTER.nv - 6))

    def reference_state(self):
        return CHARACTER.neutral(), np.zeros(CHARACTER.nv)


def test_limbs_meet_from_when_it_strays_and_not_from_when_it_is_lost():
    """Nobody pushes it; half-way to the fall limbs were in each other."""
    inside = np.zeros(len(own_pairs(CHARACTER)))
    stage = Stage(CHARACTER, make_terrain([Plane()]), Scene(), RATE, 4.0, 0.0, inside=inside)
    world, heeds = stage.world(), []

    def watch(*_):
        heeds.append(world.heeds_itself)
        return True

    simulation = follow(Limp(), world, stage, watch)
    assert not heeds[0]
    begins = heeds.index(True)
    assert 0 < begins < simulation.lost
    wanted = CHARACTER.neutral()
    strays = [
        max(abs(q[2] - wanted[2]) / (SUNK * height_of(CHARACTER)), lean(q, wanted) / LEANING)
        for q in simulation.recording.q
    ]
    assert strays[begins] > STRAYS
    assert max(strays[:begins]) <= STRAYS
