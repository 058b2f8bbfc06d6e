# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on captured walks with and without recovery: who stays up, what it takes, and how much of it is seen."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.method import Follower
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.legs import Legs
from heft.core.control.stage import Stage
from heft.core.dynamics import body_poses
from heft.core.job import BakeJob, precompute
from heft.core.job.job import RECOVERY_EFFORT
from heft.core.motion.quaternions import conjugate, log, multiply, rotate
from heft.core.motion.reference import Reference
from heft.core.simulation import DivergedError, Push, World
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.scene import Scene

from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu

TUNED, OTHERS = "02_01", ("132_20", "07_04")
FORCES = (200.0, 300.0, 400.0)  # N
PUSHED = 0.1  # s
DIRECTIONS, PHASES = 8, 4
SECONDS = 3.5  # that it is followed from the push on
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
LEAD = 1  # laps before the push
LOOSE = (0.0, 0.5, 1.0)
SEEN = 2.0  # s, within which a deviation counts as one of the push
EVERY = 4  # steps between two looks
NEAR = 0.08  # m: legs that come nearer may touch

INTRODUCTION = f"""# Reactions

Captured walks as cycles, under look-ahead control with default settings, start with noise of {NOISE:g} on every
velocity and are pushed at the torso for {PUSHED:g} s after {LEAD} cycle: to {DIRECTIONS} sides in {PHASES} phases. Each
is followed for {SECONDS:g} s. *Stays up* counts pushes after which it has not fallen, without and with recovery, which
plans once more when a push has ended. The recovery was tuned on {TUNED} alone. Written by `run.py study reactions`.

*N m* is the greatest torque of those that stay up, *legs within 8 cm* counts walks in which the axes of the legs come
nearer than that, *s* is the processor's time for a push that was answered by plans.

Every recovery is rehearsed in a world without further pushes, from the state in which it is planned, so the future that
is followed here is the one that was rehearsed.
"""


class Outcome(NamedTuple):
    """Of one push."""

    up: bool
    peak: float  # N m
    legs: float  # m
    torso: float  # degrees, from the motion
    hand: float  # m, from the motion, seen from the root
    planning: float  # s of computation
    plans: int


