# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum control as a method of `run`: it simulates its abstract model and rebuilds the pose, without the stepper."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control import momentum
from ..control.momentum import Outline, Performer, Policy, Settings, Touches
from ..control.momentum.placing import ground_height
from ..motion.fit import velocities
from ..motion.reference import Reference
from ..report.fall import FallWatch
from ..report.simulation import Followed, Simulation
from ..simulation import Recording
from ..simulation.recording import Outcome
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch

Array = NDArray[np.float64]

LATEST = 1.5  # times its own length that a motion may take
PULLED = 0.05  # m: a foot as far off its place has lost its hold
UNEVEN = 0.03  # m, by which the ground may be off a foot that stands
LEVEL = 0.01  # m, by which the ground below all steps may vary for them to be moved
STRAINED = 1.5  # times the reference's greatest torque: more is told


@dataclass(frozen=True, eq=False)
class Prepared:
    """A reference with its law; of one that repeats, the law is made when it is known how often."""

    reference: Reference
    settings: Settings
    outline: Outline
    policy: Policy | None


def choose(chosen: Mapping[str, Any]) -> Settings:
    """The defaults but for what was chosen."""
    return make_settings(Settings, chosen, "momentum control").checked()


def prepare_policy(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> Prepared:
    """Gains of every segment; quicker made than read, so that none are kept."""
    del cache
    settings, outline = choose(chosen), Outline.of(reference)
    once = reference.cycle is None
    policy = momentum.precompute(reference.character, outline, settings) if once else None
    return Prepared(reference, settings, outline, policy)


def simulate_policy(prepared: Prepared, stage: Stage, watch: Watch) -> Simulation:
    """Follow the reference from its first frame on, until it is over or time is."""
    if stage.scene.props:
        raise ValueError(
            "Momentum control moves the character alone, and knows no props: remove them, or choose look-ahead."
        )
    reference, outline, policy = prepared.reference, prepared.outline, prepared.policy
    if policy is None:
        laps = int(np.ceil(stage.seconds * reference.rate / reference.steps)) + 1
        reference = momentum.unrolled(reference, laps)
        outline = Outline.of(reference)
        policy = momentum.precompute(reference.character, outline, prepared.settings)
    stances = momentum.stances(outline)
    moves, found = momentum.place_stances(
        reference.character, outline, stances, stage.terrain, stage.lift, stage.scene.footholds
    )
    course = momentum.make_course(reference, outline, moves)
    performer = Performer(
        stage.character,
        policy,
        course,
        stage.scene.pushes,
        flexible=prepared.settings.flexible_time,
        aside=prepared.settings.step_aside and _free_to_step(stage, outline, moves),
    )
    v = reference.v[0] if stage.noise is None else reference.v[0] + stage.noise
    performer.reset(reference.q[0] + np.pad(course.origin[0], (0, len(reference.q[0]) - 3)), v)
    loop = _Loop(performer, prepared.reference.steps, stage, watch)
    loop.run(_most_steps(stage, reference))
    notes = [] if all(found) else ["Some steps have no ground under them; they are where the motion has them."]
    return loop.simulation([*notes, *loop.notes(prepared.reference)])


def _free_to_step(stage: Stage, outline: Outline, moves: Sequence[Array]) -> bool:
    """Whether steps may go elsewhere: on level ground, where nobody has set footholds and nothing is held on to."""
    heights = [float(move[2]) for move in moves]
    level = max(heights, default=0.0) - min(heights, default=0.0) < LEVEL
    return level and not stage.scene.footholds and not outline.grip.any()


def _most_steps(stage: Stage, reference: Reference) -> int:
    """As long as is asked for; where that is all of the motion, it may take longer than its own time."""
    asked = round(stage.seconds * stage.rate)
    return asked if asked < reference.steps else int(LATEST * reference.steps)


class _Loop:
    """Steps, and what they leave."""

    def __init__(self, performer: Performer, lap: int, stage: Stage, watch: Watch) -> None:
        self._performer, self._lap, self._stage, self._watch = performer, lap, stage, watch
        self._fall = FallWatch(stage.character, stage.rate)
        self._cancelled = False
        self._reason = ""
        self._lost: int | None = None
        self._late = 0.0  # steps
        self._pulled: tuple[str, float] | None = None  # what, and how far, m
        self._seconds: list[float] = []
        self._states = [self._state()]
        self._touches: list[Touches] = []
        self._torques: list[Array] = []

    def run(self, most: int) -> None:
        """Up to so many steps."""
        performer, going = self._performer, self._told()
        while going and len(self._torques) < most:
            begun = time.perf_counter()
            going = performer.step()
            self._seconds.append(time.perf_counter() - begun)
            if performer.failed:
                self._reason = "no contact forces or no velocities were found."
                self._lost = len(self._torques)
                break
            self._torques.append(performer.torque)
            self._touches.append(performer.touches())
            self._states.append(self._state())
            going = not self._fell() and self._told() and going
        self._late = len(self._torques) - performer.at

    def simulation(self, notes: Sequence[str]) -> Simulation:
        """All of it."""
        q, v, wanted, frame, lap = (np.array(column) for column in zip(*self._states, strict=True))
        return Simulation(
            character=self._stage.character,
            terrain=self._stage.terrain,
            recording=self._recording(q, v),
            followed=Followed(
                q=wanted, v=velocities(self._stage.character, wanted, self._stage.rate), frame=frame, lap=lap
            ),
            cancelled=self._cancelled,
            lost=self._lost,
            step_seconds=np.array(self._seconds[: len(self._torques)]),
            notes=tuple(notes),
        )

    def _recording(self, q: Array, v: Array) -> Recording:
        character, rate, steps = self._stage.character, self._stage.rate, len(self._torques)
        first = 6 if character.bodies[0].joint.kind == "free" else 0  # of the motors
        touches = self._touches
        start = np.cumsum([0, *(len(touch.point) for touch in touches)]).astype(np.int64)
        key, body = (
            np.concatenate([np.zeros(0, np.int64), *(getattr(touch, name) for touch in touches)])
            for name in ("point", "body")
        )
        place, force = (
            np.concatenate([np.zeros((0, 3)), *(getattr(touch, name) for touch in touches)])
            for name in ("place", "force")
        )
        outcome: Outcome = "cancelled" if self._cancelled else "diverged" if self._reason else "completed"
        return Recording(
            outcome=outcome,
            reason=self._reason,
            tree=character.tree,
            rate=rate,
            time=np.arange(steps + 1) / rate,
            q=q,
            v=v,
            torque=np.array(self._torques).reshape(steps, character.nv - first),
            wrench=np.array([touch.wrench for touch in touches]).reshape(steps, len(character.bodies), 6),
            grab_force=np.zeros((steps, 0, 6)),
            residual=np.array([touch.speed for touch in touches]),
            lcp_residual=np.zeros(steps),
            unknowns=np.array([touch.rays for touch in touches], dtype=np.int64),
            contact_start=start,
            contact_key=key,
            contact_body=body,
            contact_point=place,
            contact_force=force,
            contact_gap=np.concatenate([np.zeros(0), *(touch.gap for touch in touches)]),
        )

    def _state(self) -> tuple[Array, Array, Array, int, int]:
        """Positions, velocities, where they were to be, and the reference's frame and lap."""
        performer = self._performer
        lap, frame = divmod(int(performer.at), self._lap)
        return performer.q, performer.v, performer.wanted(), frame, lap

    def _told(self) -> bool:
        q, _, _, frame, lap = self._states[-1]
        self._cancelled = not self._watch(len(self._states) - 1, q, frame, lap)
        return not self._cancelled

    def _fell(self) -> bool:
        """Whether it has fallen, or a foot is off the place at which it is to bear weight."""
        state = len(self._states) - 1
        q, v, wanted, _, _ = self._states[-1]
        body, distance = self._performer.pulled()
        if distance > PULLED:
            self._pulled, self._lost = (self._stage.character.bodies[body].name, distance), state
        elif self._fall.update(state, q, v, wanted):
            self._lost = self._fall.lost
        return self._lost is not None

    def _grounded(self) -> bool:
        """Whether there is ground under all places at which feet bore weight."""
        places = {tuple(np.round(place, 2).tolist()) for touch in self._touches for place in touch.place}
        for place in places:
            height = ground_height(self._stage.terrain, np.array(place), 0.0)
            if height is None or abs(height - place[2]) > UNEVEN:
                return False
        return True

    def notes(self, reference: Reference) -> list[str]:
        """What the method did on its own account, and what it does not promise."""
        found = []
        if self._pulled is not None:
            found.append(
                f"'{self._pulled[0]}' was pulled {100 * self._pulled[1]:.0f} cm off its place: contacts as the motion "
                "has them cannot take what happened; try a weaker push, lower steps, or look-ahead."
            )
        if self._lost is None and reference.cycle is None and abs(self._late) >= 1.0:
            word = "more" if self._late > 0.0 else "less"
            found.append(f"It took {abs(self._late) / reference.rate:.2f} s {word} than the motion does.")
        if self._performer.aside >= LEVEL:
            found.append(f"Steps were moved by up to {100 * self._performer.aside:.0f} cm to catch the body.")
            if not self._grounded():
                found.append("Not everywhere is there level ground under them.")
        peak = float(np.abs(self._torques).max(initial=0.0))
        usual = float(np.abs(reference.torque).max(initial=0.0))
        if peak > STRAINED * usual:
            found.append(
                f"Joint torques reach {peak:.0f} N m, {peak / max(usual, 1e-9):.1f} times as much as in the motion "
                "itself: momentum control does not limit them."
            )
        surfaces = self._stage.scene.surfaces
        grip = min((surface.friction for surface in surfaces), default=self._stage.scene.friction)
        if grip < reference.friction:
            found.append(
                f"Forces count on a friction of {reference.friction:g}, but the ground has {grip:g}: feet would slip."
            )
        return found
