# SPDX-License-Identifier: GPL-3.0-or-later
"""CMA-ES in kernels, for few variables: N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with its numbers.

Samples are m + s L z with C = L L^T by Cholesky instead of the symmetric root (Krause, Arbones and Igel 2016): the path
of the step size is then in the coordinates of z, and nothing is inverted. The caller brings the normal numbers z, so
that the same ones give the same bits:

    begin(evolution, s)
    ask(evolution, z)       fills `sample`; the caller fills `cost`
    tell(evolution)         moves towards the better half
"""

import math

import numpy as np
from numpy.typing import NDArray

from .dense import cholesky, copy_into
from .kernel import kernel
from .structure import Structure

Array = NDArray[np.float64]


class Evolution(Structure):
    """Of n variables and `population` (l) samples, of which the better half (m) counts."""

    mean: Array  # (n,) [m]
    size: Array  # (1,) step size [sigma]
    generation: NDArray[np.int64]  # (1,)
    covariance: Array  # (n, n) [C]
    factor: Array  # (n, n) [L]
    path: Array  # (n,) [p_c]
    size_path: Array  # (n,) [p_sigma]
    step: Array  # (2, n) of the mean, in z and in units of the step size
    drawn: Array  # (l, n) [z]
    sample: Array  # (l, n)
    cost: Array  # (l,)
    order: NDArray[np.int64]  # (l,) the best first
    weight: Array  # (m,)


def make_evolution(variables: int, population: int = 0) -> Evolution:
    """Allocate; by default the tutorial's population."""
    n, l = variables, population or 4 + int(3.0 * math.log(variables))
    weight = math.log(0.5 * l + 0.5) - np.log(np.arange(1, l // 2 + 1))
    return Evolution(
        mean=np.zeros(n),
        size=np.zeros(1),
        generation=np.zeros(1, dtype=np.int64),
        covariance=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        path=np.zeros(n),
        size_path=np.zeros(n),
        step=np.zeros((2, n)),
        drawn=np.zeros((l, n)),
        sample=np.zeros((l, n)),
        cost=np.zeros(l),
        order=np.zeros(l, dtype=np.int64),
        weight=weight / weight.sum(),
    )


@kernel
def begin(evolution: Evolution, size: float) -> None:
    """Around zero; write to `mean` afterwards to begin elsewhere."""
    evolution.size[0], evolution.generation[0] = size, 0
    evolution.covariance[:] = 0.0
    evolution.factor[:] = 0.0
    for i in range(evolution.mean.shape[0]):
        evolution.mean[i] = evolution.path[i] = evolution.size_path[i] = 0.0
        evolution.covariance[i, i] = evolution.factor[i, i] = 1.0


@kernel
def ask(evolution: Evolution, drawn: Array) -> None:
    """Samples of normal numbers (l, n)."""
    L = evolution.factor
    for k in range(drawn.shape[0]):
        copy_into(drawn[k], evolution.drawn[k])
        for i in range(drawn.shape[1]):
            s = 0.0
            for j in range(i + 1):
                s += L[i, j] * drawn[k, j]
            evolution.sample[k, i] = evolution.mean[i] + evolution.size[0] * s


@kernel
def tell(evolution: Evolution) -> bool:
    """The next generation's distribution; False where rounding has left none. `order[0]` is the best sample."""
    n, half = evolution.mean.shape[0], evolution.weight.shape[0]
    mass = 0.0
    for w in evolution.weight:
        mass += w * w
    mass = 1.0 / mass
    c_size = (mass + 2.0) / (n + mass + 5.0)
    damping = 1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + c_size
    c_path = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
    c_one = 2.0 / ((n + 1.3) ** 2 + mass)
    c_many = min(1.0 - c_one, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
    usual = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))

    _sort(evolution.cost, evolution.order)
    step, C, L = evolution.step, evolution.covariance, evolution.factor
    for i in range(n):
        step[0, i] = 0.0
        for k in range(half):
            step[0, i] += evolution.weight[k] * evolution.drawn[evolution.order[k], i]
    length = 0.0
    for i in range(n):
        step[1, i] = 0.0
        for j in range(i + 1):
            step[1, i] += L[i, j] * step[0, j]
        rate = math.sqrt(c_size * (2.0 - c_size) * mass)
        evolution.size_path[i] = (1.0 - c_size) * evolution.size_path[i] + rate * step[0, i]
        length += evolution.size_path[i] ** 2
    length = math.sqrt(length)
    evolution.generation[0] += 1
    grown = math.sqrt(1.0 - (1.0 - c_size) ** (2 * evolution.generation[0]))
    settled = length / grown < (1.4 + 2.0 / (n + 1.0)) * usual
    rate = math.sqrt(c_path * (2.0 - c_path) * mass) if settled else 0.0
    kept = 1.0 - c_one - c_many + (0.0 if settled else c_one * c_path * (2.0 - c_path))
    for i in range(n):
        evolution.path[i] = (1.0 - c_path) * evolution.path[i] + rate * step[1, i]
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(half):
                sample = evolution.sample[evolution.order[k]]
                s += evolution.weight[k] * (sample[i] - evolution.mean[i]) * (sample[j] - evolution.mean[j])
            s /= evolution.size[0] ** 2
            C[i, j] = kept * C[i, j] + c_one * evolution.path[i] * evolution.path[j] + c_many * s
            C[j, i] = C[i, j]
    for i in range(n):
        evolution.mean[i] += evolution.size[0] * step[1, i]
    evolution.size[0] *= math.exp(c_size / damping * (length / usual - 1.0))
    return cholesky(C, L)


@kernel
def _sort(cost: Array, order: NDArray[np.int64]) -> None:
    """Indices by cost, equal ones as they came."""
    for k in range(cost.shape[0]):
        at = k
        while at > 0 and cost[order[at - 1]] > cost[k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
