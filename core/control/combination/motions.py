# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of one kind under look-ahead control, combined into one that does anything between them.

A short and a long stride, a low and a high jump. They lie on a line from 0, the first, to 1, the last: what a slider
shows. Each motion's policy gives its law, and its cost-to-go says what the present state costs it; laws are summed by
their shares (sharing.py). What is asked for is projected onto the motions' places on the line; the weights [w_i] that
come of it say so twice: in the shares, and in where the next stride of all walks begins. The thesis sequences steps,
each with an end for a goal; here the goal is where a stride ends.

The thesis leaves open how to combine controllers of different duration. Motions here share a phase that meets the same
contacts at the same values (motion/between.py), and grows at the weighted mean of their rates; each is asked at its own
frame of that phase.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...contact.terrain import Terrain
from ...dynamics import difference, integrate
from ...motion.between import Pace, paces
from ...motion.cycle import Cycle
from ...motion.reference import Reference
from ..law import AffineLaw, State
from ..lookahead import Place, Settings
from .component import Component
from .projection import Goal, Projection, project, smooth_temperature
from .sharing import mixed_law, shares

Array = NDArray[np.float64]

ROUNDING = 1e-9  # of a motion
NONE = 1e-6  # a weight that counts as none: its controller is not asked
IN_STEP = 0.75  # share of a motion in which the same bodies stand, at least


