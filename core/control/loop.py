# SPDX-License-Identifier: GPL-3.0-or-later
"""The one loop: controllers act, each on its stage, step by step, and what came of it is recorded."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contact.detection import Contacts
from ..simulation import Recording, World
from ..simulation.company import Company, Hold, go_on
from ..simulation.fall import FallDetector
from ..simulation.law import AffineLaw, State
from ..simulation.outcome import Followed, Simulation
from ..simulation.recording import Recorder, Stepper
from .falling import Falling
from .method import Follower, Method
from .stage import Observer, Stage

Array = NDArray[np.float64]
Inside = Mapping[tuple[int, int], Mapping[tuple[str, str], float]]  # by members and by bodies, m

AFTER_FALL = 2.0  # s that a fallen character is still watched
TUMBLES = 6.0  # s that it is watched at most, where it does not lie still by then: down stairs, say
LIES = 0.4  # s that it has lain still, when it gets up
STILL = 0.3  # rad/s or m/s of the fastest joint of who lies still
RUNAWAY = 1000.0  # rad/s or m/s, beyond which what has fallen is not watched any more: the next steps are no numbers
FULL = 1.0 - 1e-9  # of what joints have
STRONGEST = 20.0  # N m for each kilogram of a character, four times what any joint of a person gives


class Part(NamedTuple):
    """A method that is to act."""

    method: Method
    plan: object
    stage: Stage
    observer: Observer


def act(method: Method, plan: object, stage: Stage, observer: Observer) -> Simulation:
    """Start a method on a stage and let it act; a character that falls in a world goes limp, and is watched a while."""
    follower = method.start(plan, stage)
    return follow(follower, method.stepper(follower, stage), stage, observer)


def follow(follower: Follower, stepper: Stepper, stage: Stage, observer: Observer) -> Simulation:
    """Step under a controller that has been started."""
    acting = _Acting(follower, stepper, stage, observer)
    acting.recorder.go_on(acting.loop)
    return acting.simulation()


def act_together(
    parts: Sequence[Part], begins: Sequence[float], holds: Sequence[Hold], apart: Iterable[tuple[int, int]]
) -> tuple[list[Simulation], Inside]:
    """Let several act in one world, each from when it begins, s; ValueError where one acts in no world.

    Also how deep which bodies of two began inside each other: so deep they touch.
    """
    acting = []
    worlds = []
    for method, plan, stage, observer in parts:
        if not method.needs.strength:
            raise ValueError(f"{method.title} simulates a model of its own, which no other character can touch.")
        follower = method.start(plan, stage)
        world = method.stepper(follower, stage)
        assert isinstance(world, World)
        worlds.append(world)
        acting.append(_Acting(follower, world, stage, observer))
    company = Company(worlds, holds, begins=begins, apart=apart)
    go_on(company, [one.recorder for one in acting], [one.loop for one in acting])
    return [one.simulation() for one in acting], company.inside


class _Acting:
    """A controller that has been started, from its first state on."""

    def __init__(self, follower: Follower, stepper: Stepper, stage: Stage, observer: Observer) -> None:
        self._follower, self._stage = follower, stage
        q, v = follower.reference_state()
        stepper.reset(q, v if stage.noise is None else v + stage.noise)
        self.loop = _Loop(follower, stage, observer, limp=isinstance(stepper, World))
        seconds = min(follower.seconds(stage.seconds), stage.ends) if self.loop.observe(0, stepper.system_q) else 0.0
        self._durations: list[float] = []
        self.recorder = Recorder(stepper, seconds=seconds, progress=self.loop.after_step, durations=self._durations)

    def simulation(self) -> Simulation:
        """What came of it."""
        recording, loop, stage = self.recorder.recording(), self.loop, self._stage
        states = len(recording.q)
        simulation = Simulation(
            character=stage.character,
            terrain=stage.terrain,
            recording=recording,
            followed=Followed(
                q=np.array(loop.q[:states]),
                frame=np.array(loop.frame[:states], dtype=np.int64),
                lap=np.array(loop.lap[:states], dtype=np.int64),
            ),
            cancelled=loop.cancelled,
            lost=loop.lost_in(recording),
            step_seconds=np.array(self._durations[: recording.steps]),
            help=np.array(loop.help[: recording.steps]).reshape(-1, 6),
            torque_limits=stage.torque_limits,
            falls=tuple(loop.falls),
        )
        return simulation.with_notes(self._follower.notes(simulation), self._follower.recoveries)


def _strongest(stage: Stage) -> Array:
    """The greatest torque (motors,) that a body about to fall is given, N m."""
    character, limits = stage.character, stage.torque_limits
    joints = [character.bodies[b].joint.name for b in character.tree.velocity_body]
    most = {} if limits is None else limits.most
    found = np.array([min(STRONGEST * character.total_mass, most.get(joint, np.inf)) for joint in joints])
    return found[6:] if character.bodies[0].joint.kind == "free" else found


class _Loop:
    """What happens between the steps."""

    def __init__(self, follower: Follower, stage: Stage, observer: Observer, *, limp: bool) -> None:
        self._follower, self._observer = follower, observer
        self._character = stage.character
        self._falling = Falling(stage.character)
        self._lies = round(LIES * stage.rate)
        self._strongest = FULL * _strongest(stage)
        self._joint = stage.character.tree.velocity_body[6 if stage.character.bodies[0].joint.kind == "free" else 0 :]
        self._strained = False  # a joint gave all that it has in the last step
        self._after = round(AFTER_FALL * stage.rate) if limp else 0
        self._most_after = round(TUMBLES * stage.rate) if limp else 0
        self._nq, self._nv = stage.character.nq, stage.character.nv
        self._free = stage.character.bodies[0].joint.kind == "free"
        self._fall = FallDetector(stage.character, stage.rate)
        self._given_up: int | None = None  # the state in which the controller did
        self._still = 0  # steps for which it has lain still
        self._asked = not stage.gets_up  # whether it gets up
        self.falls: list[int] = []  # states of falls from which it did
        self.cancelled = False
        self.q: list[Array] = []
        self.frame: list[int] = []
        self.lap: list[int] = []
        self.help: list[Array] = []
        # of help that answers to the step's own velocities: by how much, and those before the step
        self._follows: tuple[Array, Array] | None = None
        self._note()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The controller's, or none once it has lost the character.

        While it may be lost, no joint is given more than a body has: a controller that is far from its motion asks for
        torques that would throw limbs about within a step.
        """
        law = self._acting_law(state, contacts)
        # torques on a free root are help: no motor drives it
        helped = self._free and len(law.torque) == self._nv
        self.help.append(np.array(law.torque[:6]) if helped else np.zeros(6))
        if helped and law.implicit is not None:
            self._follows = law.implicit[:6] / state.dt, state.v[:6].copy()
        return law

    def _acting_law(self, state: State, contacts: Contacts) -> AffineLaw:
        if self._fall.lost is not None:
            return self._falling.law(state, contacts)
        law = self._follower.law(state, contacts)
        joints = law.torque[6:] if self._free and len(law.torque) == self._nv else law.torque
        calm = self._follower.carried or not self._fall.doubtful
        if calm or not (self._strained or self._is_too_much(joints)):
            return law
        return self._falling.law(state, contacts)

    def _is_too_much(self, torque: Array) -> bool:
        """Whether a joint gives more than a body that is about to fall is given."""
        size: Array = np.sqrt(np.bincount(self._joint, torque * torque))[self._joint]
        return bool((size >= self._strongest).any())

    def after_step(self, state: int, stepper: Stepper) -> bool:
        """Note what was wanted; False ends the simulation."""
        self._note()
        q, v = stepper.system_q, stepper.v
        if self._follows is not None:
            slope, before = self._follows
            self.help[-1] -= slope * (v[:6] - before)
            self._follows = None
        if self._follower.lost:
            self._given_up = state
            return False
        fallen = not self._follower.carried and self._fall.update(state, q[: self._nq], v, self.q[-1])
        self._strained = self._fall.doubtful and self._is_too_much(stepper.torque)
        if self._fall.strays and not self._follower.carried and isinstance(stepper, World):
            stepper.heed_as_pushed()
        if self._fall.lost is None and not fallen:
            self._follower.between_steps(stepper, lambda: self.observe(state, q))
        elif isinstance(stepper, World):
            stepper.heed_itself()
            fallen = not self._gets_up(stepper, lambda: self.observe(state, q))
        since, speed = state - (self._fall.lost or 0), float(np.abs(v).max())
        watched = since < (self._after if speed < STILL else self._most_after) and speed < RUNAWAY
        watched |= not self._asked and since < self._most_after
        return self.observe(state, q) and (not fallen or watched) and not self._follower.over

    def _gets_up(self, world: World, goes_on: Callable[[], bool]) -> bool:
        """Whether one that lies still is led up again, from the next step on."""
        lost = self._fall.lost
        self._still = self._still + 1 if float(np.abs(world.v[: self._nv]).max()) < STILL else 0
        if self._asked or lost is None or self._still < self._lies:
            return False
        self._asked = True
        if not self._follower.get_up(world, goes_on):
            return False
        self.falls.append(lost)
        self._fall, self._falling = FallDetector(self._character, world.rate), Falling(self._character)
        self._still, self._asked, self._strained = 0, False, False
        return True

    def observe(self, state: int, q: Array) -> bool:
        """Let the observer see a state; False if it wants to see no more."""
        self.cancelled = not self._observer(state, q, self.frame[-1], self.lap[-1])
        return not self.cancelled

    def lost_in(self, recording: Recording) -> int | None:
        """The first state of a fall."""
        if self._fall.lost is None and self.falls and self._follower.recoveries[-1].what == "rises":
            return self.falls[-1]  # it is not up yet
        if recording.outcome == "diverged":
            return recording.steps if self._follower.lost else self._fall.end()
        return self._fall.lost if self._given_up is None else self._given_up

    def _note(self) -> None:
        self.q.append(self._follower.reference_state()[0])
        self.frame.append(self._follower.row)
        self.lap.append(self._follower.lap)