@dataclass
class Walk:
    """A walk, and the states from which it is pushed."""

    reference: Reference
    controller: LookAhead
    stage: Stage
    starts: list[tuple[dict[str, np.ndarray], object]]

    @classmethod
    def of(cls, clip: str) -> "Walk":
        """Walk a lap, then keep states."""
        reference = precompute(BakeJob(cmu(clip), CMU_ROLES, loop=True)).reference
        track, terrain = Track.of(reference), make_terrain([Plane()])
        controller = LookAhead(reference.character, track, Settings(), terrain=terrain)
        stage = Stage(reference.character, terrain, Scene(), 1.0 / track.dt, SECONDS, 0.0)
        world = stage.world()
        q, v = controller.reference_state()
        world.reset(q, v + np.random.default_rng(0).normal(scale=NOISE, size=len(v)))
        lap, starts = len(track.q), []
        for step in range((LEAD + 1) * lap):
            if step >= LEAD * lap and (step - LEAD * lap) % (lap // PHASES) == 0 and len(starts) < PHASES:
                starts.append((world.save_state(), controller.place))
            world.step(controller)
        return cls(reference, controller, stage, starts)

    def pushed(self, newtons: float, direction: int, phase: int, effort: int, loose: float = 0.0) -> Outcome:
        """What becomes of one push."""
        state, place = self.starts[phase]
        x, y = self.reference.cycle.shift
        angle = np.arctan2(y, x) + 2.0 * np.pi * direction / DIRECTIONS
        force = (newtons * float(np.cos(angle)), newtons * float(np.sin(angle)), 0.0)
        push = Push.constant("torso", force, float(state["clock"][0]), PUSHED)
        looseness = {"trunk": loose, "arms": loose} if loose else {}
        stage = replace(self.stage, scene=Scene(pushes=(push,)), recovery=effort, looseness=looseness)
        world = stage.world()
        world.load_state(state)
        self.controller.place = place
        follower = Recovering(self.controller, self.reference, stage) if effort else self.controller
        return self._followed(world, follower)

    def _followed(self, world: World, follower: Follower) -> Outcome:
        character = self.reference.character
        fall, legs = FallDetector(character, world.rate), Legs(character, self.reference)
        torso = character.index("torso")
        hands = [i for i, body in enumerate(character.bodies) if body.name.endswith("_hand")]
        peak = turned = moved = planning = 0.0
        nearest = np.inf
        for step in range(round(SECONDS * world.rate)):
            begun = time.process_time()
            follower.between_steps(world, lambda: True)
            planning += time.process_time() - begun
            try:
                world.step(follower)
            except DivergedError:
                return Outcome(False, peak, nearest, turned, moved, planning, len(follower.recoveries))
            q = world.q
            peak = max(peak, float(np.abs(world.torque).max()))
            if step % EVERY == 0:
                actual = body_poses(character, q)
                nearest = min(nearest, legs.distance(actual))
                if step < SEEN * world.rate:
                    row = self.controller.track.q[follower.row].copy()
                    row[3:7] = _yawed(row[3:7], follower.reference_state()[0][3:7])
                    wanted = body_poses(character, row)
                    angle = log(multiply(actual[1][torso], conjugate(wanted[1][torso])))
                    turned = max(turned, float(np.degrees(np.linalg.norm(angle))))
                    away = [_from_root(actual, h) - _from_root(wanted, h) for h in hands]
                    moved = max(moved, *(float(np.linalg.norm(vector)) for vector in away))
            if fall.update(step, q, world.v, follower.reference_state()[0]):
                return Outcome(False, peak, nearest, turned, moved, planning, len(follower.recoveries))
        return Outcome(True, peak, nearest, turned, moved, planning, len(follower.recoveries))


def _yawed(turn: np.ndarray, like: np.ndarray) -> np.ndarray:
    """A rotation, turned about the vertical to head as another does: laps of a walk may turn."""
    between = multiply(like, conjugate(turn))
    yaw = np.array([between[0], 0.0, 0.0, between[3]])
    return multiply(yaw / np.linalg.norm(yaw), turn)


def _from_root(poses: tuple[np.ndarray, np.ndarray], body: int) -> np.ndarray:
    return rotate(conjugate(poses[1][0]), poses[0][body] - poses[0][0])


def cells() -> Iterator[tuple[int, int]]:
    """Directions and phases."""
    return ((direction, phase) for direction in range(DIRECTIONS) for phase in range(PHASES))


def study(folder: Path) -> str:
    """The page."""
    del folder
    if not GOOD:
        return "# Reactions\n\nThe clips are not beside the checkout.\n"
    page = [
        INTRODUCTION,
        "| walk | push, N | up without | up with | plans | N m: median, most | legs within 8 cm | s: mean, most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    walks = {clip: Walk.of(clip) for clip in (TUNED, *OTHERS)}
    stiff: dict[str, list[Outcome]] = {}  # of the weakest push
    for clip, walk in walks.items():
        for force in FORCES:
            without = sum(walk.pushed(force, *cell, effort=0).up for cell in cells())
            found = [walk.pushed(force, *cell, effort=RECOVERY_EFFORT) for cell in cells()]
            stiff.setdefault(clip, found)
            page.append(f"| {clip} | {force:g} | {without} of {len(found)} | {told(found)} |")
    page += [
        "",
        "## Looseness",
        "",
        f"{TUNED}, {FORCES[0]:g} N, trunk and arms; largest deviation from the motion within {SEEN:g} s.",
        "",
        "| looseness | stays up | torso, degrees: median, most | hand, cm: median, most |",
        "|---|---|---|---|",
    ]
    for loose in LOOSE:
        walk = walks[TUNED]
        found = (
            [walk.pushed(FORCES[0], *cell, effort=RECOVERY_EFFORT, loose=loose) for cell in cells()]
            if loose
            else stiff[TUNED]
        )
        up = [outcome for outcome in found if outcome.up]
        torso, hand = ([getattr(outcome, name) for outcome in up] for name in ("torso", "hand"))
        page.append(
            f"| {loose:g} | {len(up)} of {len(found)} | {np.median(torso):.1f}, {max(torso):.1f} "
            f"| {100 * np.median(hand):.1f}, {100 * max(hand):.1f} |"
        )
    return "\n".join(page) + "\n"


def told(found: list[Outcome]) -> str:
    """The columns from those that stay up on."""
    up = [outcome for outcome in found if outcome.up]
    peaks = [outcome.peak for outcome in up] or [0.0]
    planned = [outcome.planning for outcome in found if outcome.plans] or [0.0]
    near = sum(outcome.legs < NEAR for outcome in up)
    return (
        f"{len(up)} of {len(found)} | {sum(outcome.plans for outcome in found)} | {np.median(peaks):.0f}, "
        f"{max(peaks):.0f} | {near} of {len(up)} | {np.mean(planned):.1f}, {max(planned):.1f}"
    )
