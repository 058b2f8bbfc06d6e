# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods by which a character can be made to move, each from reference to simulation behind one door.

All controllers that give torques share `simulate_torques`, one loop around the stepper. A method of another kind gives
a `simulate` of its own; nothing after the simulation can tell them apart.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..character import Character
from ..contact.detection import Contacts
from ..contact.terrain import Terrain
from ..control import lookahead
from ..control.law import AffineLaw, State
from ..control.lookahead import LookAhead, PolicyError, Track
from ..motion.reference import Reference
from ..report.fall import FallWatch
from ..report.simulation import Followed, Simulation
from ..simulation import DivergedError, World, simulate
from ..simulation.world import Action
from .cache import Cache
from .job import Scene
from .settings import make_settings

Array = NDArray[np.float64]

REHEARSED = 30.0  # s of a longer simulation that are rehearsed
AFTER_FALL = 2.0  # s that a fallen character is still watched
SLACK = 0.5  # N m s/rad for each kilogram that hangs from a limp joint


def _tell_nobody(share: float) -> None:
    """For stages without an audience."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Where a policy is to act."""

    character: Character  # loads included that the controller does not know of
    terrain: Terrain
    scene: Scene
    rate: float  # 1/s
    seconds: float
    lift: float  # height of the ground at the start over the reference's, m
    # told before each rehearsal which share of them is over; it may raise
    rehearsing: Callable[[float], None] = _tell_nobody


# told each state's number, the whole system's positions, and frame and lap of the reference; False ends it
Watch = Callable[[int, Array, int, int], bool]


class Method(NamedTuple):
    """How one method works: `prepare` makes a policy of a reference, `simulate` lets it act."""

    label: str
    prepare: Callable[[Reference, Mapping[str, Any], Cache], Any]
    simulate: Callable[[Any, Stage, Watch], Simulation]


def prepare_lookahead(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> LookAhead:
    """Gains from the cache, or made and kept there."""
    settings = make_settings(lookahead.Settings, chosen, "look-ahead control").checked()
    character, track = reference.character, Track.of(reference)
    key = lookahead.policy_key(character, track, settings)
    policy = cache.get(key, partial(lookahead.load_policy, key=key))
    if policy is None:
        policy = lookahead.precompute(character, track, settings)
        cache.put(key, partial(lookahead.save_policy, policy, key=key))
    return LookAhead(character, track, settings, policy)


def simulate_lookahead(controller: LookAhead, stage: Stage, watch: Watch) -> Simulation:
    """Follow the track from its first frame on, with settings that hold if there are such."""
    controller, notes = _rehearsed(controller, stage)
    controller.reset(0, (0.0, 0.0, stage.lift, 0.0))
    return replace(simulate_torques(_Follower(controller), stage, watch), notes=notes)


def _rehearsed(controller: LookAhead, stage: Stage) -> tuple[LookAhead, tuple[str, ...]]:
    """The controller, or one with other settings where with its own the character falls; and what was found."""
    own = controller.settings
    if own.rehearsals == 0:
        return controller, ()
    choice = lookahead.choose_settings(
        controller.character,
        controller.track,
        own,
        world=World(stage.character, stage.terrain, **_surroundings(stage)),
        duration=min(stage.seconds, REHEARSED),
        lift=stage.lift,
        replicas=1,
        most=own.rehearsals,
        seconds=own.rehearsal_seconds or None,
        controller=controller,
        progress=lambda number: stage.rehearsing(number / own.rehearsals),
    )
    if choice.settings != own:
        controller = LookAhead(controller.character, controller.track, choice.settings)
    return controller, (choice.text,) if choice.text else ()


class _Follower:
    """What `simulate_torques` needs to know of a controller: its law, and where it is in its reference."""

    def __init__(self, controller: LookAhead) -> None:
        self._controller = controller
        self.lap = 0

    def wanted(self) -> tuple[Array, Array, int]:
        """Positions and velocities where the character is to be now, and the reference's frame."""
        q, v = self._controller.reference_state()
        return q, v, self._controller.place.frame

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The controller's; where it has none, the simulation ends."""
        before = self._controller.place.frame
        try:
            found = self._controller.law(state, contacts)
        except PolicyError as error:
            raise DivergedError(round(state.time / state.dt), state.time, str(error)) from error
        self.lap += self._controller.place.frame < before
        return found


class _Limp:
    """No muscle pulls; joints resist motion as those of a body do that has lost its hold."""

    def __init__(self, character: Character) -> None:
        tree = character.tree
        self._motors = slice(6 if character.bodies[0].joint.kind == "free" else 0, character.nv)
        hanging = tree.mass.copy()
        for b in range(len(tree.parent) - 1, 0, -1):
            hanging[tree.parent[b]] += hanging[b]
        self._damping = SLACK * hanging[tree.velocity_body[self._motors]]

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Damping by the velocity after the step, so that it never drives."""
        del contacts
        return AffineLaw(-self._damping * state.v[self._motors], implicit=state.dt * self._damping)


def simulate_torques(follower: _Follower, stage: Stage, watch: Watch) -> Simulation:
    """Step the world under a controller; a character that falls goes limp, and is watched for a while."""
    world = _TimedWorld(stage.character, stage.terrain, **_surroundings(stage))
    loop = _Loop(follower, stage, watch)
    q, v, _ = follower.wanted()
    world.reset(q, v)
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
    )


def _surroundings(stage: Stage) -> dict[str, Any]:
    """What a world on the stage needs to know besides character and terrain."""
    scene = stage.scene
    return {
        "friction": scene.friction,
        "rate": stage.rate,
        "props": scene.props,
        "grabs": scene.grabs,
        "pushes": scene.pushes,
    }


class _TimedWorld(World):
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

    def __init__(self, follower: _Follower, stage: Stage, watch: Watch) -> None:
        self._follower, self._watch = follower, watch
        self._limp = _Limp(stage.character)
        self._most_after = round(AFTER_FALL * stage.rate)
        self._nq = stage.character.nq
        self.fall = FallWatch(stage.character, stage.rate)
        self.cancelled = False
        self.q: list[Array] = []
        self.v: list[Array] = []
        self.frame: list[int] = []
        self.lap: list[int] = []
        self._note()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The controller's, or none once it has lost the character."""
        acting = self._follower if self.fall.lost is None else self._limp
        return acting.law(state, contacts)

    def after_step(self, state: int, world: World) -> bool:
        """Note what was wanted; False ends the simulation."""
        self._note()
        q = world.system_q
        fallen = self.fall.update(state, q[: self._nq], world.v, self.q[-1])
        return self.told(state, q) and (not fallen or state < (self.fall.lost or 0) + self._most_after)

    def told(self, state: int, q: Array) -> bool:
        """Let the watch see a state; False if it wants to see no more."""
        self.cancelled = not self._watch(state, q, self.frame[-1], self.lap[-1])
        return not self.cancelled

    def _note(self) -> None:
        q, v, frame = self._follower.wanted()
        self.q.append(q)
        self.v.append(v)
        self.frame.append(frame)
        self.lap.append(self._follower.lap)


METHODS: Mapping[str, Method] = {
    "lookahead": Method("Look-ahead", prepare_lookahead, simulate_lookahead),
}
