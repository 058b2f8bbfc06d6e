# SPDX-License-Identifier: GPL-3.0-or-later
"""The one loop around the stepper, for all methods whose controllers give torques."""

import time
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..character import Character
from ..character.tree import carried_mass
from ..contact.detection import Contacts
from ..control.law import AffineLaw, Controller, State
from ..report.fall import FallWatch
from ..report.simulation import Followed, Simulation
from ..simulation import World, simulate
from ..simulation.world import Action
from .stage import Stage, Watch, surroundings

Array = NDArray[np.float64]

AFTER_FALL = 2.0  # s that a fallen character is still watched
RUNAWAY = 1000.0  # rad/s or m/s, beyond which what has fallen is not watched any more: the next steps are no numbers
SLACK = 0.5  # N m s/rad for each kilogram that hangs from a limp joint


class Follower(Controller, Protocol):
    """A controller that knows where it is in its reference."""

    @property
    def row(self) -> int:
        """The reference's frame now."""
        ...

    @property
    def lap(self) -> int:
        """How many times a cycle has repeated; 0 of other motions."""
        ...

    def reference_state(self) -> tuple[Array, Array]:
        """Positions (nq,) and velocities (nv,) where the character is to be now."""
        ...


def timed_world(stage: Stage) -> "TimedWorld":
    """The stage as a world."""
    return TimedWorld(stage.character, stage.terrain, **surroundings(stage))


def simulate_torques(follower: Follower, stage: Stage, watch: Watch, world: "TimedWorld | None" = None) -> Simulation:
    """Step the world under a controller; a character that falls goes limp, and is watched for a while.

    Controllers that look at the world by themselves bring it with them.
    """
    world = world or timed_world(stage)
    loop = _Loop(follower, stage, watch)
    q, v = follower.reference_state()
    world.reset(q, v if stage.noise is None else v + stage.noise)
    seconds = stage.seconds if loop.told(0, world.system_q) else 0.0
    recording = simulate(world, loop, seconds=seconds, progress=loop.after_step)
    states = len(recording.q)
    return Simulation(
        character=stage.character,
        terrain=stage.terrain,
        recording=recording,
        followed=Followed(
            q=np.array(loop.q[:states]),
            v=np.array(loop.v[:states]),
            frame=np.array(loop.frame[:states], dtype=np.int64),
            lap=np.array(loop.lap[:states], dtype=np.int64),
        ),
        cancelled=loop.cancelled,
        lost=loop.fall.end() if recording.outcome == "diverged" else loop.fall.lost,
        step_seconds=np.array(world.seconds[: recording.steps]),
        help=np.array(loop.help[: recording.steps]).reshape(-1, 6),
    )


class _Limp:
    """No muscle pulls; joints resist motion as those of a body do that has lost its hold."""

    def __init__(self, character: Character) -> None:
        tree = character.tree
        self._motors = slice(6 if character.bodies[0].joint.kind == "free" else 0, character.nv)
        self._damping = SLACK * carried_mass(tree)[self._motors]

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Damping by the velocity after the step, so that it never drives."""
        del contacts
        return AffineLaw(-self._damping * state.v[self._motors], implicit=state.dt * self._damping)


class TimedWorld(World):
    """A world that notes how long each step takes, control included."""

    def step(self, action: Action = None) -> None:
        """One step."""
        begun = time.perf_counter()
        super().step(action)
        self.seconds.append(time.perf_counter() - begun)

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Start anew."""
        self.seconds: list[float] = []
        super().reset(q, v)


class _Loop:
    """What happens between the steps."""

    def __init__(self, follower: Follower, stage: Stage, watch: Watch) -> None:
        self._follower, self._watch = follower, watch
        self._limp = _Limp(stage.character)
        self._most_after = round(AFTER_FALL * stage.rate)
        self._nq, self._nv = stage.character.nq, stage.character.nv
        self._free = stage.character.bodies[0].joint.kind == "free"
        self.fall = FallWatch(stage.character, stage.rate)
        self.cancelled = False
        self.q: list[Array] = []
        self.v: list[Array] = []
        self.frame: list[int] = []
        self.lap: list[int] = []
        self.help: list[Array] = []
        self._note()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The controller's, or none once it has lost the character."""
        acting = self._follower if self.fall.lost is None else self._limp
        law = acting.law(state, contacts)
        # torques on a free root are help: no motor drives it
        helped = self._free and len(law.torque) == self._nv
        self.help.append(np.array(law.torque[:6]) if helped else np.zeros(6))
        return law

    def after_step(self, state: int, world: World) -> bool:
        """Note what was wanted; False ends the simulation."""
        self._note()
        q = world.system_q
        fallen = self.fall.update(state, q[: self._nq], world.v, self.q[-1])
        watched = state < (self.fall.lost or 0) + self._most_after and float(np.abs(world.v).max()) < RUNAWAY
        return self.told(state, q) and (not fallen or watched)

    def told(self, state: int, q: Array) -> bool:
        """Let the watch see a state; False if it wants to see no more."""
        self.cancelled = not self._watch(state, q, self.frame[-1], self.lap[-1])
        return not self.cancelled

    def _note(self) -> None:
        q, v = self._follower.reference_state()
        self.q.append(q)
        self.v.append(v)
        self.frame.append(self._follower.row)
        self.lap.append(self._follower.lap)
