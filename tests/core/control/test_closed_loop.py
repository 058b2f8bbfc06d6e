# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that stand and walk in the simulator, unperturbed, pushed, and started off their reference."""

import numpy as np
import pytest
from heft.core.contact.terrain import Mesh, Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.height import next_landings, point_places
from heft.core.dynamics import difference
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import OtherGround
from heft.core.motion.make_reference import make_reference as reference_on
from heft.core.simulation import World

from tests.core.motion.spacetime import motions


def follow(world, controller, seconds, push=None):
    """Root's distance from the reference (m) and the joints' (degrees, RMS) at every step."""
    root, joints = [], []
    for step in range(round(seconds / world.dt)):
        if push is not None and push[0] <= step * world.dt < push[0] + 0.1:
            world.apply_impulse("torso", np.multiply(push[1], world.dt), (0.0, 0.0, 0.2))
        world.step(controller)
        error = difference(controller.character, controller.reference_state()[0], world.q)
        root.append(np.linalg.norm(error[:3]))
        joints.append(np.rad2deg(np.sqrt(np.mean(error[6:] ** 2))))
    return np.array(root), np.array(joints)


@pytest.mark.parametrize("policy", ["nqr", "lqr"])
@pytest.mark.parametrize("force", [(80.0, 0.0, 0.0), (-60.0, 0.0, 0.0), (0.0, 80.0, 0.0)])
def test_a_stand_recovers_from_a_push(stand, muico29, policy, force):
    controller, world = LookAhead(muico29, stand, Settings(policy=policy)), World(muico29)
    world.reset(stand.q[0])
    root, joints = follow(world, controller, 4.0, (0.5, force))
    assert root.max() > 0.003
    assert root[-1] < 0.005
    assert joints[-1] < 2.0
    assert np.abs(world.v).max() < 0.02


@pytest.mark.parametrize("seed", range(2))
def test_a_walk_started_off_its_reference_returns_to_it(walk, walk_track, seed):
    controller, world = LookAhead(walk.character, walk_track), World(walk.character)
    noise = np.random.default_rng(seed).normal(scale=0.05, size=walk.character.nv)
    world.reset(walk_track.q[0], walk_track.v[0] + noise)
    root, joints = follow(world, controller, 4.5)
    assert root.max() < 0.05
    assert joints[-120:].mean() < 1.0
    assert controller.place.anchor[0] == pytest.approx(4 * 1.1, abs=1e-9)


class Forgetful(World):
    """A world that does not remember where corners stuck."""

    def begin_step(self):
        self._memory.stuck[:] = np.nan
        return super().begin_step()


def test_feet_that_stand_hardly_creep(walk, walk_track):
    """Points move by their velocity only to first order; the rest adds up where nobody remembers where they stuck."""
    crept = []
    for kind in (World, Forgetful):
        controller, world = LookAhead(walk.character, walk_track), kind(walk.character)
        world.reset(walk_track.q[0], walk_track.v[0])
        way, here = {}, {}
        for _ in range(480):
            world.step(controller)
            found = world.contacts
            standing = (found.gap < 1e-3) & (found.force[:, 2] > 50.0)
            now = dict(zip(found.key[standing].tolist(), found.point[standing], strict=True))
            for key in now.keys() & here.keys():
                way[key] = way.get(key, 0.0) + np.linalg.norm((now[key] - here[key])[:2])
            here = now
        crept.append(sum(way.values()))
    assert crept[0] < 0.8 * crept[1]


def test_a_turning_walk_keeps_turning(turning_walk):
    track = Track.of(turning_walk)
    controller, world = LookAhead(turning_walk.character, track), World(turning_walk.character)
    world.reset(track.q[0], track.v[0])
    root, joints = follow(world, controller, 4.5)
    assert root.max() < 0.05
    assert joints.max() < 3.0
    assert controller.place.anchor[3] == pytest.approx(4 * 0.5, abs=1e-9)


@pytest.mark.parametrize("eighth", range(8))
def test_a_walk_recovers_from_pushes_from_all_sides(walk, walk_track, eighth):
    controller, world = LookAhead(walk.character, walk_track), World(walk.character)
    world.reset(walk_track.q[0], walk_track.v[0])
    angle = 0.25 * np.pi * eighth
    root, joints = follow(world, controller, 6.0, (1.0, (100.0 * np.cos(angle), 100.0 * np.sin(angle), 0.0)))
    assert root.max() > 0.01
    assert root[-1] < 0.03
    assert joints[-1] < 1.0


def test_a_squat_ends_in_a_stand(squat):
    track = Track.of(squat)
    controller, world = LookAhead(squat.character, track), World(squat.character)
    world.reset(track.q[0], track.v[0])
    root, joints = follow(world, controller, 4.0)
    assert root.max() < 0.02
    assert joints.max() < 1.0
    assert np.abs(world.v).max() < 0.01


def test_muico_equation_17_adaptation_tracks_more_closely(walk, walk_track):
    """Section 5.4: "the motion quality is generally enhanced with diminishing costs as the adaptation strengthens"."""
    errors = []
    for adaptation in (0.0, 0.002):
        controller = LookAhead(walk.character, walk_track, Settings(adaptation=adaptation))
        world = World(walk.character)
        world.reset(walk_track.q[0], walk_track.v[0])
        errors.append(follow(world, controller, 3.0)[1].mean())
    assert errors[1] < errors[0]


