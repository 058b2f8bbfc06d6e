# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened: states and forces at the simulation's rate, and the same at the rate of an animation's frames."""

import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..character import check
from ..character.tree import Tree
from ..dynamics.kinematics import difference_positions, integrate_positions
from .world import Action, DivergedError

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Outcome = Literal["completed", "diverged", "cancelled"]

SAME_PLACE = 1e-9  # steps: a frame that falls as little short of a state is at it


class Frames(NamedTuple):
    """A recording at another rate; rows (nf) are frames."""

    time: Array  # (nf,) s
    q: Array  # (nf, nq) interpolated on the manifold
    v: Array  # (nf, nv)
    torque: Array  # (nf, motors) low-passed, as all forces
    wrench: Array  # (nf, nb, 6)
    grab_force: Array  # (nf, ng, 6)


class Moment(NamedTuple):
    """Where a frame lies between states."""

    state: int  # before it
    share: float  # of the way to the next state


@dataclass(frozen=True, eq=False)
class Recording:
    """n steps: n + 1 states and n sets of forces, those of step k acting from state k to k + 1.

    q and v are the character's, then the props'. Contacts of all steps stand one after another: those of step k are
    rows contact_start[k] to contact_start[k + 1].
    """

    outcome: Outcome
    reason: str  # in a sentence, empty if completed
    tree: Tree  # of the character and the props
    rate: float  # 1/s
    time: Array  # (n + 1,) s
    q: Array  # (n + 1, nq)
    v: Array  # (n + 1, nv)
    torque: Array  # (n, motors) N m
    wrench: Array  # (n, nb, 6) of all contacts on a body: force, and moment about its origin, in the world
    grab_force: Array  # (n, ng, 6)
    residual: Array  # (n,) worst miss of a contact or limit row, m/s or rad/s
    lcp_residual: Array  # (n,) the solver's, of the scaled problem
    unknowns: Indices  # (n,) of the contact problem
    contact_start: Indices  # (n + 1,)
    contact_key: Indices  # (nc,) name of the contact, the same from step to step
    contact_body: Indices  # (nc,)
    contact_other: Indices  # (nc,) the body that it touches, -1 for terrain, world.ANOTHER for another character's
    contact_point: Array  # (nc, 3) in the world, m
    contact_force: Array  # (nc, 3) on the body, in the world, N
    contact_gap: Array  # (nc,) m

    @property
    def steps(self) -> int:
        """Number of steps that gave a valid state."""
        return len(self.residual)

    def moments(self, fps: float, count: int) -> list[Moment]:
        """Where frames at `fps` per second lie, none beyond a step after the last state."""
        places = [min(frame / fps * self.rate, self.steps + 1.0) for frame in range(count)]
        states = [min(int(place + SAME_PLACE), max(self.steps - 1, 0)) for place in places]
        return [Moment(k, max(place - k, 0.0)) for place, k in zip(places, states, strict=True)]

    def resample(self, fps: float, count: int | None = None) -> Frames:
        """At `fps` frames per second from the first state on, all that it has, or `count` frames.

        The last of these may lie up to a step after the last state: then it goes on as that moves.
        States lie on geodesics between those of the steps. Forces are averaged with a raised cosine of two frames'
        width about each frame, so that what is faster than the frames can show does not come back as something slow.
        """
        fps = check.positive(fps, "frame rate", "the recording")
        if count is None:
            count = int(np.floor((self.time[-1] - self.time[0]) * fps + 1e-9)) + 1
        time = self.time[0] + np.arange(count) / fps
        q, v = np.zeros((count, self.q.shape[1])), np.zeros((count, self.v.shape[1]))
        for f, (k, share) in enumerate(self.moments(fps, count)):
            last = min(k + 1, self.steps)
            q[f] = between(self.tree, self.q[k], self.q[last], share)
            v[f] = (1.0 - share) * self.v[k] + share * self.v[last]
        weights = _weights(time, self.time, max(1.0 / fps, 1.0 / self.rate))
        return Frames(
            time=time,
            q=q,
            v=v,
            torque=_average(weights, self.torque),
            wrench=_average(weights, self.wrench),
            grab_force=_average(weights, self.grab_force),
        )


