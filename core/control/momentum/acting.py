# SPDX-License-Identifier: GPL-3.0-or-later
"""The abstract model on a stage: what is stepped in the place of a world, and what follows the motion meanwhile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...motion.reference import Reference
from ...simulation import DivergedError
from ...simulation.outcome import Simulation
from ..method import Follower
from ..stage import Stage
from .performer import Performer, Touches
from .placing import LEVEL, ground_height

Array = NDArray[np.float64]

LATEST = 1.5  # times its own length that a motion may take
PULLED = 0.05  # m: a foot as far off its place has lost its hold
UNEVEN = 0.03  # m, by which the ground may be off a foot that stands
STRAINED = 1.5  # times the reference's greatest torque: more is told


class ModelStepper:
    """A performer, to be stepped and recorded as a `World` is."""

    def __init__(self, performer: Performer, rate: float) -> None:
        self._performer, self.rate, self.dt = performer, rate, 1.0 / rate
        self._steps = 0
        self._touches: Touches | None = None

    @property
    def time(self) -> float:
        """Since the reset, s."""
        return self._steps / self.rate

    @property
    def tree(self) -> Tree:
        """Of the character."""
        return self._performer.character.tree

    @property
    def system_q(self) -> Array:
        """Positions; a copy."""
        return self._performer.q

    @property
    def system_v(self) -> Array:
        """Velocities; a copy."""
        return self._performer.v

    v = system_v

    @property
    def torque(self) -> Array:
        """Of the motors in the last step; a copy."""
        return self._performer.torque

    @property
    def grab_forces(self) -> Array:
        """None: what is held on to is a contact like any other."""
        return np.zeros((0, 6))

    @property
    def residual(self) -> float:
        """Speed of the fastest point that bears weight, m/s."""
        return self.contacts.speed

    @property
    def lcp_residual(self) -> float:
        """There is no contact problem."""
        return 0.0

    @property
    def lcp_unknowns(self) -> int:
        """Rays of the contact forces."""
        return self.contacts.rays

    @property
    def contacts(self) -> Touches:
        """Those of the last step."""
        if self._touches is None:
            self._touches = self._performer.touches()
        return self._touches

    def contact_wrenches(self) -> Array:
        """(nb, 6) of the last step on each body."""
        return self.contacts.wrench

    def reset(self, q: Array, v: Array) -> None:
        """Start anew in a state."""
        self._performer.reset(q, v)
        self._steps, self._touches = 0, None

    def step(self, action: Any = None) -> None:
        """One step; no law is asked for."""
        del action
        self._performer.step()
        if self._performer.failed:
            raise DivergedError(self._steps, self.time, "no contact forces or velocities were found.")
        self._steps += 1
        self._touches = None


class Acting(Follower):
    """A performer on a stage, seen as what follows a motion."""

    def __init__(
        self, performer: Performer, followed: Reference, reference: Reference, stage: Stage, *, grounded: bool
    ) -> None:
        """`followed` is the reference, or laps of it in a row; `grounded`, whether every step has ground under it."""
        self.performer = performer
        self._followed, self._reference, self._stage, self._grounded = followed, reference, stage, grounded

    @property
    def row(self) -> int:
        """The reference's frame now."""
        return int(self.performer.at) % self._reference.steps

    @property
    def lap(self) -> int:
        """How many times it has repeated."""
        return int(self.performer.at) // self._reference.steps

    def reference_state(self) -> tuple[Array, Array]:
        """Where the character is to be now; the velocity is that of the start."""
        q, v = self._followed.q[0], self._followed.v[0]
        if not self.performer.begun:
            return q + np.pad(self.performer.course.origin[0], (0, len(q) - 3)), v
        return self.performer.wanted(), v

    def seconds(self, asked: float) -> float:
        """Where all of the motion is asked for, it may take longer than its own time."""
        steps = round(asked * self._stage.rate)
        most = steps if steps < self._followed.steps else int(LATEST * self._followed.steps)
        return most / self._stage.rate

    @property
    def over(self) -> bool:
        """Whether the motion has come to its end."""
        return self.performer.over

    @property
    def lost(self) -> bool:
        """Whether there was no valid step, or a foot is off the place at which it is to bear weight."""
        return self.performer.failed or self.performer.pulled()[1] > PULLED

    def notes(self, simulation: Simulation) -> list[str]:
        """What the method did on its own account, and what it does not promise."""
        found = [] if self._grounded else ["Some steps have no ground under them and stay where the motion has them."]
        body, distance = self.performer.pulled()
        if not self.performer.failed and distance > PULLED:
            found.append(
                f"'{self._stage.character.bodies[body].name}' was pulled {100 * distance:.0f} cm off its foothold: no "
                "forces at the motion's contacts could hold it. Try a weaker push, lower steps, or another method."
            )
        late = simulation.recording.steps - self.performer.at
        if simulation.lost is None and self._reference.cycle is None and abs(late) >= 1.0:
            word = "longer" if late > 0.0 else "less time"
            found.append(f"It took {abs(late) / self._reference.rate:.2f} s {word} than the motion.")
        if self.performer.aside >= LEVEL:
            found.append(f"Steps were moved by up to {100 * self.performer.aside:.0f} cm to catch the body.")
            if not self._ground_under(simulation.recording.contact_point):
                found.append("Some of these steps are not on level ground.")
        peak = float(np.abs(simulation.recording.torque).max(initial=0.0))
        usual = float(np.abs(self._reference.torque).max(initial=0.0))
        if peak > STRAINED * usual:
            found.append(
                f"Joint torques reach {peak:.0f} N m, {peak / max(usual, 1e-9):.1f} times those of the motion: "
                "Momentum does not limit them."
            )
        scene = self._stage.scene
        grip = min((surface.friction for surface in scene.surfaces), default=scene.friction)
        if grip < self._reference.friction:
            found.append(
                f"The forces need a friction of {self._reference.friction:g}, but the ground has {grip:g}: raise its "
                "friction, or the feet would slip."
            )
        return found

    def _ground_under(self, points: Array) -> bool:
        """Whether there is ground under all places at which feet bore weight."""
        for place in {tuple(np.round(point, 2).tolist()) for point in points}:
            height = ground_height(self._stage.terrain, np.array(place), 0.0)
            if height is None or abs(height - place[2]) > UNEVEN:
                return False
        return True
