# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured motions that are pushed: states to push them from, and what becomes of a push."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from heft.core.character.strength import joint_strengths
from heft.core.contact.terrain import Surface, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.lookahead.lookahead import Place
from heft.core.control.method import Follower
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.legs import Legs
from heft.core.control.stage import Stage
from heft.core.dynamics import body_poses
from heft.core.job import BakeJob, precompute
from heft.core.job.job import STRENGTH
from heft.core.job.simulated_scene import scene_surfaces
from heft.core.motion.quaternions import conjugate, log, multiply, rotate
from heft.core.motion.reference import Reference
from heft.core.simulation import DivergedError, Push, TorqueLimits, World
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.looseness import Region
from heft.core.simulation.own_contact import deepest
from heft.core.simulation.scene import Scene

from tests.core.motion.skeletons import CMU_ROLES, cmu

Array = np.ndarray

DIRECTIONS = 8
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
UNFORESEEN = 0.3  # s after the push, when all velocities are changed by as much again
LEAD = 1  # laps before the push
BEFORE, AFTER = 0.1, 0.55  # of a motion that does not repeat: where the pushes begin
SEEN = 2.0  # s, within which a deviation counts as one of the push
EVERY = 4  # steps between two looks


class Outcome(NamedTuple):
    """Of one push."""

    up: bool
    peak: float  # N m
    legs: float  # m
    torso: float  # degrees, from the motion
    hand: float  # m, from the motion, seen from the root
    back: float  # degrees that the torso is off at the end
    away: float  # m from where the motion has the root then, once it has gone on from a new place
    planning: float  # s of computation
    plans: int
    steps: int  # that the motion does not have