def between(tree: Tree, before: Array, after: Array, share: float) -> Array:
    """Positions on the geodesic from one state's to the next's."""
    way, q = np.zeros(len(tree.velocity_body)), np.zeros(len(before))
    difference_positions(tree, before, after, way)
    integrate_positions(tree, before, way, share, q)
    return q


def _weights(frames: Array, steps: Array, half_width: float) -> Array:
    """(frames, n): integral of a raised cosine about each frame over each step's time, each row summing to one."""

    def integral(x: Array) -> Array:
        x = np.clip(x / half_width, -1.0, 1.0)
        return np.asarray(0.5 * (x + np.sin(np.pi * x) / np.pi))

    weights = np.diff(integral(steps[None, :] - frames[:, None]), axis=1)
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(totals > 0.0, totals, 1.0))


def _average(weights: Array, values: Array) -> Array:
    """Means (frames, …) of values (n, …), one by one: how a large product rounds depends on threads."""
    means = np.zeros((len(weights), *values.shape[1:]))
    for mean, row in zip(means, weights, strict=True):
        own = np.flatnonzero(row)
        mean[...] = np.tensordot(row[own], values[own], axes=1)
    return means


class Touching(Protocol):
    """Contacts of a step, n of them; a part of `ContactForces`."""

    @property
    def key(self) -> Indices:
        """(n,) names that last from step to step."""
        ...

    @property
    def body(self) -> Indices:
        """(n,) that the force acts on."""
        ...

    @property
    def other(self) -> Indices:
        """(n,) bodies that are touched, -1 for terrain."""
        ...

    @property
    def point(self) -> Array:
        """(n, 3) in the world, m."""
        ...

    @property
    def gap(self) -> Array:
        """(n,) m."""
        ...

    @property
    def force(self) -> Array:
        """(n, 3) N."""
        ...


class Stepper(Protocol):
    """What can be stepped and recorded: a `World`, or a model that a method steps by itself."""

    @property
    def dt(self) -> float:
        """Length of a step, s."""
        ...

    @property
    def rate(self) -> float:
        """Steps per second."""
        ...

    @property
    def time(self) -> float:
        """Since the reset, s."""
        ...

    @property
    def tree(self) -> Tree:
        """Of the character and the props."""
        ...

    @property
    def system_q(self) -> Array:
        """Positions of the character and then of the props; a copy."""
        ...

    @property
    def system_v(self) -> Array:
        """Velocities of the character and then of the props; a copy."""
        ...

    @property
    def v(self) -> Array:
        """Velocities (nv,) of the character; a copy."""
        ...

    @property
    def torque(self) -> Array:
        """(motors,) of the last step, N m; a copy."""
        ...

    @property
    def grab_forces(self) -> Array:
        """(ng, 6) of the last step; a copy."""
        ...

    @property
    def residual(self) -> float:
        """Worst miss of a contact in the last step, m/s."""
        ...

    @property
    def lcp_residual(self) -> float:
        """The solver's own, of the last step's contact problem."""
        ...

    @property
    def lcp_unknowns(self) -> int:
        """Size of the last step's contact problem."""
        ...

    @property
    def contacts(self) -> Touching:
        """Of the last step; copies."""
        ...

    def contact_wrenches(self) -> Array:
        """(nb, 6) of the last step on each body; a copy."""
        ...

    def reset(self, q: Array, v: Array) -> None:
        """Start anew in a state of the character."""
        ...

    def step(self, action: Any) -> None:
        """One step under an action, or DivergedError."""
        ...


