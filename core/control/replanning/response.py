# SPDX-License-Identifier: GPL-3.0-or-later
"""How a mode moves on its own, and by impulses: Jain and Liu 2011, eq. 4 to 9, in the simulator's steps.

The paper's A(t) = sin(omega t) / omega is that of continuous time. Here a mode is stepped as the simulator steps it:
an impulse I changes the velocity, and the position follows with it,

    v' = v + I + dt (b - omega^2 p),    p' = p + dt v'

An impulse's effect after j steps is then a_0 = 0, a_1 = dt, a_{j+1} = (2 - omega^2 dt^2) a_j - a_{j-1}, which tends to
the paper's, and its velocity's is (a_j - a_{j-1}) / dt. A velocity at the start is an impulse in the first step.
"""

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from ...maths.structure import Structure

Array = NDArray[np.float64]


class Response(Structure):
    """Of modes (nm) after 0 to n steps."""

    position: Array  # (nm, n + 1) [a] by an impulse in the first of so many steps
    velocity: Array  # (nm, n + 1) the same of the velocity


def make_response(modes: int, steps: int) -> Response:
    """Allocate."""
    return Response(position=np.zeros((modes, steps + 1)), velocity=np.zeros((modes, steps + 1)))


@kernel
def update_response(square: Array, modes: int, steps: int, dt: float, response: Response) -> None:
    """Fill for the first `modes`, whose omega^2 is `square` (nm,)."""
    for m in range(modes):
        a, d = response.position[m], response.velocity[m]
        a[0], d[0] = 0.0, 0.0
        a[1], d[1] = dt, 1.0
        turn = 2.0 - square[m] * dt * dt
        for j in range(2, steps + 1):
            a[j] = turn * a[j - 1] - a[j - 2]
            d[j] = (a[j] - a[j - 1]) / dt


@kernel
def free_response(
    response: Response, m: int, steps: int, dt: float, velocity: float, push: float
) -> tuple[float, float]:
    """Position and velocity after `steps`, from zero at `velocity`, under a constant force `push` [b]."""
    a, d = response.position[m], response.velocity[m]
    total = 0.0
    for j in range(1, steps + 1):
        total += a[j]
    return a[steps] * velocity + dt * total * push, d[steps] * velocity + a[steps] * push


@kernel
def first_impulse(
    response: Response,
    m: int,
    steps: int,
    miss: float,
    miss_rate: float,
    weight: float,
    weight_rate: float,
    effort: float,
) -> float:
    """The first of the impulses I (n,) that take a mode to its goal at the window's end, eq. 21 in closed form.

        minimise  w_4 (miss + a^T I)^2 + w_5 (miss_rate + a'^T I)^2 + w_6 |I|^2

    The least I is a combination of a and a', I = -G mu with G = (a, a') and (diag(w_6 / w) + G^T G) mu = miss.
    """
    a, d = response.position[m], response.velocity[m]
    pp, pv, vv = effort / weight, 0.0, effort / weight_rate
    for j in range(1, steps + 1):
        pp += a[j] * a[j]
        pv += a[j] * d[j]
        vv += d[j] * d[j]
    determinant = pp * vv - pv * pv
    x = (vv * miss - pv * miss_rate) / determinant
    y = (pp * miss_rate - pv * miss) / determinant
    return -float(a[steps] * x + d[steps] * y)
