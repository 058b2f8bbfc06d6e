# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters in the plane of X and Z, without contacts, as systems for trajectories: the gymnast and the diver.

They step by the one integrator. A free root counts as its place and pitch; hinges turn about Y, so all angles add up
and states are vectors: (x, z, pitch, hinges), or hinges alone, and the rates of these.
"""

import numpy as np
from heft.core.character import Character
from heft.core.character.tree import FREE, Tree
from heft.core.dynamics.derivatives import DerivativeWorkspace, make_derivative_workspace
from heft.core.dynamics.linearization import linearize
from heft.core.dynamics.stepping import advance
from heft.core.dynamics.workspace import Workspace, make_workspace
from heft.core.maths.kernel import kernel
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


class PlanarSystem:
    """A planar character; controls are the torques of the bodies named, or of all hinges that a motor can drive."""

    def __init__(self, character: Character, dt: float, driven: tuple[str, ...] = ()) -> None:
        self.character, self.dt = character, dt
        tree = character.tree
        free = tree.joint[0] == FREE
        # which velocities of the character are rates here: of a free root those along x and z and about y
        self._kept = np.array([0, 2, 4, *range(6, character.nv)] if free else range(character.nv), dtype=np.int64)
        start = 6 if free else 0
        motors = [int(tree.velocity_start[character.index(name)]) for name in driven] or range(start, character.nv)
        self._motors = np.array(list(motors), dtype=np.int64)
        self._columns = self._motors - start
        self._work, self._more = make_workspace(tree), make_derivative_workspace(tree)
        self.states, self.controls = 2 * len(self._kept), len(self._motors)

    def step(self, x: Array, u: Array) -> Array:
        """The state after a step."""
        q, v = self.pose(x)
        q_next, v_next, _, _ = self._along(q[None], v[None], u[None], derive=False)
        return self._state(q_next[0], v_next[0], x)

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Of steps from states (N, n) under controls (N, m): by state [A] (N, n, n), by control [B] (N, n, m)."""
        q, v = (np.array(rows) for rows in zip(*(self.pose(state) for state in x), strict=True))
        _, _, A, B = self._along(q, v, u, derive=True)
        kept = np.concatenate((self._kept, self._kept + self.character.nv))
        return A[:, kept[:, None], kept], B[:, kept[:, None], self._columns]

    def pose(self, x: ArrayLike) -> tuple[Array, Array]:
        """The character's q and v of a state."""
        state = np.asarray(x, dtype=np.float64)
        half = len(self._kept)
        v = np.zeros(self.character.nv)
        v[self._kept] = state[half:]
        if self.character.nq == self.character.nv:
            return state[:half].copy(), v
        q = np.zeros(self.character.nq)
        q[0], q[2] = state[0], state[1]
        q[3], q[5] = np.cos(0.5 * state[2]), np.sin(0.5 * state[2])
        q[7:] = state[3:half]
        return q, v

    def _state(self, q: Array, v: Array, before: Array) -> Array:
        """The state of a q and v; the pitch is that nearest to the state before, and so never jumps."""
        if self.character.nq == self.character.nv:
            return np.concatenate((q, v))
        pitch = 2.0 * np.arctan2(q[5], q[3])
        pitch += 2.0 * np.pi * np.round((before[2] - pitch) / (2.0 * np.pi))
        return np.concatenate(([q[0], q[2], pitch], q[7:], v[self._kept]))

    def _along(self, q: Array, v: Array, u: Array, *, derive: bool) -> tuple[Array, Array, Array, Array]:
        count, nv = len(q), self.character.nv
        tau = np.zeros((count, nv))
        tau[:, self._motors] = u
        motors = nv - (6 if self.character.tree.joint[0] == FREE else 0)
        held = count if derive else 0
        A, B = np.zeros((held, 2 * nv, 2 * nv)), np.zeros((held, 2 * nv, motors))
        q_next, v_next = np.zeros_like(q), np.zeros_like(v)
        none, point, zero = np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(nv)
        tree, work, more = self.character.tree, self._work, self._more
        step_all(tree, work, more, q, v, tau, self.dt, none, point, zero, q_next, v_next, A, B)
        return q_next, v_next, A, B


@kernel
def step_all(
    tree: Tree,
    work: Workspace,
    more: DerivativeWorkspace,
    q: Array,
    v: Array,
    tau: Array,
    dt: float,
    none: Numbers,
    point: Array,
    zero: Array,
    q_next: Array,
    v_next: Array,
    A: Array,
    B: Array,
) -> None:
    """A step from each row, each for itself; derivatives too where A and B have rows. `none` and `point` are empty."""
    for k in range(q.shape[0]):
        advance(tree, work, q[k], v[k], tau[k], none, point, point, dt, zero, q_next[k], v_next[k])
        if A.shape[0] > 0:
            linearize(tree, work, more, q[k], v[k], none, point, point, dt, q_next[k], v_next[k], A[k], B[k])
