# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on captured walks with and without recovery, and falls: who stays up, what it takes, what is seen."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.character.strength import joint_strengths
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.lookahead import LookAhead, Settings, Track
from heft.core.control.loop import AFTER_FALL, follow
from heft.core.control.method import Follower
from heft.core.control.recovery import Recovering
from heft.core.control.recovery.legs import Legs
from heft.core.control.stage import Stage
from heft.core.dynamics import body_poses
from heft.core.job import BakeJob, precompute
from heft.core.job.job import RECOVERY_EFFORT, STRENGTH
from heft.core.motion.quaternions import conjugate, log, multiply, rotate
from heft.core.motion.reference import Reference
from heft.core.report import metrics
from heft.core.simulation import DivergedError, Push, TorqueLimits, World
from heft.core.simulation.fall import FallDetector
from heft.core.simulation.looseness import REGIONS, Region, natural
from heft.core.simulation.outcome import Simulation
from heft.core.simulation.scene import Scene

from tests.core.motion.skeletons import CMU_ROLES, GOOD, cmu

TUNED = "02_01"
WALKS = (TUNED, "132_20", "20_06", "113_01", "07_04", "120_08")
FORCES = (200.0, 300.0, 400.0)  # N
PUSHED = 0.1  # s
DIRECTIONS, PHASES = 8, 2
SECONDS = 4.0  # that it is followed from the push on
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
UNFORESEEN = 0.3  # s after the push, when all velocities are changed by as much again
LEAD = 1  # laps before the push
LOOSE = (0.0, 0.5, 1.0)
SEEN = 2.0  # s, within which a deviation counts as one of the push
EVERY = 4  # steps between two looks
NEAR = 0.08  # m: legs that come nearer may touch
FALLS = 100
HARD = (500.0, 2000.0)  # N, of pushes that fell
STILL = 0.3  # rad/s or m/s of the fastest joint
PRESSING = 20.0  # N

