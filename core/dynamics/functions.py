# SPDX-License-Identifier: GPL-3.0-or-later
"""The public functions of this room: a character and arrays in, arrays out, checked at the border.

A thread keeps the workspaces of a few characters. Loops that step thousands of times call the kernels themselves.
"""

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..character import Character
from ..character.tree import FREE, Tree
from . import centroidal, forces, inertia, jacobians, kinematics, stepping
from .derivatives import DerivativeWorkspace, make_derivative_workspace
from .linearization import linearize
from .workspace import Workspace, make_workspace

Array = NDArray[np.float64]


class PointForces(NamedTuple):
    """Forces (n, 3) in the world on points (n, 3), in the bodies' frames, of the bodies with the given indices (n,)."""

    body: ArrayLike
    point: ArrayLike
    force: ArrayLike


class Derivatives(NamedTuple):
    """One step and its linearization, difference(x_{k+1}) = A dx + B du: see `step_derivatives`."""

    q: Array  # (nq,) positions after the step
    v: Array  # (nv,) velocities after the step
    A: Array  # (2 nv, 2 nv)
    B: Array  # (2 nv, motors + 3 n)


def mass_matrix(character: Character, q: ArrayLike) -> Array:
    """M (nv, nv) in M a + h = tau + J^T f."""
    return _with_mass_matrix(character, q).mass_matrix.copy()


def bias_force(character: Character, q: ArrayLike, v: ArrayLike) -> Array:
    """Bias h (nv,) in M a + h = tau + J^T f: centrifugal, Coriolis and gravity. Passive forces are apart."""
    work = _at(character, q, v)
    forces.update_bias_force(character.tree, work)
    return work.bias.copy()


def passive_force(character: Character, q: ArrayLike, v: ArrayLike) -> Array:
    """Generalised force (nv,) of the joints' springs and dampers: -stiffness (q (-) rest) - damping v."""
    tree, (work, _) = character.tree, _workspaces(character.tree)
    forces.update_stretch(tree, work, _positions(character, q))
    return -tree.stiffness * work.stretch - tree.damping * _velocities(character, v)