@dataclass
class Pushed:
    """A motion, and the states from which it is pushed."""

    reference: Reference
    controller: LookAhead
    stage: Stage
    starts: list[tuple[Mapping[str, Array], Place]]

    @classmethod
    def of(cls, job: BakeJob, phases: int, seconds: float, seed: int = 0) -> "Pushed":
        """Follow the job's motion, and keep states; each push is followed for so many seconds, or to the end."""
        motion = precompute(job)
        reference = motion.reference
        character, track = reference.character, Track.of(reference)
        terrain = make_terrain(scene_surfaces(job, motion))
        controller = LookAhead(character, track, Settings(), terrain=terrain)
        if reference.cycle is None:
            seconds = (len(reference.q) - 1) / reference.rate
        limits = TorqueLimits({name: STRENGTH * most for name, most in joint_strengths(character, "male").items()})
        stage = Stage(character, terrain, Scene(), 1.0 / track.dt, seconds, motion.lift, torque_limits=limits)
        stage = replace(stage, inside=deepest(character, reference.q))
        world = stage.world()
        controller.seek(0, (0.0, 0.0, motion.lift, 0.0))
        q, v = controller.reference_state()
        world.reset(q, v + np.random.default_rng(seed).normal(scale=NOISE, size=len(v)))
        frames, starts = len(track.q), []
        if track.cycle is not None:
            wanted = [LEAD * frames + frames * phase // phases for phase in range(phases)]
        else:
            wanted = [round(at * frames) for at in np.linspace(BEFORE, AFTER, phases)]
        for step in range(wanted[-1] + 1):
            if step in wanted:
                starts.append((world.save_state(), controller.place))
            world.step(controller)
        return cls(reference, controller, stage, starts)

    @property
    def speed(self) -> float:
        """Along the ground, m/s."""
        track = self.controller.track
        way = track.q[-1, :2] - track.q[0, :2] if track.cycle is None else np.array(track.cycle.shift)
        return float(np.hypot(*way)) / (len(track.q) * track.dt)

    @property
    def heading(self) -> float:
        """Of the root in the first frame, rad."""
        w, x, y, z = self.reference.q[0, 3:7]
        return float(np.arctan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z)))

    def push(
        self,
        newtons: float,
        direction: int,
        phase: int,
        effort: int,
        looseness: Mapping[Region, float],
        seconds: float = 0.1,
        seed: int = 1,
    ) -> Outcome:
        """What becomes of one push at the torso, ahead in direction 0 and to the left in a quarter of them."""
        state, place = self.starts[phase]
        cycle = self.reference.cycle
        ahead = self.heading if cycle is None else float(np.arctan2(cycle.shift[1], cycle.shift[0]))
        angle = ahead + 2.0 * np.pi * direction / DIRECTIONS
        force = (newtons * float(np.cos(angle)), newtons * float(np.sin(angle)), 0.0)
        begin = float(state["clock"][0])
        scene = Scene(pushes=(Push.constant("torso", force, begin, seconds),))
        stage = replace(self.stage, scene=scene, recovery=effort, looseness=looseness)
        world = stage.world()
        world.load_state(state)
        self.controller.place = place
        follower = Recovering(self.controller, self.reference, stage) if effort else self.controller
        return self._followed(world, follower, begin + seconds + UNFORESEEN, seed)

    def _followed(self, world: World, follower: Follower, disturbed: float, seed: int) -> Outcome:
        character = self.reference.character
        fall, legs = FallDetector(character, world.rate), Legs(character, self.reference)
        torso = character.index("torso")
        hands = [i for i, body in enumerate(character.bodies) if body.name.endswith("_hand")]
        peak = turned = moved = planning = back = away = 0.0
        nearest, up = np.inf, True
        seconds = self.stage.seconds
        if self.reference.cycle is None:
            seconds = min(seconds, (len(self.reference.q) - 1) / self.reference.rate - world.time)
        for step in range(round(seconds * world.rate)):
            if abs(world.time - disturbed) < 0.5 * world.dt:
                disturb(world, seed)
            begun = time.process_time()
            follower.between_steps(world, lambda: True)
            planning += time.process_time() - begun
            try:
                world.step(follower)
            except DivergedError:
                up = False
                break
            q = world.q
            peak = max(peak, float(np.abs(world.torque).max()))
            if step % EVERY == 0:
                actual = body_poses(character, q)
                nearest = min(nearest, legs.distance(actual))
                row = self.controller.track.q[follower.row].copy()
                row[3:7] = yawed(row[3:7], follower.reference_state()[0][3:7])
                wanted = body_poses(character, row)
                angle = log(multiply(actual[1][torso], conjugate(wanted[1][torso])))
                back = float(np.degrees(np.linalg.norm(angle)))
                if step < SEEN * world.rate:
                    turned = max(turned, back)
                    off = [_from_root(actual, h) - _from_root(wanted, h) for h in hands]
                    moved = max(moved, *(float(np.linalg.norm(vector)) for vector in off))
            if fall.update(step, q, world.v, follower.reference_state()[0]):
                up = False
                break
        away = float(np.linalg.norm(world.q[:2] - follower.reference_state()[0][:2]))
        plans = follower.recoveries
        steps = sum(one.what not in {"caught", "home"} for one in plans)
        return Outcome(up, peak, nearest, turned, moved, back, away, planning, len(plans), steps)


def captured(clip: str, *, loop: bool, surfaces: Iterable[Surface] = (), **more: Any) -> BakeJob:
    """A clip's job."""
    return BakeJob(cmu(clip), CMU_ROLES, loop=loop, scene=Scene(surfaces=tuple(surfaces)), **more)


def disturb(world: World, seed: int) -> None:
    """Noise on all velocities."""
    state = world.save_state()
    v = state["v"] + np.random.default_rng(seed).normal(scale=NOISE, size=len(state["v"]))
    world.load_state({**state, "v": v, "moving": np.zeros(1, np.bool_)})


def yawed(turn: Array, like: Array) -> Array:
    """A rotation, turned about the vertical to head as another does: laps of a walk may turn."""
    between = multiply(like, conjugate(turn))
    yaw = np.array([between[0], 0.0, 0.0, between[3]])
    return multiply(yaw / np.linalg.norm(yaw), turn)


def _from_root(poses: tuple[Array, Array], body: int) -> Array:
    return rotate(conjugate(poses[1][0]), poses[0][body] - poses[0][0])