INTRODUCTION = f"""# Reactions

Captured walks as cycles, under look-ahead control with default settings and strength, start with noise of {NOISE:g} on
every velocity and are pushed at the torso for {PUSHED:g} s after {LEAD} cycle: to {DIRECTIONS} sides in {PHASES}
phases. {UNFORESEEN:g} s after the push, while a plan is followed, the same noise is added again, so what comes is not
the future that was rehearsed. Each is followed for {SECONDS:g} s. *Stays up* counts pushes after which it has not
fallen, without and with recovery at default looseness. Torso and hands: largest deviation from the motion within
{SEEN:g} s. The recovery was tuned on {TUNED} alone. Written by `run.py study reactions`.

| walk, m/s | push, N | up without | up with | torque, N m: median, most | torso, degrees | hand, cm | legs within {100 * NEAR:g} cm | s of planning: mean, most |
|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


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
        character, track, terrain = reference.character, Track.of(reference), make_terrain([Plane()])
        controller = LookAhead(character, track, Settings(), terrain=terrain)
        limits = TorqueLimits({name: STRENGTH * most for name, most in joint_strengths(character, "male").items()})
        stage = Stage(character, terrain, Scene(), 1.0 / track.dt, SECONDS, 0.0, torque_limits=limits)
        world = stage.world()
        q, v = controller.reference_state()
        world.reset(q, v + np.random.default_rng(0).normal(scale=NOISE, size=len(v)))
        lap, starts = len(track.q), []
        for step in range((LEAD + 1) * lap):
            if step >= LEAD * lap and (step - LEAD * lap) % (lap // PHASES) == 0 and len(starts) < PHASES:
                starts.append((world.save_state(), controller.place))
            world.step(controller)
        return cls(reference, controller, stage, starts)

    @property
    def speed(self) -> float:
        """Of the cycle, m/s."""
        return float(np.hypot(*self.reference.cycle.shift)) / (len(self.controller.track.q) * self.controller.track.dt)

    def pushed(
        self, newtons: float, direction: int, phase: int, effort: int, looseness: Mapping[Region, float]
    ) -> Outcome:
        """What becomes of one push."""
        state, place = self.starts[phase]
        x, y = self.reference.cycle.shift
        angle = np.arctan2(y, x) + 2.0 * np.pi * direction / DIRECTIONS
        force = (newtons * float(np.cos(angle)), newtons * float(np.sin(angle)), 0.0)
        push = Push.constant("torso", force, float(state["clock"][0]), PUSHED)
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
        nearest, up = np.inf, True
        for step in range(round(SECONDS * world.rate)):
            if step == round((PUSHED + UNFORESEEN) * world.rate):
                disturb(world)
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
                if step < SEEN * world.rate:
                    row = self.controller.track.q[follower.row].copy()
                    row[3:7] = _yawed(row[3:7], follower.reference_state()[0][3:7])
                    wanted = body_poses(character, row)
                    angle = log(multiply(actual[1][torso], conjugate(wanted[1][torso])))
                    turned = max(turned, float(np.degrees(np.linalg.norm(angle))))
                    away = [_from_root(actual, h) - _from_root(wanted, h) for h in hands]
                    moved = max(moved, *(float(np.linalg.norm(vector)) for vector in away))
            if fall.update(step, q, world.v, follower.reference_state()[0]):
                up = False
                break
        return Outcome(up, peak, nearest, turned, moved, planning, len(follower.recoveries))


def disturb(world: World) -> None:
    """Noise on all velocities."""
    state = world.save_state()
    v = state["v"] + np.random.default_rng(1).normal(scale=NOISE, size=len(state["v"]))
    world.load_state({**state, "v": v, "moving": np.zeros(1, np.bool_)})


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


def survival(clip: str, walk: Walk) -> Iterator[str]:
    """A line for each force."""
    for force in FORCES:
        without = sum(walk.pushed(force, *cell, 0, {}).up for cell in cells())
        found = [walk.pushed(force, *cell, RECOVERY_EFFORT, natural()) for cell in cells()]
        up = [outcome for outcome in found if outcome.up]
        peaks = [outcome.peak for outcome in up] or [0.0]
        planned = [outcome.planning for outcome in found]
        yield (
            f"| {clip}, {walk.speed:.1f} | {force:g} | {without} of {len(found)} | {len(up)} of {len(found)} "
            f"| {np.median(peaks):.0f}, {max(peaks):.0f} | {seen(up)} "
            f"| {sum(one.legs < NEAR for one in up)} of {len(up)} | {np.mean(planned):.1f}, {max(planned):.1f} |"
        )


def seen(found: list[Outcome]) -> str:
    """Two columns: medians of what moves."""
    torso, hand = ([getattr(outcome, name) for outcome in found] or [0.0] for name in ("torso", "hand"))
    return f"{np.median(torso):.1f} | {100 * np.median(hand):.0f}"


def looseness(walk: Walk) -> Iterator[str]:
    """A section."""
    yield from ("", "## Looseness", "", f"{TUNED}, {FORCES[0]:g} N, all regions alike; medians.", "")
    yield from ("| looseness | stays up | torso, degrees | hand, cm |", "|---|---|---|---|")
    for loose in LOOSE:
        found = [walk.pushed(FORCES[0], *cell, RECOVERY_EFFORT, dict.fromkeys(REGIONS, loose)) for cell in cells()]
        up = [outcome for outcome in found if outcome.up]
        yield f"| {loose:g} | {len(up)} of {len(found)} | {seen(up)} |"


class Fall(NamedTuple):
    """How one went."""

    depth: float  # m, the deepest contact
    end: float  # rad/s or m/s, of the fastest joint when it is watched no more
    fastest: float  # rad/s or m/s
    share: float  # of the joints' limits
    on_hands: bool  # hands or forearms land before the head
    head: float  # N


def fall_of(walk: Walk, simulation: Simulation) -> Fall:
    """Measured from the first state of the loss."""
    recording, first = simulation.recording, simulation.lost or 0
    names = [body.name for body in walk.reference.character.bodies]
    landed: dict[str, int] = {}
    head = 0.0
    for step in range(first, recording.steps):
        for name, wrench in zip(names, recording.wrench[step], strict=True):
            force = float(np.linalg.norm(wrench[:3]))
            if force > PRESSING:
                landed.setdefault(name, step)
            head = max(head, force) if name == "head" else head
    arms = min((step for name, step in landed.items() if name.endswith(("_hand", "_forearm"))), default=recording.steps)
    speed = np.abs(recording.v[first:]).max(axis=1)
    gaps = recording.contact_gap[recording.contact_start[first] :]
    return Fall(
        depth=max(0.0, -float(gaps.min(initial=0.0))),
        end=float(speed[-round(0.1 * recording.rate) :].max()),
        fastest=float(speed.max()),
        share=float(metrics.torque_shares(simulation).max()),
        on_hands=arms <= landed.get("head", recording.steps),
        head=head,
    )


def falls(walk: Walk) -> Iterator[str]:
    """A section."""
    random, found = np.random.default_rng(0), []
    for _ in range(FALLS):
        newtons, angle, up = random.uniform(*HARD), random.uniform(0.0, 2.0 * np.pi), random.uniform(-0.2, 0.2)
        force = (newtons * np.cos(angle), newtons * np.sin(angle), newtons * up)
        start, seconds, height = random.uniform(0.1, 1.1), random.uniform(0.1, 0.2), random.uniform(0.0, 0.3)
        push = Push.constant("torso", force, start, seconds, (0.0, 0.0, height))
        stage = replace(walk.stage, scene=Scene(pushes=(push,)), seconds=6.0)
        walk.controller.seek()
        simulation = follow(walk.controller, stage.world(), stage, lambda *_: True)
        if simulation.lost is not None:
            found.append(fall_of(walk, simulation))
    depth, end, fastest, share, hands, head = (np.array(column) for column in zip(*found, strict=True))
    yield from ("", "## Falls", "")
    yield (
        f"{TUNED} without recovery, {FALLS} pushes of {HARD[0]:g} to {HARD[1]:g} N for 0.1 to 0.2 s at random heights, "
        f"directions and moments: {len(found)} fall, and are watched for {AFTER_FALL:g} s from the start of the fall."
    )
    yield from ("", "| | median | most |", "|---|---|---|")
    yield f"| deepest contact, mm | {1e3 * np.median(depth):.1f} | {1e3 * depth.max():.1f} |"
    yield f"| fastest joint, rad/s | {np.median(fastest):.0f} | {fastest.max():.0f} |"
    yield f"| the same in the last tenth of a second | {np.median(end):.2f} | {end.max():.2f} |"
    yield f"| torque by the joint's limit | {np.median(share):.2f} | {share.max():.9f} |"
    yield f"| force on the head, kN | {1e-3 * np.median(head):.1f} | {1e-3 * head.max():.1f} |"
    yield ""
    yield (
        f"{(depth > 0.01).sum()} are deeper than 1 cm, {(end < STILL).sum()} at rest (below {STILL:g}) at the end, and "
        f"in {hands.sum()} hands or forearms land before the head."
    )


def study(folder: Path) -> str:
    """The page."""
    del folder
    if not GOOD:
        return "# Reactions\n\nThe clips are not beside the checkout.\n"
    page = [INTRODUCTION.rstrip("\n")]
    walks = {clip: Walk.of(clip) for clip in WALKS}
    for clip, walk in walks.items():
        page += survival(clip, walk)
    page += [*looseness(walks[TUNED]), *falls(walks[TUNED])]
    return "\n".join(page) + "\n"
