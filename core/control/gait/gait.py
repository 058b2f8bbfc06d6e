# SPDX-License-Identifier: GPL-3.0-or-later
"""`Gait`: a walk made of key poses and feedback, after Carensac et al.; it needs no clip."""

import math

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.detection import Contacts
from ...simulation.course import Course
from ..law import AffineLaw, State
from ..method import Follower
from .arms import hang_arms
from .biped import LEG, make_biped
from .gains import Feedback, Gains, load_gains
from .heading import Heading
from .law import update_law
from .pendulum import returning_speed
from .settings import Settings
from .stabiliser import Stabiliser
from .standing import standing
from .style import load_style
from .velocity import BINS, Learnt, learn
from .workspace import LEFT, Machine, Walk, make_memory, make_scratch

Array = NDArray[np.float64]

SLOW = 0.1  # m/s, up to which steps are as slow as they get
WITHIN = 0.9  # share of the sole within which the ground's force stays
PUSHING = 2.0  # times as much as that may be asked of an ankle whose heel rises
# Steps of adults are so much longer, m, with each that they take more in a minute, at all speeds but the slowest
# (Sekiya and Nagasaki, "Reproducibility of the walking patterns of normal young adults", 1998).
WALK_RATIO = 0.0065
FASTER = 0.3  # m/s by which the speed may change from one step to the next
ROOT = 6  # velocities of the free root, which no motor drives


