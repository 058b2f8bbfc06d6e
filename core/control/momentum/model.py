# SPDX-License-Identifier: GPL-3.0-or-later
"""The abstract model of Ye and Liu 2010, section 4: a whole character as its momentum, moved by contact forces alone.

The state x (12) is centre of mass [C], linear momentum [P], the integral of angular momentum [Phi], and angular
momentum about the centre of mass [L]. The control is one number for each ray, an edge of a contact's friction pyramid:
the force of a contact is a sum of its edges, none of them negative, and so lies in the pyramid [K]. A hand that holds
on has rays both ways along each axis.

The paper steps eq. 1 by the midpoint rule. Here the model steps as the one integrator does (dynamics/stepping.py):

    C' = C + h (P / M + d)          Phi' = Phi + h L
    P' = P + h (F + M g)            L' = L + h sum (c - C') x F

With the drift d, by which the centre of mass moves otherwise than by momentum, as limbs move along arcs and not along
chords, every reference is exactly a motion of this model, and what the model does is exactly what a character does
whose momentum is matched step by step.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import inlined_kernel, kernel
from ...maths.structure import Structure
from ...maths.vectors import Vector, add, add_scaled, cross, row, scale, subtract

Array = NDArray[np.float64]

CENTER, LINEAR, TURNED, ANGULAR = 0, 3, 6, 9  # where C, P, Phi and L begin in a state
STATE = 12


class Problem(Structure):
    """N steps of the model and what is asked of them: eq. 2. Row k of each array belongs to the step from state k."""

    mass: float  # kg
    gravity: Array  # (3,) m/s²
    dt: Array  # (N,) s
    drift: Array  # (N, 3) m/s
    rays: NDArray[np.int64]  # (N,) number of rays
    point: Array  # (N, m, 3) where each acts, m
    direction: Array  # (N, m, 3) unit vectors
    target: Array  # (N + 1, 12) the reference's states
    tracking: Array  # (12,) [W3]
    damping: Array  # (12,) [W2]
    effort: float  # [W1] of each ray
    slack: Array  # (12,) variance by which the last state may miss the target's; see ddp.py


@inlined_kernel
def part(x: Array, i: int) -> Vector:
    """Three entries of a state."""
    return x[i], x[i + 1], x[i + 2]


@inlined_kernel
def set_part(x: Array, i: int, a: Vector) -> None:
    """Write three entries of a state."""
    x[i], x[i + 1], x[i + 2] = a[0], a[1], a[2]


@inlined_kernel
def ray_force(direction: Array, ray: Array, count: int) -> Vector:
    """F, the sum of `count` rays."""
    force = (0.0, 0.0, 0.0)
    for j in range(count):
        force = add_scaled(force, ray[j], row(direction, j))
    return force


@inlined_kernel
def ray_moment(point: Array, direction: Array, ray: Array, count: int, about: Vector) -> Vector:
    """The moment of `count` rays about a place."""
    moment = (0.0, 0.0, 0.0)
    for j in range(count):
        moment = add_scaled(moment, ray[j], cross(subtract(row(point, j), about), row(direction, j)))
    return moment


@kernel
def advance(
    mass: float, gravity: Array, drift: Vector, force: Vector, moment: Vector, dt: float, x: Array, out: Array
) -> None:
    """One step under a force and its moment about the centre of mass after the step."""
    set_part(out, CENTER, next_center(mass, drift, dt, x))
    weight = scale(mass, part(gravity, 0))
    set_part(out, TURNED, add_scaled(part(x, TURNED), dt, part(x, ANGULAR)))
    set_part(out, LINEAR, add_scaled(part(x, LINEAR), dt, add(force, weight)))
    set_part(out, ANGULAR, add_scaled(part(x, ANGULAR), dt, moment))


@inlined_kernel
def next_center(mass: float, drift: Vector, dt: float, x: Array) -> Vector:
    """C'."""
    return add_scaled(part(x, CENTER), dt, add_scaled(drift, 1.0 / mass, part(x, LINEAR)))


