# SPDX-License-Identifier: GPL-3.0-or-later
"""States, torques and contact forces at the simulation's rate: what others compute with.

Step k leads from state k to state k + 1, by forces at the positions of state k + 1 (dynamics/stepping.py):

    q[k + 1] = q[k] (+) v[k] / rate
    M(q[k + 1]) a[k] + h(q[k + 1], v[k]) = torque[k] + help[k] + sum of J^T contact forces of step k

and v[k + 1] - v[k] is a[k] / rate, but for what keeps the whole character's momentum.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..dynamics.balance import fill_accelerations
from ..dynamics.workspace import make_workspace
from ..simulation.outcome import Simulation

Array = NDArray[np.float64]

BEARS = 1.0  # N of vertical force, below which a body has no centre of pressure


@dataclass(frozen=True, eq=False)
class Dynamics:
    """n + 1 states of a character, and n steps between them; the world's axes, SI units."""

    character: Character
    rate: float  # steps per second
    q: Array  # (n + 1, nq) laid out as MuJoCo's qpos
    v: Array  # (n + 1, nv) as its qvel
    torque: Array  # (n, motors) N m, of every velocity but a free root's six
    help: Array  # (n, 6) on a free root from nowhere: force in the world, N; moment in the root's frame, N m
    contact_start: NDArray[np.int64]  # (n + 1,) contacts of step k are rows start[k] to start[k + 1]
    contact_body: NDArray[np.int64]  # (nc,) index of the body that is touched
    contact_point: Array  # (nc, 3) where the force acts, m
    contact_force: Array  # (nc, 3) on the body, N

    def __post_init__(self) -> None:
        steps, contacts = len(self.torque), len(self.contact_body)
        free = 6 if self.character.bodies[0].joint.kind == "free" else 0
        shapes = {
            "q": (steps + 1, self.character.nq),
            "v": (steps + 1, self.character.nv),
            "torque": (steps, self.character.nv - free),
            "help": (steps, 6),
            "contact_start": (steps + 1,),
            "contact_point": (contacts, 3),
            "contact_force": (contacts, 3),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"The {name} of a motion must be finite and of shape {shape}, not {array.shape}.")
        start, body = self.contact_start, self.contact_body
        if (np.diff(start) < 0).any() or start[0] != 0 or start[-1] != contacts:
            raise ValueError("The contacts of a motion are out of order or range.")
        if ((body < 0) | (body >= len(self.character.bodies))).any():
            raise ValueError("A contact belongs to no body of the character.")

    @property
    def steps(self) -> int:
        """How many there are, n."""
        return len(self.torque)

    @property
    def contact_step(self) -> NDArray[np.int64]:
        """(nc,) the step of each contact."""
        return np.repeat(np.arange(self.steps, dtype=np.int64), np.diff(self.contact_start))

    def forces(self) -> Array:
        """(n, bodies, 3) of all contacts on each body."""
        found = np.zeros((self.steps, len(self.character.bodies), 3))
        np.add.at(found, (self.contact_step, self.contact_body), self.contact_force)
        return found

    def centers_of_pressure(self) -> Array:
        """(n, bodies, 3) mean place of each body's contacts, weighed by their vertical force; NaN where none bears."""
        upward = np.maximum(self.contact_force[:, 2], 0.0)
        weight = np.zeros((self.steps, len(self.character.bodies)))
        place = np.zeros((*weight.shape, 3))
        at = self.contact_step, self.contact_body
        np.add.at(weight, at, upward)
        np.add.at(place, at, upward[:, None] * self.contact_point)
        borne = (weight > BEARS)[..., None]
        return np.divide(place, weight[..., None], out=np.full_like(place, np.nan), where=borne)

    def accelerations(self) -> Array:
        """(n, nv) with which an inverse dynamics at q[k + 1] and v[k] gives the torques and leaves a free root nothing.

        Joints change their velocities by these. The root changes by them and by what the integrator adds so that
        momentum is kept over a whole step.
        """
        tree, found = self.character.tree, np.zeros((self.steps, self.character.nv))
        contacts = self.contact_start, self.contact_body, self.contact_point, self.contact_force
        scratch = np.zeros((6, 6)), np.zeros(self.character.nv)
        work = make_workspace(tree)
        fill_accelerations(tree, work, self.q, self.v, self.rate, self.help, *contacts, *scratch, found)
        return found


def dynamics_of(simulation: Simulation) -> Dynamics:
    """Those of the character; props have none of their own here."""
    character, recording = simulation.character, simulation.recording
    steps = recording.steps
    own = recording.contact_body < len(character.bodies)
    count = np.concatenate([[0], np.cumsum(own)])
    return Dynamics(
        character=character,
        rate=recording.rate,
        q=np.ascontiguousarray(recording.q[: steps + 1, : character.nq]),
        v=np.ascontiguousarray(recording.v[: steps + 1, : character.nv]),
        torque=recording.torque[:steps],
        help=simulation.help if len(simulation.help) == steps else np.zeros((steps, 6)),
        contact_start=count[recording.contact_start].astype(np.int64),
        contact_body=recording.contact_body[own],
        contact_point=recording.contact_point[own],
        contact_force=recording.contact_force[own],
    )
