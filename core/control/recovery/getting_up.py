# SPDX-License-Identifier: GPL-3.0-or-later
"""`GettingUp`: a controller whose character gets up after a fall, and goes on with its action from where it stands.

Once it lies still, a rough way up (motion/rising), its own or a named one, is made possible by the spacetime
optimiser, with the least help where help is allowed, and followed like any other motion. It ends in the action, moved
to where the body is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...motion.cycle import Cycle
from ...motion.fit import pose_at
from ...motion.quaternions import rotate
from ...motion.reference import Reference
from ...motion.rising.entry import Entry, entry
from ...motion.rising.lying import can_rise
from ...motion.rising.rise import Rise, rise
from ...motion.rising.rough import Goal
from ...motion.schedule import ContactSchedule
from ...motion.spacetime import Ends
from ...motion.spacetime.build import build_reference, build_roughly
from ...motion.spacetime.steering import Budget
from ...simulation import World
from ...simulation.outcome import Recovery, Simulation
from ...simulation.recording import Stepper
from ..law import AffineLaw, State
from ..lookahead.carried import Carried
from ..lookahead.lookahead import LookAhead, Place
from ..lookahead.policy import CostToGo
from ..lookahead.precompute import sweep
from ..lookahead.track import Track
from ..method import Follower
from ..stage import Stage
from .plan import StoppedError, end_value

Array = NDArray[np.float64]

SETS_OFF = 0.6  # of its speed, at which an action that is on its way is entered
SPEEDS_UP = 0.6  # s, until it has its own
SLOWER = (1.0, 1.4, 0.8)  # times the usual time, one after the other until there is a possible way
CLOSE = 0.04  # m of mean distance from the rough way, up to which help is to bring it: from farther legs are swung


class GettingUp(Follower):
    """A look-ahead controller, by itself or in others' hands, that gets up when it has fallen."""

    def __init__(
        self, usual: Follower, motion: LookAhead, reference: Reference, stage: Stage, value: CostToGo | None = None
    ) -> None:
        self._usual, self._motion, self._reference, self._stage = usual, motion, reference, stage
        self._value = value
        self._rising: Carried | LookAhead | None = None
        self._left = 0  # steps until it is up
        self._joins = motion.place  # where the action is gone on with
        self._recoveries: list[Recovery] = []
        self._notes: list[str] = []

    @property
    def _acting(self) -> Follower:
        return self._usual if self._rising is None else self._rising

    @property
    def row(self) -> int:
        """The action's frame: while it gets up, that in which it will go on."""
        return self._usual.row if self._rising is None else self._motion.row_of(self._joins)

    @property
    def lap(self) -> int:
        """And its lap."""
        return self._usual.lap if self._rising is None else self._motion.lap_of(self._joins)

    @property
    def carried(self) -> bool:
        """Whether help carries it."""
        return self._acting.carried

    @property
    def lost(self) -> bool:
        """Whether it gives the character up."""
        return self._acting.lost

    @property
    def over(self) -> bool:
        """Whether there is nothing left to follow."""
        return self._rising is None and self._usual.over

    def seconds(self, asked: float) -> float:
        """As long as its action takes."""
        return self._usual.seconds(asked)

    def reference_state(self) -> tuple[Array, Array]:
        """Of the way up, or of the action."""
        return self._acting.reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of the way up, or of the action."""
        if self._rising is None:
            return self._usual.law(state, contacts)
        law = self._rising.law(state, contacts)
        self._left -= 1
        if self._left == 0:
            self._motion.place, self._rising = self._joins, None
            self._usual.begin_anew()
            self._recoveries.append(Recovery(state.time, "up", 0.0))
        return law

    def between_steps(self, stepper: Stepper, goes_on: Callable[[], bool]) -> None:
        """What it usually thinks about, once it is up."""
        if self._rising is None:
            self._usual.between_steps(stepper, goes_on)

    def get_up(self, stepper: Stepper, goes_on: Callable[[], bool]) -> bool:
        """Plan a way up from where the character lies."""
        assert isinstance(stepper, World)
        try:
            made = self._made(stepper, goes_on)
        except StoppedError:
            return False
        if not made:
            self._notes.append("It found no way to get up from there.")
            return False
        stepper.ignore_itself()
        self._recoveries.append(Recovery(stepper.time, "rises", 0.0))
        return True

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """Steps that it took, and when it got up."""
        return sorted((*self._usual.recoveries, *self._recoveries), key=lambda one: one.time)

    def notes(self, simulation: Simulation) -> Sequence[str]:
        """What it usually says, and where it could not get up."""
        return (*self._usual.notes(simulation), *self._notes)

    def _made(self, world: World, goes_on: Callable[[], bool]) -> bool:
        reference, motion = self._reference, self._motion
        character = reference.character
        found = entry(reference, self._usual.row) if can_rise(character) else None
        if found is None:
            return False
        begin = _Beginning(motion, reference, found)
        q, v = world.q[: character.nq], world.v[: character.nv]
        value = self._value or sweep(character, motion.track, motion.settings)[1]
        self._value = value

        def ask(iteration: int, q: Array) -> None:
            del iteration, q
            if not goes_on():
                raise StoppedError

        terrain, helped, named = self._stage.terrain, self._stage.helped, self._stage.way_up
        for slower in SLOWER if named is None else SLOWER[:1]:  # what is named keeps its time
            way = rise(character, terrain, q, begin.goal, reference.rate, slower, named)
            joins = begin.moved(way)
            bounds = Ends((q, v), motion.reference_state(joins))
            made = build_roughly(
                character,
                way.trajectory,
                way.schedule,
                terrain=terrain,
                bounds=bounds,
                helped=helped,
                close=CLOSE,
                progress=ask,
            )
            if made is not None:
                break
        if made is None and helped:  # by more help, up to all that it takes
            way = rise(character, terrain, q, begin.goal, reference.rate, named=named)
            joins = begin.moved(way)
            made = build_reference(
                character,
                way.trajectory,
                way.schedule,
                terrain=terrain,
                bounds=Ends((q, v), motion.reference_state(joins)),
                help_given="as_needed",
                without_first=False,
                far=CLOSE,
                budget=Budget(character.nv, reference.rate),
                progress=ask,
            )
        if made is None:
            return False
        track = Track.of(made, settles=False)
        track = track.guided() if helped else track
        settings = replace(motion.settings, reset_phase=False, follow_ground=False)
        end = end_value(character, motion, value, joins, (track.q[-1], track.v[-1]))
        policy, _ = sweep(character, track, settings, end)
        if not np.isfinite(policy.gain).all():
            return False
        controller = LookAhead(character, track, settings, policy, terrain)
        self._rising = Carried(controller) if helped else controller
        self._left, self._joins = made.steps, joins
        return True


class _Beginning:
    """The first frames of what is gone on with, ever faster until it has its own speed."""

    def __init__(self, motion: LookAhead, reference: Reference, found: Entry) -> None:
        self._motion, self._row = motion, found.row
        character, schedule = reference.character, reference.schedule
        speeds = np.linspace(SETS_OFF if found.moves else 0.0, 1.0, round(SPEEDS_UP * reference.rate))
        at = np.concatenate(([0.0], np.cumsum(speeds)))
        self._count = int(at[-1])
        at = np.minimum(at, self._count)
        places = [Place(found.row, (0.0, 0.0, 0.0, 0.0))]
        while len(places) <= self._count:
            places.append(motion.after(places[-1]))
        own = [point.foot and character.bodies[point.body].name == found.foot for point in schedule.points]
        self._floor = float(schedule.place[found.row, own, 2].mean())
        self._facing = _facing(reference.q[found.row])
        away, down = Cycle((0.0, 0.0), -self._facing), np.array([0.0, 0.0, self._floor])
        poses = np.array([motion.reference_state(place)[0] for place in places])
        still = np.zeros(character.nv)
        q = np.array([away.move_state(character, pose_at(character, poses, one), still)[0] for one in at.tolist()])
        q[:, 2] -= self._floor
        nearest = [places[k] for k in np.rint(at).astype(np.int64).tolist()]
        rows = [min(one.frame, len(schedule.active) - 1) for one in nearest]
        lie = [
            Cycle((x, y), yaw).move_points(schedule.place[row]) + np.array([0.0, 0.0, z])
            for row, (x, y, z, yaw) in zip(rows, (one.anchor for one in nearest), strict=True)
        ]
        active = schedule.active[rows]
        there = np.where(active[..., None], away.move_points(np.array(lie)) - down, 0.0)
        self.goal = Goal(q, ContactSchedule(schedule.points, active, there), found.foot)

    def moved(self, way: Rise) -> Place:
        """Where it is gone on with after these frames, in the world."""
        x, y = way.moved.shift
        place = Place(self._row, (x, y, way.height - self._floor, way.moved.turn - self._facing))
        for _ in range(self._count):
            place = self._motion.after(place)
        return place


def _facing(q: Array) -> float:
    """The way that a root faces, rad."""
    ahead = rotate(q[3:7], np.array([1.0, 0.0, 0.0]))
    return float(np.arctan2(ahead[1], ahead[0]))