class Gait(Follower):
    """A walk along a course. It counts its steps by itself: `begin` it, and reset its world to the `reference_state`.

    There is no reference, so where the character is to be is told by what the controller wants at the moment: joints
    as they are to be, the pelvis upright over where it is, as high as a straight leg on the standing foot holds it.
    """

    row = 0
    lap = 0

    def __init__(
        self,
        character: Character,
        course: Course,
        rate: float,
        settings: Settings | None = None,
        *,
        start: Array | None = None,
        gains: Gains | None = None,
    ) -> None:
        """`start` is the pose (nq,) that the walk begins in, facing where it is to go; by default the neutral one.

        Whatever the style does not move stays as it is there; arms come down and swing. Its legs are straightened where
        it does not stand on both feet.
        """
        self.character, self.course = character, course
        self.settings = (settings or Settings()).checked()
        gains = gains or load_gains(rate)
        pose = character.neutral() if start is None else np.array(start, dtype=np.float64)
        biped = make_biped(character, gains, pose, None if self.settings.implicit else rate)
        self.start = standing(character, biped, pose)
        self.biped = biped._replace(start=self.start, base=hang_arms(character, biped.arm, self.start))
        style = load_style(self.settings.style)
        size = self.biped.height / LEG
        slow = math.sqrt(size)  # longer legs swing more slowly
        self._longest_step = slow * style.step_seconds
        self._walk_ratio = size**1.5 * WALK_RATIO
        share = 1.0 - 2.0 * self.settings.share if self.settings.stabiliser else WITHIN
        self._walk = Walk(
            phases=style.phases,
            poses=style.poses,
            step_seconds=np.zeros(1),
            clearance=size * style.clearance,
            width=size * style.width,
            speed=np.zeros(2),
            curve=np.zeros((2, BINS)),
            offset=np.zeros(1),
            heading=np.zeros(1),
            feedback=_sized(gains.feedback, size),
            implicit=np.array([self.settings.implicit]),
            within=share,
            # the stabiliser would have the heel down again
            pushing=1.0 if self.settings.stabiliser else PUSHING,
        )
        self._memory = make_memory()
        self._scratch = make_scratch(character.nq, character.nv)
        self._machine: Machine | None = None
        self._wanted = self.start.copy()
        self.stabiliser: Stabiliser | None = None
        if self.settings.stabiliser:
            self.stabiliser = Stabiliser(character, self.biped, self.settings.prediction, self.settings.share)
        self.begin()

    def begin(self, first: int = LEFT, lift: float = 0.0) -> None:
        """Stand at time zero, first on this leg, on ground that is so much higher than the start's."""
        for array in self._memory:
            array[...] = 0
        for array in (self._walk.curve, self._walk.offset, self._walk.speed):
            array[...] = 0.0
        if self.stabiliser is not None:
            self.stabiliser.clear()
        self.steps = 0
        self._wanted[:] = self.start
        self._wanted[2] += lift
        self._facing = _yaw(self.start)
        self._heading = Heading(self._facing + self.course.at(0.0)[2])
        self._begin_step(first, 0.0)

    @property
    def stance(self) -> int:
        """The leg that stands: 0 the left, 1 the right."""
        return int(self._memory.stance[0])

    def reference_state(self) -> tuple[Array, Array]:
        """Positions (nq,) wanted now, and velocities (nv,).

        There are none, but as it starts it sways to its standing foot as after a step: without that, or with less, it
        would fall aside over the edge of the foot that lands next.
        """
        velocity = np.zeros(self.character.nv)
        if self.steps == 0 and self._memory.fresh[0]:
            biped = self.biped
            sway = returning_speed(biped.apart, biped.height, float(self._walk.step_seconds[0]), biped.gravity)
            sway *= 1.0 if self.stance == LEFT else -1.0
            velocity[:2] = -sway * np.sin(self._facing), sway * np.cos(self._facing)
        return self._wanted.copy(), velocity

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step of time."""
        self._walk.heading[0] = self._heading.at(float(self._memory.clock[0]))
        over = update_law(self._machine_on(state, contacts), state.q_next, state.v, state.dt)
        self._tell(state)
        if self.stabiliser is not None:
            self.stabiliser.correct(state, contacts, self.stance, self._scratch.torque, self._scratch.implicit)
        law = AffineLaw(self._scratch.torque[ROOT:], implicit=self._scratch.implicit[ROOT:])
        if over:
            self._learn()
            self.steps += 1
            self._begin_step(1 - self.stance, state.time + state.dt)
        return law

    def _learn(self) -> None:
        """From the velocities seen over the step that ends."""
        walk, memory = self._walk, self._memory
        with np.errstate(invalid="ignore"):
            seen = memory.seen / memory.counted
        side = -1.0 if self.stance == LEFT else 1.0
        for k, wanted in enumerate((walk.speed[0], side * walk.speed[1])):
            learnt = learn(Learnt(walk.curve[k], float(walk.offset[0])), seen[k], float(wanted))
            walk.curve[k] = learnt.curve
            # whoever drifts aside does so over both feet alike, which an offset away from either cannot mend: it grew
            # until the walk fell
            if k == 0:
                walk.offset[0] = learnt.offset

    def _begin_step(self, stance: int, time: float) -> None:
        memory = self._memory
        memory.stance[0], memory.clock[0], memory.fresh[0] = stance, 0.0, True
        memory.seen[:], memory.counted[:] = 0.0, 0.0
        forward, left, heading = self.course.at(time)
        self._heading.begin_step(self._facing + heading, -1.0 if stance == LEFT else 1.0)
        wanted = self._heading.pace * forward, left
        speed = self._walk.speed
        speed[:] += np.clip(np.subtract(wanted, speed), -FASTER, FASTER)
        # v T^2 / 60 is a walk's ratio; at a fixed time the faster ones had steps too long for the legs
        natural = math.sqrt(60.0 * self._walk_ratio / max(abs(float(speed[0])), SLOW))
        self._walk.step_seconds[0] = min(self._longest_step, natural)

    def _tell(self, state: State) -> None:
        wanted, foot, half = self._wanted, self.biped.foot[self.stance], 0.5 * self._walk.heading[0]
        wanted[7:] = self._scratch.goal[7:]
        wanted[:2] = state.q_next[:2]
        wanted[2] = state.work.position[foot, 2] - self.biped.sole[self.stance, 3] + self.biped.height
        wanted[3:7] = np.cos(half), 0.0, 0.0, np.sin(half)

    def _machine_on(self, state: State, contacts: Contacts) -> Machine:
        """The kernel's pointer to a world's arrays; a world keeps the same ones."""
        machine = self._machine
        if machine is None or machine.bodies is not state.work or machine.contacts is not contacts:
            machine = self._machine = Machine(
                self.character.tree, state.work, contacts, self.biped, self._walk, self._memory, self._scratch
            )
        return machine


def _sized(feedback: Feedback, size: float) -> Feedback:
    """For legs that are `size` times as long."""
    slow = math.sqrt(size)
    return feedback._replace(
        speed_forward=feedback.speed_forward / slow,
        speed_sideways=feedback.speed_sideways / slow,
        step_speed=feedback.step_speed / (1.0 / slow),
        height=feedback.height / size,
    )


def _yaw(q: Array) -> float:
    """Heading of the root's forward axis."""
    w, x, y, z = q[3:7]
    return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
