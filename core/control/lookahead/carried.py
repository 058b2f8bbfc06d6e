# SPDX-License-Identifier: GPL-3.0-or-later
"""`Carried`: who is about to be lost although nobody pushed is carried along the motion by help, from there on.

It is the last rung: whatever the motion asks for, it ends near the motion. All velocities are driven, a free root's
too, by a stable PD controller about the motion (Tan, Liu and Turk 2011, equation 3),

    tau = tau_ref + k_p (q_ref - q_{k+2}) + k_d (v_ref - v_{k+1}),    q_{k+2} = q_{k+1} (+) dt v_{k+1},

beginning with the motion's own torques and help, so that the ground goes on to bear what it can. Gains are critically
damped for the inertia that each velocity moves in the neutral pose, or a little more.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...dynamics import difference, mass_matrix
from ...motion.quaternions import conjugate, rotate
from ...simulation.fall import height_of, lean
from ...simulation.outcome import Simulation
from ...simulation.recording import Stepper
from ..law import AffineLaw, NoLawError, State
from ..method import Follower
from .lookahead import LookAhead, Place

Array = NDArray[np.float64]

RUSHING = 30.0  # rad/s or m/s, over which a velocity is pulled back
# Of mass times height squared: a light foot that misses the ground would spin by the torque that was to push it off.
LEAST_INERTIA = 1e-3
FARTHEST = 0.5  # rad or m, over which it is pulled back
STRONGEST = 20.0  # N m for each kilogram, of any joint
MOST_HELP = 8.0  # times the weight, and its moment over a metre
ROOT, JOINTS = 20.0, 40.0  # rad/s: how quickly the root and the joints come back


class Slack(NamedTuple):
    """How far a character may be from its motion without being carried; lengths in its heights."""

    sunk: float  # of the root, up or down
    strayed: float  # along the ground
    leaning: float  # rad, from where the root should lean
    rushing: float  # rad/s or m/s, by which a velocity is off


# A little less than a fall is: who gets by with that finds back by itself, and better.
LOSING = Slack(0.15, 0.5, math.radians(50.0), 55.0)
# of who is known to fall: it goes on as well as it can until it begins to
FALLING = Slack(0.015, 0.025, math.radians(5.0), 30.0)


class Carried(Follower):
    """A look-ahead controller, and once it is losing its character, help to the end."""

    def __init__(self, motion: LookAhead, slack: Slack = LOSING, by_itself: Follower | None = None) -> None:
        """Until then another may act in its place that plans steps of the same motion."""
        self.motion, self._slack, self._by_itself = motion, slack, by_itself or motion
        self.since: float | None = None  # s, from when on it is carried
        character = motion.character
        self._height = height_of(character)
        least = LEAST_INERTIA * character.total_mass * self._height**2
        inertia = np.maximum(np.diag(mass_matrix(character, character.neutral())), least)
        pace = np.where(np.arange(character.nv) < 6, ROOT, JOINTS)
        self._stiffness, self._damping = inertia * pace**2, 2.0 * inertia * pace
        weight = character.total_mass * float(np.linalg.norm(character.gravity))
        self._most = np.full(character.nv, STRONGEST * character.total_mass)
        self._most[:6] = MOST_HELP * weight

    @property
    def row(self) -> int:
        """The motion's frame in which the character is to be now."""
        return self._acting.row

    @property
    def lap(self) -> int:
        """How many times a cycle has been walked."""
        return self._acting.lap

    def reference_state(self) -> tuple[Array, Array]:
        """Of the motion."""
        return self._acting.reference_state()

    def between_steps(self, stepper: Stepper, goes_on: Callable[[], bool]) -> None:
        """Plan, while it goes by itself."""
        self._acting.between_steps(stepper, goes_on)

    @property
    def carried(self) -> bool:
        """Whether it is."""
        return self.since is not None

    def begin_anew(self) -> None:
        """By itself, for as long as it can."""
        self.since = None

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The motion's own while that holds the character."""
        if self.since is None and not self._losing(state):
            place = self.motion.place
            try:
                law = self._acting.law(state, contacts)
            except NoLawError:
                law = None
            if law is not None and (np.abs(law.torque) <= self._most[-len(law.torque) :]).all():
                return law
            self.motion.place = place
        if self.since is None:
            self.since = state.time
            self._by_itself.give_up()
        before, after = self.motion.go_on(state, contacts)
        q, v = self.motion.reference_state(after)
        slope = self._damping + state.dt * self._stiffness
        away = np.clip(difference(self.motion.character, state.q_next, q), -FARTHEST, FARTHEST)
        speed = np.clip(v - state.v, -RUSHING, RUSHING)
        own = np.clip(self._own(before), -self._most, self._most)
        return AffineLaw(own + self._stiffness * away + slope * speed, implicit=state.dt * slope)

    def notes(self, simulation: Simulation) -> tuple[str, ...]:
        """What rehearsals found, and since when it is carried."""
        if self.since is None:
            return tuple(self._acting.notes(simulation))
        return (f"It would fall by itself: from {self.since:.1f} s on help carries it along the motion.",)

    @property
    def _acting(self) -> Follower:
        return self.motion if self.carried else self._by_itself

    def _losing(self, state: State) -> bool:
        q, v = self.reference_state()
        away = np.abs(state.q[:3] - q[:3])
        return (
            float(away[2]) > self._slack.sunk * self._height
            or math.hypot(*away[:2].tolist()) > self._slack.strayed * self._height
            or lean(state.q, q) > self._slack.leaning
            or float(np.abs(state.v - v).max()) > self._slack.rushing
        )

    def _own(self, place: Place) -> Array:
        """The motion's torques in the step from a place, and what help it takes there, as generalised forces (nv,)."""
        track = self.motion.track
        torque = track.torque[place.frame]
        result = np.zeros(self.motion.character.nv)
        result[len(result) - len(torque) :] = torque
        if track.help.any():
            force = track.force[place.frame, track.help]
            own = rotate(conjugate(track.q[place.frame, 3:7]), force)
            result[:3] = rotate(self.motion.reference_state(place)[0][3:7], own.sum(axis=0))
            result[3:6] = np.cross(track.point_local[track.help], own).sum(axis=0)
        return result