class CombinedMotion:
    """References of one character as one controller. It counts frames by itself: `reset` it with its world.

    `temperature` [lambda] is that of the shares. Unless given it is the greatest d^T S d, d from one motion's state to
    another's at the same phase: the rule by which their bells melt into one (projection.py). Far below it the shares
    choose a motion instead of mixing them, while the next stride begins between theirs, and the character falls.

    With `by_value` the motions are coordinated instead (section 6.3.2): all weigh the same, what is asked for says only
    where to begin, and who is pushed does what costs least from there on. Then lambda is `softness` times half the
    median of d^T S d, by which values of one motion's states typically differ from another's.
    """

    def __init__(
        self,
        references: Sequence[Reference],
        settings: Settings | None = None,
        terrain: Terrain | None = None,
        temperature: float | None = None,
        places: Sequence[float] | None = None,
        by_value: bool = False,
        softness: float = 0.1,
    ) -> None:
        chosen = (settings or Settings()).checked()
        _check(references, chosen)
        self.character = references[0].character
        self.controllers = [Component(reference, chosen, terrain) for reference in references]
        self.places = np.linspace(0.0, 1.0, len(references)) if places is None else np.array(places, dtype=np.float64)
        self.by_value = by_value
        self._paces = paces([controller.standing for controller in self.controllers])
        self._cycles = [reference.cycle for reference in references]
        self.repeats = references[0].cycle is not None
        _check_contacts(self.controllers, self._paces)
        self._goals = [Goal(np.array([place]), np.eye(1)) for place in self.places]
        self._goal_temperature = smooth_temperature(self._goals)
        if temperature is None:
            distances = self._distances()
            temperature = softness * 0.5 * float(np.median(distances)) if by_value else float(distances.max())
        self.temperature = temperature
        self._asked: Array = np.full(len(references), 1.0 / len(references))
        self.reset()
        self.ask(0.5)

    @property
    def strides(self) -> Array:
        """(n,) of motions that repeat, m."""
        return np.array([controller.stride for controller in self.controllers])

    @property
    def rises(self) -> Array:
        """(n,) of jumps, m."""
        return np.array([controller.rise for controller in self.controllers])

    def place_of(self, attained: Array, wanted: float) -> float:
        """The place on the line of what lies between what the motions attain (n,), which rises or falls along it."""
        low, high = float(attained.min()), float(attained.max())
        if not low <= wanted <= high:
            raise ValueError(f"{wanted:.2f} m do not lie between the motions' {low:.2f} and {high:.2f} m.")
        if not (np.diff(attained) > 0.0).all() and not (np.diff(attained) < 0.0).all():
            raise ValueError("What the motions attain must increase, or decrease, from the first to the last.")
        order = np.argsort(attained)
        return float(np.interp(wanted, attained[order], self.places[order]))

    def reset(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> None:
        """Go to the start, with the references' coordinates there in the world."""
        self.lap = 0
        for controller in self.controllers:
            controller.reset(0, (x, y, z, yaw))
        self._begin(x, y, yaw)

    def ask(self, place: float) -> Projection:
        """For what lies there on the line: from the next stride on, or at once where nothing repeats or just begins."""
        if not 0.0 <= place <= 1.0:
            raise ValueError(f"What is asked for lies between 0, the first motion, and 1, the last, not at {place:g}.")
        found = project(Goal(np.array([place]), np.eye(1)), self._goals, self._goal_temperature)
        kept = np.where(found.weights > NONE * found.weights.max(), found.weights, 0.0)
        self._asked = kept / kept.sum()
        if not self.repeats or (self.lap == 0 and self.phase == 0.0):
            self._take_over()
        return found

    @property
    def row(self) -> int:
        """The first motion's frame now."""
        return self.controllers[0].place.frame

    def reference_state(self) -> tuple[Array, Array]:
        """Positions (nq,) and velocities (nv,) where the character is to be now."""
        durations = self._durations()
        whole = float(self.weights @ durations)
        base: Array | None = None
        way, velocity = np.zeros(self.character.nv), np.zeros(self.character.nv)
        for i in np.flatnonzero(self.weights):
            q, v = self.controllers[i].reference_state()
            base = q if base is None else base
            way += self.weights[i] * difference(self.character, base, q)
            velocity += self.weights[i] * durations[i] / whole * v  # played as fast as the shared phase goes
        assert base is not None
        return integrate(self.character, base, way, 1.0), velocity

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The sum of the motions' laws by their shares; and on to the next frame."""
        taking = np.flatnonzero(self._wanted)
        values = [self.controllers[i].value(state.q, state.v) for i in taking]
        self.shares = np.zeros(len(self.controllers))
        self.shares[taking] = shares(values, self._wanted[taking], self.temperature)
        if self.by_value:
            self.weights = self.shares
            self._aim()
        laws = [self.controllers[i].law(state, contacts) for i in taking]
        self._advance(float(self.shares @ [controller.place.anchor[2] for controller in self.controllers]))
        return mixed_law(laws, self.shares[taking])

    def _take_over(self) -> None:
        """What is asked for now counts."""
        self._wanted = np.ones(len(self.controllers)) if self.by_value else self._asked
        self.weights = self.shares = self._asked
        self._aim()

    def _begin(self, x: float, y: float, yaw: float) -> None:
        """From there on, what is asked for."""
        self.phase = 0.0
        self._anchor = (x, y, yaw)
        self._take_over()
        for controller in self.controllers:
            controller.place = Place(0, (x, y, controller.place.anchor[2], yaw))

    def _aim(self) -> None:
        """Where the next stride begins."""
        self._next = self._anchor
        if self.repeats:
            x, y, yaw = self._anchor
            shift = self.weights @ np.array([cycle.shift for cycle in self._cycles if cycle is not None])
            turn = float(self.weights @ [cycle.turn for cycle in self._cycles if cycle is not None])
            x, y, _ = Cycle((x, y), yaw).move_points(np.array([*shift, 0.0])).tolist()
            self._next = (x, y, yaw + turn)

    def _durations(self) -> Array:
        """Steps (n,) that each motion would take for the whole phase if all of it went as here."""
        both = zip(self.controllers, self._paces, strict=True)
        return np.array([controller.steps * pace.rate(self.phase) for controller, pace in both])

    def _advance(self, height: float) -> None:
        """A step of the phase; where it is full, on to the next stride, or to rest. All feel what some have felt."""
        self.phase += 1.0 / float(self.weights @ self._durations())
        over = self.phase > 1.0 - ROUNDING
        if over and self.repeats:
            self.lap += 1
            self._begin(*self._next)
        for controller, cycle, pace in zip(self.controllers, self._cycles, self._paces, strict=True):
            frames = len(controller.track.q)
            if over and not self.repeats:  # on through the stance in which it settles
                frame = min(controller.place.frame + 1, frames - 1)
            else:
                frame = int((pace.at(min(self.phase, 1.0)) + ROUNDING) * controller.steps)
            x, y, yaw = self._anchor
            if cycle is not None and frame == frames - 1:
                # the walk's own cycle is to lead from here to where the next stride begins
                x, y, yaw = self._next
                yaw -= cycle.turn
                x, y, _ = Cycle((x, y), yaw).move_points(np.array([-cycle.shift[0], -cycle.shift[1], 0.0])).tolist()
            controller.place = Place(frame, (x, y, height, yaw))

    def _distances(self) -> Array:
        """All d^T S d from any motion's state to another's at the same phase, by the cost-to-go of the one."""
        found = []
        samples = max(controller.steps for controller in self.controllers)
        for sample in range(samples):
            states = []
            for controller, pace in zip(self.controllers, self._paces, strict=True):
                frame = int((pace.at(sample / samples) + ROUNDING) * controller.steps)
                states.append((controller.track.q[frame], controller.track.v[frame], controller.curvature(frame)))
            for i, (q, v, curvature) in enumerate(states):
                for other_q, other_v, _ in states[:i] + states[i + 1 :]:
                    d = np.concatenate((difference(self.character, q, other_q), other_v - v))
                    found.append(float(d @ curvature @ d))
        return np.array(found)


def _check(references: Sequence[Reference], settings: Settings) -> None:
    if len(references) < 2:
        raise ValueError("Combining needs at least two motions.")
    first = references[0]
    for other in references[1:]:
        if other.character.bodies != first.character.bodies:
            raise ValueError("Combined motions must belong to the same character.")
        if other.rate != first.rate:
            raise ValueError(
                f"Motions of {first.rate:g} and {other.rate:g} steps per second cannot be combined: "
                "resample one of them."
            )
        if (other.cycle is None) != (first.cycle is None):
            raise ValueError(
                "A cyclic motion cannot be combined with one that is not: make all of them cycles, or none."
            )
    if settings.reset_phase or settings.await_touchdown:
        raise ValueError(
            "Combined motions share one phase, which contacts cannot reset: switch Early and Late Contacts off."
        )


def _check_contacts(controllers: Sequence[Component], along: Sequence[Pace]) -> None:
    """ValueError where motions do not stand on the same bodies at the same phases."""
    bodies = sorted({int(body) for controller in controllers for body in controller.track.point_body})
    samples = max(controller.steps for controller in controllers)
    standing = []
    for controller, pace in zip(controllers, along, strict=True):
        frames = [int((pace.at(sample / samples) + ROUNDING) * controller.steps) for sample in range(samples)]
        track = controller.track
        standing.append([track.loaded[frames][:, track.point_body == body].any(axis=1) for body in bodies])
    for number, other in enumerate(standing[1:], 2):
        share = float(np.mean(np.all(np.equal(standing[0], other), axis=0)))
        if share < IN_STEP:
            raise ValueError(
                f"Motion {number} steps out of time with the first: their feet agree for only {100.0 * share:.0f} % of "
                "the time. Combine motions whose feet stand in the same order."
            )