def inverse_dynamics(character: Character, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """The generalised force (nv,) that accelerates by a: M a + h."""
    work = _at(character, q, v)
    inertia.update_mass_matrix(character.tree, work)
    forces.update_bias_force(character.tree, work)
    return work.mass_matrix @ _velocities(character, a, "a") + work.bias


def forward_dynamics(character: Character, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
    """The acceleration (nv,) under a generalised force tau (nv,): M^-1 (tau - h).

    Passive forces and contacts are part of tau: add `passive_force` and J^T f.
    """
    work = _at(character, q, v)
    inertia.update_mass_matrix(character.tree, work)
    forces.update_bias_force(character.tree, work)
    inertia.factorize(character.tree, work)
    acceleration = _velocities(character, tau, "tau") - work.bias
    inertia.solve(character.tree, work, acceleration)
    return acceleration


def integrate(character: Character, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
    """The positions (nq,) that q reaches in dt at constant v."""
    result = _positions(character, q)
    kinematics.integrate_positions(character.tree, result, _velocities(character, v), _number(dt, "dt"), result)
    return result


def difference(character: Character, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The velocity (nv,) that leads from q0 to q1 in unit time, so that `integrate` with it and dt = 1 gives q1.

    Rotations take the shorter way; q1's quaternions may come back with the other sign, which is the same rotation.
    """
    result = np.zeros(character.nv)
    kinematics.difference_positions(
        character.tree, _positions(character, q0, "q0"), _positions(character, q1, "q1"), result
    )
    return result


def body_poses(character: Character, q: ArrayLike) -> tuple[Array, Array]:
    """Origins (nb, 3) of the bodies in the world, and quaternions w-x-y-z (nb, 4) from their frames to the world's."""
    work = _at(character, q)
    return work.position.copy(), work.quaternion.copy()


def body_velocities(character: Character, q: ArrayLike, v: ArrayLike) -> Array:
    """Linear velocity of each body's origin and angular velocity of the body, both in world axes (nb, 6)."""
    work = _at(character, q, v)
    velocity = work.velocity.copy()
    velocity[:, :3] += np.cross(velocity[:, 3:], work.position - work.position[0])
    return velocity


def point_jacobian(character: Character, q: ArrayLike, body: int, point: ArrayLike) -> Array:
    """J (3, nv) of a point given in the body's frame: J v is its velocity in the world."""
    return _jacobian(character, q, body, point)[:3]


def body_jacobian(character: Character, q: ArrayLike, body: int) -> Array:
    """J (6, nv): J v is the linear velocity of the body's origin, then its angular velocity, in world axes."""
    return _jacobian(character, q, body, np.zeros(3))


def point_acceleration_bias(character: Character, q: ArrayLike, v: ArrayLike, body: int, point: ArrayLike) -> Array:
    """J' v (3,): the acceleration of a point given in the body's frame when joint accelerations are zero."""
    b = _body(character, body)
    work = _at(character, q, v)
    place = kinematics.world_point(work, b, _point(point))
    return np.array(jacobians.point_acceleration_bias(work, b, place))


def body_acceleration_bias(character: Character, q: ArrayLike, v: ArrayLike, body: int) -> Array:
    """J' v (6,) of `body_jacobian`."""
    b = _body(character, body)
    work = _at(character, q, v)
    place = kinematics.world_point(work, b, (0.0, 0.0, 0.0))
    return np.concatenate((jacobians.point_acceleration_bias(work, b, place), work.acceleration[b, 3:]))


def center_of_mass(character: Character, q: ArrayLike) -> Array:
    """Centre of mass (3,) of the whole character in the world."""
    work = _with_mass_matrix(character, q)
    center: Array = work.position[0] + np.array(centroidal.center_of_mass_from_root(work.composite))
    return center


def center_of_mass_jacobian(character: Character, q: ArrayLike) -> Array:
    """J (3, nv): J v is the centre of mass's velocity."""
    work = _with_mass_matrix(character, q)
    jacobian: Array = np.ascontiguousarray(work.momentum_map[:, :3].T) / work.composite[0, 0]
    return jacobian


def momentum(character: Character, q: ArrayLike, v: ArrayLike) -> Array:
    """Linear momentum, then angular momentum about the world's origin (6,)."""
    result = centroidal_momentum(character, q, v)
    result[3:] += np.cross(center_of_mass(character, q), result[:3])
    return result


def centroidal_momentum(character: Character, q: ArrayLike, v: ArrayLike) -> Array:
    """Linear momentum, then angular momentum about the centre of mass (6,), in world axes."""
    work = _with_mass_matrix(character, q)
    centroidal.update_momentum(work, _velocities(character, v))
    return work.momentum.copy()


def centroidal_momentum_matrix(character: Character, q: ArrayLike) -> Array:
    """The centroidal map (6, nv): its product with v is `centroidal_momentum`."""
    result = np.zeros((6, character.nv))
    centroidal.fill_centroidal_map(_with_mass_matrix(character, q), result)
    return result


def kinetic_energy(character: Character, q: ArrayLike, v: ArrayLike) -> float:
    """Half v^T M v, J."""
    return centroidal.kinetic_energy_of(character.tree, _at(character, q, v))


def potential_energy(character: Character, q: ArrayLike) -> float:
    """Energy of gravity, zero at the world's origin, and of the passive springs, J."""
    return centroidal.potential_energy_of(character.tree, _at(character, q), _positions(character, q))


def step(
    character: Character,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    dt: float,
    contacts: PointForces | None = None,
) -> tuple[Array, Array]:
    """Positions and velocities after dt under motor torques and contact forces; see stepping.py for the scheme.

    `torque` has one entry per velocity that a motor can drive: all, or all after a free root's six.
    """
    positions, velocities, tau, body, point, force = _step_arguments(character, q, v, torque, contacts)
    tree, (work, _) = character.tree, _workspaces(character.tree)
    q_next, v_next, zero = np.zeros(character.nq), np.zeros(character.nv), np.zeros(character.nv)
    stepping.advance(tree, work, positions, velocities, tau, body, point, force, _time_step(dt), zero, q_next, v_next)
    return q_next, v_next


def step_derivatives(
    character: Character,
    q: ArrayLike,
    v: ArrayLike,
    torque: ArrayLike,
    dt: float,
    contacts: PointForces | None = None,
) -> Derivatives:
    """`step`, with its exact derivatives in tangent space: x = (q, v), u = (torques, three per contact force).

    To first order, step(q (+) dq, v + dv, u + du) is step(q, v, u) (+) [A (dq, dv) + B du].
    """
    positions, velocities, tau, body, point, force = _step_arguments(character, q, v, torque, contacts)
    nv = character.nv
    tree, (work, more) = character.tree, _workspaces(character.tree)
    q_next, v_next, zero, dt = np.zeros(character.nq), np.zeros(nv), np.zeros(nv), _time_step(dt)
    A, B = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, nv - _motors_start(character) + 3 * len(body)))
    stepping.advance(tree, work, positions, velocities, tau, body, point, force, dt, zero, q_next, v_next)
    linearize(tree, work, more, positions, velocities, body, point, force, dt, q_next, v_next, A, B)
    return Derivatives(q_next, v_next, A, B)


class _Kept(threading.local):
    """The workspaces of the characters that a thread asked about last."""

    def __init__(self) -> None:
        self.of: dict[Tree, tuple[Workspace, DerivativeWorkspace]] = {}


_kept = _Kept()
MOST_KEPT = 8


def _workspaces(tree: Tree) -> tuple[Workspace, DerivativeWorkspace]:
    """To be filled anew by each function, which gives none of their arrays away."""
    found = _kept.of.pop(tree, None) or (make_workspace(tree), make_derivative_workspace(tree))
    _kept.of[tree] = found  # the last one
    if len(_kept.of) > MOST_KEPT:
        del _kept.of[next(iter(_kept.of))]
    return found


def _at(character: Character, q: ArrayLike, v: ArrayLike | None = None) -> Workspace:
    """A workspace with positions, and velocities if given."""
    work, _ = _workspaces(character.tree)
    kinematics.update_positions(character.tree, work, _positions(character, q))
    if v is not None:
        kinematics.update_velocities(character.tree, work, _velocities(character, v))
    return work


def _with_mass_matrix(character: Character, q: ArrayLike) -> Workspace:
    work = _at(character, q)
    inertia.update_mass_matrix(character.tree, work)
    return work


def _jacobian(character: Character, q: ArrayLike, body: int, point: ArrayLike) -> Array:
    b = _body(character, body)
    work = _at(character, q)
    result = np.zeros((6, character.nv))
    jacobians.fill_jacobian(character.tree, work, b, kinematics.world_point(work, b, _point(point)), result)
    return result


def _motors_start(character: Character) -> int:
    return 6 if character.tree.joint[0] == FREE else 0


def _step_arguments(
    character: Character, q: ArrayLike, v: ArrayLike, torque: ArrayLike, contacts: PointForces | None
) -> tuple[Array, Array, Array, NDArray[np.int64], Array, Array]:
    start = _motors_start(character)
    tau = np.zeros(character.nv)
    tau[start:] = _checked(torque, "torque", (character.nv - start,))
    if contacts is None:
        contacts = PointForces((), np.zeros((0, 3)), np.zeros((0, 3)))
    body = np.array(contacts.body, dtype=np.int64)
    if body.ndim != 1 or ((body < 0) | (body >= len(character.bodies))).any():
        raise ValueError(f"Contact bodies must be a list of indices below {len(character.bodies)}, not {body}.")
    point = _checked(contacts.point, "contact points", (len(body), 3))
    force = _checked(contacts.force, "contact forces", (len(body), 3))
    return _positions(character, q), _velocities(character, v), tau, body, point, force


def _positions(character: Character, q: ArrayLike, name: str = "q") -> Array:
    return _checked(q, name, (character.nq,))


def _velocities(character: Character, v: ArrayLike, name: str = "v") -> Array:
    return _checked(v, name, (character.nv,))


def _checked(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    """A fresh C-contiguous float64 array of that shape, all finite, or a ValueError that says what is wrong."""
    array = np.array(values, dtype=np.float64, order="C")
    if array.shape != shape:
        raise ValueError(f"The shape of {name} must be {shape}, not {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    return array


def _point(point: ArrayLike) -> tuple[float, float, float]:
    x, y, z = _checked(point, "point", (3,)).tolist()
    return x, y, z


def _body(character: Character, body: int) -> int:
    if not 0 <= body < len(character.bodies):
        raise ValueError(f"The body must be an index below {len(character.bodies)}, not {body}.")
    return int(body)


def _number(value: float, name: str) -> float:
    return float(_checked(value, name, ()))


def _time_step(dt: float) -> float:
    if _number(dt, "dt") <= 0.0:
        raise ValueError(f"The time step dt must be positive, not {dt}.")
    return float(dt)
