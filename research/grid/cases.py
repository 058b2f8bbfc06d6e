# SPDX-License-Identifier: GPL-3.0-or-later
"""The thesis's four cases: da Silva 2010, sections 5.4.1 to 5.4.3 and 6.5.1."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from .axes import Axis
from .problem import Field, Problem, constant

Array = NDArray[np.float64]

NOWHERE = constant(0.0)


def particle(count: int = 256) -> Problem:
    """A particle on a circle, dx = (1 + u) dt + dw, q = 1, g = 2 x^2 - x^4: section 5.4.1."""

    def end(x: Array) -> Array:
        within = (x[..., 0] + 1.0) % 2.0 - 1.0
        return 2.0 * within**2 - within**4

    return Problem(
        axes=(Axis(-1.0, 1.0, count, periodic=True),),
        drift=constant([1.0]),
        control=constant([[1.0]]),
        running=constant(1.0),
        terminal=end,
        duration=0.5,
    )


def brick(count: int = 64) -> Problem:
    """State (x, v), dx = v dt, dv = u dt + dw, q = g = 100 x^2 + 10 v^2: section 5.4.2.

    Noise acts on v, which eq. 5.6 leaves out.
    """

    def cost(x: Array) -> Array:
        return 100.0 * x[..., 0] ** 2 + 10.0 * x[..., 1] ** 2

    return Problem(
        axes=(Axis(-1.5, 1.5, count), Axis(-5.0, 5.0, count)),
        drift=lambda x: np.stack([x[..., 1], np.zeros_like(x[..., 1])], axis=-1),
        control=constant([[0.0], [1.0]]),
        running=cost,
        terminal=cost,
        duration=1.0,
    )


def wheels(heading: Array) -> Array:
    """[B] of the three omni-wheeled robot, (..., 3, 3): rates of (x, y, heading) by the wheels' velocities."""
    angle = heading[..., None] + np.radians([0.0, 120.0, 240.0])
    rates: Array = 2.0 / 3.0 * np.stack([-np.sin(angle), np.cos(angle), np.full_like(angle, 0.5)], axis=-2)
    return rates


def fast_wheels(goal: Array) -> tuple[Array, Array]:
    """The robot with wheels of at most unit speed, and the goal as it sees it, (..., 2), when heading is of no matter.

    Returns the wheels' velocities to choose from (27, 3) and the rates of the goal under each, (..., 27, 2).
    """
    speeds = np.array(list(product((-1.0, 0.0, 1.0), repeat=3)))
    rates = speeds @ wheels(np.array(0.0)).T
    turned = np.stack([-goal[..., 1], goal[..., 0]], axis=-1)
    return speeds, -rates[:, :2] - rates[:, 2:] * turned[..., None, :]


def robot(obstacle: Field = NOWHERE, counts: tuple[int, int, int] = (41, 41, 32), temperature: float = 1.0) -> Problem:
    """Three omni-wheels, state (x, y, heading), q = (1 + obstacle) / 2, g = (x^2 + y^2) / 2: section 5.4.3.

    Eq. 5.9 prints - z where this q leaves - z / 2. Its second derivatives come to B B' = diag(2/3, 2/3, 1/3) whatever
    the heading, so v does not know the heading unless the obstacle does: the thesis's circular arcs cannot come from
    this problem, whose wheels have no greatest speed (`minimum_time` solves the one whose wheels have).
    """
    sides = Axis(-2.0, 2.0, counts[0]), Axis(-2.0, 2.0, counts[1])
    return Problem(
        axes=(*sides, Axis(0.0, 2.0 * np.pi, counts[2], periodic=True)),
        drift=constant(np.zeros(3)),
        control=lambda x: wheels(x[..., 2]),
        running=lambda x: 0.5 * (1.0 + obstacle(x)),
        terminal=lambda x: 0.5 * (x[..., 0] ** 2 + x[..., 1] ** 2),
        duration=2.0,
        temperature=temperature,
    )


def rod_among(posts: Array, radius: float, half_length: float, price: float) -> Field:
    """An obstacle for the robot with a rod along its heading: price times the share of a post's radius it cuts in.

    Posts (k, 2) are round. The rod is what lets the cost know the heading.
    """

    def cost(x: Array) -> Array:
        along = np.stack([np.cos(x[..., 2]), np.sin(x[..., 2])], axis=-1)
        total = np.zeros(x.shape[:-1])
        for post in posts:
            away = post - x[..., :2]
            nearest = np.clip(np.sum(away * along, axis=-1), -half_length, half_length)
            distance = np.linalg.norm(away - nearest[..., None] * along, axis=-1)
            total += price * np.maximum(1.0 - distance / radius, 0.0)
        return total

    return cost


def sine_particle(target: float, stiffness: float = 1.0, temperature: float = 1.0, count: int = 512) -> Problem:
    """One state, dx = (sin 4 pi x + u) dt + dw, q = 0, g = K (x - target)^2 / 2: section 6.5.1, whose [K] is one."""
    return Problem(
        axes=(Axis(-1.5, 3.0, count),),
        drift=lambda x: np.sin(4.0 * np.pi * x),
        control=constant([[1.0]]),
        running=constant(0.0),
        terminal=lambda x: 0.5 * stiffness * (x[..., 0] - target) ** 2,
        duration=1.0,
        temperature=temperature,
    )