def test_the_reference_follows_the_ground_down(walk, walk_track):
    """A floor that lies 2 cm lower than the reference's: without following, the root stays up."""
    rest = []
    for follow_ground in (True, False):
        controller = LookAhead(walk.character, walk_track, Settings(follow_ground=follow_ground))
        world = World(walk.character, terrain=[Plane(point=(0.0, 0.0, -0.02))])
        q = walk_track.q[0].copy()
        q[2] -= 0.02
        world.reset(q, walk_track.v[0])
        follow(world, controller, 0.5)
        rest.append(controller.place.anchor[2])
    assert rest[0] == pytest.approx(-0.02, abs=2e-3)
    assert rest[1] == 0.0


def test_the_reference_is_down_before_a_foot_that_goes_down_lands(walk, walk_track):
    """A step of 3 cm between the first footprint and the next: known ahead, the height is there when the foot is."""
    corners = [(x, y, z) for x, z in ((-9.0, 0.0), (0.69, 0.0), (0.69, -0.03), (9.0, -0.03)) for y in (-9.0, 9.0)]
    faces = [t for k in (0, 2, 4) for t in ((k, k + 2, k + 3), (k, k + 3, k + 1))]
    terrain = make_terrain([Mesh(np.array(corners), np.array(faces))])
    landing = next_landings(walk_track, point_places(walk.character, walk_track))[20]
    assert walk_track.q[20, 0] < 0.5 < landing.place[0]
    heights = []
    for known in (None, terrain):
        controller, world = LookAhead(walk.character, walk_track, terrain=known), World(walk.character, terrain)
        world.reset(walk_track.q[0], walk_track.v[0])
        follow(world, controller, (20 + landing.frames - 1) * walk_track.dt)
        heights.append(controller.place.anchor[2])
    assert heights[0] == pytest.approx(0.0, abs=2e-3)
    assert heights[1] == pytest.approx(-0.03, abs=5e-3)


def test_landings_come_in_turn_and_go_on_from_lap_to_lap(walk, walk_track):
    landings = next_landings(walk_track, point_places(walk.character, walk_track))
    ends = [k + landing.frames for k, landing in enumerate(landings)]
    assert (np.diff(ends) >= 0).all()
    for k, landing in enumerate(landings):
        now, before = (k + landing.frames) % len(landings), (k + landing.frames - 1) % len(landings)
        assert (walk_track.loaded[now] & ~walk_track.loaded[before]).any()
    ahead = np.array([landing.place[0] for landing in landings])
    assert len(np.unique(np.round(ahead, 3))) == 3  # two feet, and the first again in the next lap
    assert ahead.max() - ahead.min() == pytest.approx(walk_track.cycle.shift[0], abs=1e-3)


def test_what_was_put_on_a_slope_is_not_moved_up_or_down_again():
    """Its soles lie 3 cm higher at the toes than at the heels."""
    motion = motions.walk(strides=2)
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    terrain = make_terrain([Plane(normal=(-np.sin(0.12), 0.0, np.cos(0.12)))])
    reference = reference_on(motion.character, trajectory, onto=OtherGround(terrain)).reference
    track = Track.of(reference)
    controller, world = LookAhead(reference.character, track), World(reference.character, terrain)
    world.reset(track.q[0], track.v[0])
    found = []
    for _ in range(reference.steps):
        world.step(controller)
        found.append(controller.place.anchor[2])
    assert np.sqrt(np.mean(np.square(found))) < 1e-3


def test_an_early_touchdown_moves_the_phase_on(walk, walk_track):
    controller = LookAhead(walk.character, walk_track, Settings(reset_phase=True))
    # a step up of 1.5 cm: the swinging foot meets it before its time
    world = World(walk.character, terrain=[Plane(point=(0.0, 0.0, 0.015))])
    loaded = walk_track.loaded[:, walk_track.point_body == walk.character.index("left_foot")].any(axis=1)
    landing = int(np.flatnonzero(loaded & ~np.roll(loaded, 1))[0])
    frame = (landing - 5) % len(walk_track.q)
    world.reset(walk_track.q[frame], walk_track.v[frame])
    controller.seek(frame)
    world.step(controller)
    assert controller.resets
    assert controller.resets[0][1] <= 15


def test_a_late_touchdown_is_waited_for(walk, walk_track):
    controller = LookAhead(walk.character, walk_track, Settings(await_touchdown=True))
    # a step down of 5 mm: the foot that should land is still above the ground
    world = World(walk.character, terrain=[Plane(point=(0.0, 0.0, -0.005))])
    loaded = walk_track.loaded[:, walk_track.point_body == walk.character.index("left_foot")].any(axis=1)
    landing = int(np.flatnonzero(loaded & ~np.roll(loaded, 1))[0])
    world.reset(walk_track.q[landing], walk_track.v[landing])
    controller.seek(landing)
    before = controller.reference_state()[0]
    world.step(controller)
    assert controller.place.frame == landing
    assert controller.resets == [(0.0, -1)]
    # and the reference goes on ahead meanwhile
    way = controller.reference_state()[0][:2] - before[:2]
    assert way == pytest.approx(walk_track.v[landing, :2] / 120.0, abs=1e-3)
    frames = []
    for _ in range(12):
        world.step(controller)
        frames.append(controller.place.frame)
    assert frames[-1] != landing  # it has landed, and the lap ends here


def test_the_same_walk_gives_the_same_bits(walk, walk_track):
    ends = []
    for _ in range(2):
        controller, world = LookAhead(walk.character, walk_track), World(walk.character)
        world.reset(walk_track.q[0], walk_track.v[0])
        follow(world, controller, 0.5)
        ends.append(np.concatenate((world.q, world.v)))
    assert (ends[0] == ends[1]).all()