class Recorder:
    """Records a simulation, told of each step, and knows when it is over."""

    def __init__(
        self,
        stepper: Stepper,
        *,
        seconds: float,
        progress: Callable[[int, Any], bool] | None = None,
        durations: list[float] | None = None,
    ) -> None:
        """What `simulate` is told; the stepper is where it begins."""
        self._stepper, self._progress, self._durations = stepper, progress, durations
        self._left = round(check.not_negative(seconds, "duration", "the simulation") / stepper.dt)
        self._outcome: Outcome = "completed"
        self._reason = ""
        self._time, self._q, self._v = [stepper.time], [stepper.system_q], [stepper.system_v]
        self._torque: list[Array] = []
        self._wrench: list[Array] = []
        self._grabs: list[Array] = []
        self._residual: list[float] = []
        self._lcp_residual: list[float] = []
        self._unknowns: list[int] = []
        self._start = [0]
        self._found: list[Touching] = []

    @property
    def goes_on(self) -> bool:
        """Whether there is another step to take."""
        return self._left > 0

    def go_on(self, action: Action) -> None:
        """Step to the end under an action."""
        while self.goes_on:
            begun = clock.perf_counter()
            try:
                self._stepper.step(action)
            except DivergedError as error:
                self.fail(error)
            else:
                self.note(clock.perf_counter() - begun)

    def note(self, duration: float) -> None:
        """A step was taken, and computed in so long, s."""
        stepper = self._stepper
        contacts = stepper.contacts
        if self._durations is not None:
            self._durations.append(duration)
        self._time.append(stepper.time)
        self._q.append(stepper.system_q)
        self._v.append(stepper.system_v)
        self._torque.append(stepper.torque)
        self._wrench.append(stepper.contact_wrenches())
        self._grabs.append(stepper.grab_forces)
        self._residual.append(stepper.residual)
        self._lcp_residual.append(stepper.lcp_residual)
        self._unknowns.append(stepper.lcp_unknowns)
        self._found.append(contacts)
        self._start.append(self._start[-1] + len(contacts.key))
        self._left -= 1
        steps = len(self._residual)
        if self._progress is not None and not self._progress(steps, stepper):
            self._outcome, self._reason = "cancelled", f"The simulation was cancelled after {steps} steps."
            self._left = 0

    def fail(self, error: DivergedError) -> None:
        """The step gave no valid state; what went before is kept."""
        self._outcome, self._reason, self._left = "diverged", str(error), 0

    def recording(self) -> Recording:
        """All of it."""
        stepper, steps, found = self._stepper, len(self._residual), self._found
        return Recording(
            outcome=self._outcome,
            reason=self._reason,
            tree=stepper.tree,
            rate=stepper.rate,
            time=np.array(self._time),
            q=np.array(self._q),
            v=np.array(self._v),
            torque=np.array(self._torque).reshape(steps, len(stepper.torque)),
            wrench=np.array(self._wrench).reshape(steps, len(stepper.tree.parent), 6),
            grab_force=np.array(self._grabs).reshape(steps, len(stepper.grab_forces), 6),
            residual=np.array(self._residual),
            lcp_residual=np.array(self._lcp_residual),
            unknowns=np.array(self._unknowns, dtype=np.int64),
            contact_start=np.array(self._start, dtype=np.int64),
            contact_key=np.concatenate([np.zeros(0, np.int64), *(contacts.key for contacts in found)]),
            contact_body=np.concatenate([np.zeros(0, np.int64), *(contacts.body for contacts in found)]),
            contact_other=np.concatenate([np.zeros(0, np.int64), *(contacts.other for contacts in found)]),
            contact_point=np.concatenate([np.zeros((0, 3)), *(contacts.point for contacts in found)]),
            contact_force=np.concatenate([np.zeros((0, 3)), *(contacts.force for contacts in found)]),
            contact_gap=np.concatenate([np.zeros(0), *(contacts.gap for contacts in found)]),
        )


def simulate(
    stepper: Stepper,
    action: Action = None,
    *,
    seconds: float,
    progress: Callable[[int, Any], bool] | None = None,
    durations: list[float] | None = None,
) -> Recording:
    """Step a world for some time under torques, a law or a controller, and record it.

    A step without a valid state ends the simulation, and what went before is kept. `progress` is called with the number
    of steps after each, and ends it by returning False. `durations` takes in how long each step was computed, s.
    """
    recorder = Recorder(stepper, seconds=seconds, progress=progress, durations=durations)
    recorder.go_on(action)
    return recorder.recording()