@kernel
def step(problem: Problem, k: int, x: Array, ray: Array, out: Array) -> None:
    """Step k of a problem, from x by the rays."""
    drift, count, dt = row(problem.drift, k), problem.rays[k], problem.dt[k]
    center = next_center(problem.mass, drift, dt, x)
    force = ray_force(problem.direction[k], ray, count)
    moment = ray_moment(problem.point[k], problem.direction[k], ray, count, center)
    advance(problem.mass, problem.gravity, drift, force, moment, dt, x, out)


@kernel
def stage_cost(problem: Problem, frame: int, k: int, x: Array, ray: Array) -> float:
    """The integrand of eq. 2 in a frame, under the rays of step k."""
    cost = 0.0
    for i in range(STATE):
        off = x[i] - problem.target[frame, i]
        cost += problem.tracking[i] * off * off + problem.damping[i] * x[i] * x[i]
    for j in range(problem.rays[k]):
        cost += problem.effort * ray[j] * ray[j]
    return cost


@inlined_kernel
def _set_skew(out: Array, i: int, j: int, s: float, a: Vector) -> None:
    """out[i:i+3, j:j+3] = s [a], with [a] b = a x b."""
    out[i, j + 1], out[i, j + 2] = -s * a[2], s * a[1]
    out[i + 1, j], out[i + 1, j + 2] = s * a[2], -s * a[0]
    out[i + 2, j], out[i + 2, j + 1] = -s * a[1], s * a[0]


@kernel
def derivatives(problem: Problem, k: int, x: Array, ray: Array, fx: Array, fu: Array) -> None:
    """Fill fx (12, 12) and fu (12, m): how the state after step k depends on x and on each ray."""
    h, share = problem.dt[k], problem.dt[k] / problem.mass
    force = ray_force(problem.direction[k], ray, problem.rays[k])
    center = next_center(problem.mass, row(problem.drift, k), h, x)
    fx[:] = 0.0
    for i in range(STATE):
        fx[i, i] = 1.0
    for i in range(3):
        fx[CENTER + i, LINEAR + i] = share
        fx[TURNED + i, ANGULAR + i] = h
    _set_skew(fx, ANGULAR, CENTER, h, force)
    _set_skew(fx, ANGULAR, LINEAR, h * share, force)
    for j in range(problem.rays[k]):
        direction = row(problem.direction[k], j)
        turning = cross(subtract(row(problem.point[k], j), center), direction)
        for i in range(3):
            fu[CENTER + i, j], fu[TURNED + i, j] = 0.0, 0.0
            fu[LINEAR + i, j], fu[ANGULAR + i, j] = h * direction[i], h * turning[i]


@kernel
def add_curvature(problem: Problem, k: int, gradient: Array, qux: Array) -> None:
    """Add the gradient times the second derivative by ray and state, the model's only one, to Qux (m, 12)."""
    h, share = problem.dt[k], problem.dt[k] / problem.mass
    for j in range(problem.rays[k]):
        a = cross(part(gradient, ANGULAR), row(problem.direction[k], j))
        for i in range(3):
            qux[j, CENTER + i] += h * a[i]
            qux[j, LINEAR + i] += h * share * a[i]


@kernel
def flow(problem: Problem, k: int, x: Array, ray: Array, out: Array) -> None:
    """The continuous rate of change (12,) under the rays of step k: eq. 1, and the drift."""
    force = ray_force(problem.direction[k], ray, problem.rays[k])
    set_part(out, CENTER, add_scaled(row(problem.drift, k), 1.0 / problem.mass, part(x, LINEAR)))
    set_part(out, LINEAR, add_scaled(force, problem.mass, part(problem.gravity, 0)))
    set_part(out, TURNED, part(x, ANGULAR))
    moment = ray_moment(problem.point[k], problem.direction[k], ray, problem.rays[k], part(x, CENTER))
    set_part(out, ANGULAR, moment)


@kernel
def flow_gradient(problem: Problem, k: int, ray: Array, gradient: Array, out: Array) -> None:
    """The gradient (12,) of the gradient times `flow` by the state."""
    force = ray_force(problem.direction[k], ray, problem.rays[k])
    set_part(out, CENTER, cross(part(gradient, ANGULAR), force))
    set_part(out, LINEAR, scale(1.0 / problem.mass, part(gradient, CENTER)))
    set_part(out, TURNED, (0.0, 0.0, 0.0))
    set_part(out, ANGULAR, part(gradient, TURNED))
