# SPDX-License-Identifier: GPL-3.0-or-later
"""`Balance`: a track followed joint by joint, kept upright by a three-link model."""

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import FREE
from ...contact.detection import Contacts
from ...dynamics.workspace import Workspace
from ...motion.cycle import Cycle
from ...motion.cycles import power
from ..law import AffineLaw, NoLawError, State
from ..method import Follower
from ..track import Track
from .law import Machine, Weights, make_goal, make_scratch, update_law
from .policy import make_policy
from .program import ROOT
from .riding import make_ride
from .settings import Settings

Array = NDArray[np.float64]

# Steps of time that differ by more than this share are not the same.
SAME_STEP = 1e-9


class Balance(Follower):
    """Style and balance reconciled by a quadratic program (da Silva 2010, chapter 3). One step of the world, one frame.

    The controller counts frames by itself: `seek` a frame when its world is reset.
    """

    def __init__(self, character: Character, track: Track, settings: Settings | None = None) -> None:
        if character.tree.joint[0] != FREE:
            raise ValueError("Balance control needs a character with a free root.")
        self.character = character
        self.settings = (settings or Settings()).checked()
        self.track = track.checked(character)
        self.policy = make_policy(character, self.track, arms=self.settings.arms)
        self.frame = 0  # that the character is to be in now
        self.lift = 0.0  # m that the reference is raised by in the world
        self.edges = 0  # unknowns of the last step's program
        self._ride = make_ride()
        self._way = (0, Cycle((0.0, 0.0)))
        self._machine_of: tuple[Workspace, Contacts] | None = None

    def seek(self, frame: int = 0, lift: float = 0.0) -> None:
        """Go to a frame."""
        if not 0 <= frame < len(self.track.q):
            raise ValueError(f"The frame must lie between 0 and {len(self.track.q) - 1}, not {frame}.")
        self.frame, self.lift = frame, float(lift)
        for part in self._ride:
            part[:] = 0.0

    @property
    def row(self) -> int:
        """The track's row of where the character is to be now."""
        return self.track.row(self.frame)

    @property
    def lap(self) -> int:
        """How many times a cyclic motion has repeated."""
        return self.track.lap(self.frame)

    def reference_state(self) -> tuple[Array, Array]:
        """Where the reference is now: q (nq,) and the v (nv,) that leads to the next step's."""
        q = self.track.pose(self.character, self.frame)
        q[:3] += self._ride.shift
        q[2] += self.lift
        row = self.track.row(self.frame)
        v = self._cycle().move_state(self.character, self.policy.q[row], self.policy.v[row])[1]
        v[:3] += self._ride.velocity
        return q, v

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step; and on to the next frame."""
        if abs(state.dt - self.track.dt) > SAME_STEP * self.track.dt:
            raise ValueError(
                f"The track steps by {self.track.dt} s, but the world by {state.dt} s: use the same rate for both."
            )
        machines = self._machines_on(state.work, contacts)
        row = self.track.row(self.frame)
        self._aim(row)
        stance = int(self.policy.stance[row])
        heading = float(self.policy.heading[row]) + self._cycle().turn
        self.edges = update_law(machines[max(stance, 0)], state.q_next, state.v, state.dt, stance >= 0, heading)
        if self.edges < 0:
            raise NoLawError(f"The quadratic program has no solution at {state.time:.4f} s.")
        self.frame += 1
        return AffineLaw(self._scratch.torque, implicit=self._scratch.implicit)

    def _cycle(self) -> Cycle:
        """The way of all laps before this frame."""
        lap = self.track.lap(self.frame)
        if self.track.cycle is not None and lap != self._way[0]:
            self._way = lap, power(self.track.cycle, lap)
        return self._way[1]

    def _aim(self, row: int) -> None:
        """Fill the goal."""
        goal, policy, way = self._goal, self.policy, self._cycle()
        goal.q[:], goal.v[:] = way.move_state(self.character, policy.q[row], policy.v[row])
        goal.acceleration[:] = way.move_state(self.character, policy.q[row], policy.acceleration[row])[1]
        goal.loaded[:] = policy.loaded[row]
        goal.normal[:] = policy.normal[row] @ way.rotation.T
        goal.place[:] = way.move_points(policy.place[row])
        goal.glide[:] = policy.glide[row] @ way.rotation.T
        goal.q[2] += self.lift
        goal.place[:, 2] += self.lift
        for name in ("model_q", "model_v", "model_torque", "model_gain", "model_acceleration"):
            getattr(goal, name)[:] = getattr(policy, name)[row]

    def _machines_on(self, work: Workspace, contacts: Contacts) -> list[Machine]:
        """The kernels' pointers to a world's arrays, one for each stance foot; a world keeps the same arrays."""
        if self._machine_of is None or self._machine_of[0] is not work or self._machine_of[1] is not contacts:
            settings, points = self.settings, self.policy.points
            links = len(self.policy.models[0].mass)
            self._goal = make_goal(self.character.nq, self.character.nv, len(points.body), links)
            self._scratch = make_scratch(self.character.nv, len(points.body), links)
            self._scratch.program.style[:ROOT] = settings.root_weight
            weights = Weights(
                stiffness=settings.stiffness,
                root_stiffness=settings.root_stiffness,
                balance=settings.balance / (1.0 - settings.balance),
                contact=settings.contact,
                friction=settings.friction,
                strength=settings.strength,
            )
            here = work, contacts
            self._machines = [
                Machine(self.character.tree, *here, points, weights, model, self._goal, self._scratch, self._ride)
                for model in self.policy.models
            ]
            self._machine_of = (work, contacts)
        return self._machines
