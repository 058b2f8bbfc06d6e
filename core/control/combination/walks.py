# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of different strides under look-ahead control, combined into one that walks with any stride between.

Each walk's policy gives its law, and its cost-to-go says what the present state costs it; laws are summed by their
shares (sharing.py). The thesis sequences steps, each with an end for a goal. Here the goal is where a stride ends, and
its weights [w_i] say so twice: in the shares, and in where the next stride of all walks begins.

The thesis leaves open how to combine controllers of different duration. Walks here share a phase, which goes from 0 to
1 in each stride at the weighted mean of their rates; each is asked at its own frame of that phase.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...contact.terrain import Terrain
from ...dynamics import difference, integrate
from ...dynamics.kinematics import difference_positions
from ...motion.cycle import Cycle
from ...motion.reference import Reference
from ..law import AffineLaw, State
from ..lookahead import CostToGo, LookAhead, Place, Settings, Track, sweep
from .projection import Goal, Projection, project, smooth_temperature
from .sharing import mixed_law, shares

Array = NDArray[np.float64]

ROUNDING = 1e-9  # of a stride
ALIKE = 0.001  # m by which strides must differ at least
IN_STEP = 0.75  # share of a stride in which the same feet stand, at least


class CombinedWalk:
    """Cyclic references of one character as one controller. It counts strides by itself: `reset` it with its world.

    `temperature` [lambda] is that of the shares. Unless given it is the greatest d^T S d, d from one walk's state to
    another's at the same phase: the rule by which their bells melt into one (projection.py). Far below it the shares
    choose a walk instead of mixing them, while the next stride begins between theirs, and the character falls.
    """

    def __init__(
        self,
        references: Sequence[Reference],
        settings: Settings | None = None,
        terrain: Terrain | None = None,
        temperature: float | None = None,
    ) -> None:
        chosen = (settings or Settings()).checked()
        self.character = references[0].character
        self.controllers: list[LookAhead] = []
        self._values: list[CostToGo] = []
        self._cycles = [_cycle(reference) for reference in references]
        _check(references, chosen)
        for reference in references:
            track = Track.of(reference)
            policy, value = sweep(reference.character, track, chosen)
            self.controllers.append(LookAhead(self.character, track, chosen, policy, terrain))
            self._values.append(value)
        self._error = np.zeros(2 * self.character.nv)
        self.strides = np.array([float(np.linalg.norm(cycle.shift)) for cycle in self._cycles])  # m
        self._frames = [len(controller.track.q) for controller in self.controllers]
        _check_steps(self.strides, [controller.track for controller in self.controllers])
        self.temperature = self._widest() if temperature is None else temperature
        self._asked: Array = np.full(len(references), 1.0 / len(references))
        self.weights = self.shares = self._asked
        self.reset()

    def reset(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> None:
        """Go to the start of a stride, with the references' coordinates there in the world."""
        self.lap = 0
        for controller in self.controllers:
            controller.reset(0, (x, y, z, yaw))
        self._begin(x, y, yaw)

    def ask(self, stride: float) -> Projection:
        """For a stride of that length (m), from the next one on; and at once after a `reset`."""
        low, high = float(self.strides.min()), float(self.strides.max())
        if not low <= stride <= high:
            raise ValueError(f"A stride of {stride:.2f} m does not lie between the walks' {low:.2f} and {high:.2f} m.")
        goals = [Goal(np.array([length]), np.eye(1)) for length in self.strides]
        found = project(Goal(np.array([stride]), np.eye(1)), goals, smooth_temperature(goals))
        self._asked = found.weights / found.weights.sum()
        if self.lap == 0 and self.phase == 0.0:
            self._begin(*self._anchor)
        return found

    @property
    def row(self) -> int:
        """The first walk's frame now."""
        return self.controllers[0].place.frame

    def reference_state(self) -> tuple[Array, Array]:
        """Positions (nq,) and velocities (nv,) where the character is to be now."""
        states = [controller.reference_state() for controller in self.controllers]
        q = states[0][0]
        apart = np.array([difference(self.character, q, other) for other, _ in states])
        velocities = np.array([v for _, v in states])
        return integrate(self.character, q, self.weights @ apart, 1.0), self.weights @ velocities

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The sum of the walks' laws by their shares; and on to the next frame."""
        values = [self._value(i, state.q, state.v) for i in range(len(self.controllers))]
        self.shares = shares(values, self.weights, self.temperature)
        laws = [controller.law(state, contacts) for controller in self.controllers]
        self._advance()
        return mixed_law(laws, self.shares)

    def _advance(self) -> None:
        """A step of the phase; where it is full, on to the next stride."""
        self.phase += self._rate
        if self.phase > 1.0 - ROUNDING:
            self.lap += 1
            self._begin(*self._next)
            return
        for controller, cycle, frames in zip(self.controllers, self._cycles, self._frames, strict=True):
            frame = int((self.phase + ROUNDING) * frames)
            x, y, yaw = self._anchor
            if frame == frames - 1:  # the walk's own cycle is to lead from here to where the next stride begins
                x, y, yaw = self._next
                yaw -= cycle.turn
                x, y, _ = Cycle((x, y), yaw).move_points(np.array([-cycle.shift[0], -cycle.shift[1], 0.0])).tolist()
            controller.place = Place(frame, (x, y, controller.place.anchor[2], yaw))

    def _begin(self, x: float, y: float, yaw: float) -> None:
        """A stride from there on, of what is asked; each walk keeps the height of ground that it has felt."""
        self.phase = 0.0
        self.weights = self.shares = self._asked
        shift = self.weights @ np.array([cycle.shift for cycle in self._cycles])
        end_x, end_y, _ = Cycle((x, y), yaw).move_points(np.array([*shift, 0.0])).tolist()
        self._rate = sum(weight / frames for weight, frames in zip(self.weights.tolist(), self._frames, strict=True))
        self._anchor = (x, y, yaw)
        self._next = (end_x, end_y, yaw + float(self.weights @ [cycle.turn for cycle in self._cycles]))
        for controller in self.controllers:
            controller.place = Place(0, (x, y, controller.place.anchor[2], yaw))

    def _value(self, i: int, q: Array, v: Array) -> float:
        """What the state costs walk i from its present place on [v_i]; never below zero, as its cost never is."""
        controller = self.controllers[i]
        q_wanted, v_wanted = controller.reference_state()
        nv = len(v)
        error = self._error
        difference_positions(self.character.tree, q_wanted, q, error[:nv])
        np.subtract(v, v_wanted, error[nv:])
        yaw = controller.place.anchor[3]
        c, s = math.cos(yaw), math.sin(yaw)
        for first in (0, nv):  # the root's linear parts, from the world's axes to the walk's own
            x, y = float(error[first]), float(error[first + 1])
            error[first], error[first + 1] = c * x + s * y, c * y - s * x
        return self._cost(i, controller.place.frame, error)

    def _cost(self, i: int, frame: int, error: Array) -> float:
        slope, costate = self._values[i].slope[frame], self._values[i].costate[frame]
        return max(0.0, float(error @ (0.5 * (slope @ error) + costate)))

    def _widest(self) -> float:
        """The greatest d^T S d from any walk's state to another's at the same phase, by the cost-to-go of either."""
        found = 0.0
        samples = max(self._frames)
        for i, own in enumerate(self.controllers):
            for j, other in enumerate(self.controllers):
                for sample in range(samples) if j != i else ():
                    a, b = (sample * self._frames[k] // samples for k in (i, j))
                    apart = difference(self.character, own.track.q[a], other.track.q[b])
                    d = np.concatenate((apart, other.track.v[b] - own.track.v[a]))
                    found = max(found, float(d @ self._values[i].slope[a] @ d))
        return found


def _cycle(reference: Reference) -> Cycle:
    if reference.cycle is None:
        raise ValueError("Only cyclic walks can be combined: make the references cyclic.")
    return reference.cycle


def _check(references: Sequence[Reference], settings: Settings) -> None:
    if len(references) < 2:
        raise ValueError("It takes two walks at least to combine them.")
    first = references[0]
    for other in references[1:]:
        if other.character.bodies != first.character.bodies:
            raise ValueError("Walks that are combined must be of the same character.")
        if other.rate != first.rate:
            raise ValueError(f"Walks of {first.rate:g} and {other.rate:g} steps per second cannot be combined.")
    if settings.reset_phase:
        raise ValueError("Combined walks share their phase: it cannot be reset by contacts.")


def _check_steps(strides: Array, tracks: Sequence[Track]) -> None:
    if np.diff(np.sort(strides)).min() < ALIKE:
        raise ValueError("Two of the walks have the same stride: there is nothing between them.")
    bodies = sorted({int(body) for track in tracks for body in track.point_body})
    samples = max(len(track.q) for track in tracks)
    standing = []
    for track in tracks:
        frames = np.arange(samples) * len(track.q) // samples
        standing.append([track.loaded[frames][:, track.point_body == body].any(axis=1) for body in bodies])
    for other in standing[1:]:
        if np.mean(np.all(np.equal(standing[0], other), axis=0)) < IN_STEP:
            raise ValueError("The walks are not in step: make all references begin at the same point of a stride.")
