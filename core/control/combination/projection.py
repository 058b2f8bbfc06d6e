# SPDX-License-Identifier: GPL-3.0-or-later
"""A new goal as a sum of given ones (da Silva 2010, section 6.3.1).

A goal is a quadratic terminal cost ½ (x - c)^T Q (x - c); its reward h = exp(-cost / lambda) is a bell. The bell of the
new goal is projected onto those of the given ones, in the mean square over all of space, by weights that are not
negative: rewards cannot be. Inner products of bells are known in closed form.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Goal(NamedTuple):
    """½ (x - center)^T stiffness (x - center)."""

    center: Array  # (n,)
    stiffness: Array  # (n, n) [Q], positive definite


class Projection(NamedTuple):
    """Weights of given goals, and how far they are to be trusted."""

    weights: Array  # (n,) [w], none negative; zero all where no given goal overlaps the new one
    condition: float  # of the matrix of inner products: great where goals lie too close to tell apart
    residual: float  # distance of the sum from the bell that was asked for, as a share of that bell; 0 to 1
    modes: int  # maxima of the sum along the lines between the given goals: more than one, and it offers a choice


def inner_product(a: Goal, b: Goal, temperature: float) -> float:
    """<h_a, h_b> = (2 pi)^(n/2) |A + B|^(-1/2) exp(-½ d^T [A - A (A + B)^-1 A] d), A = Q_a / lambda, d = c_a - c_b."""
    A, B = a.stiffness / temperature, b.stiffness / temperature
    d = a.center - b.center
    both = A + B
    exponent = d @ A @ d - (A @ d) @ np.linalg.solve(both, A @ d)
    sign, logarithm = np.linalg.slogdet(both)
    if not sign > 0.0:
        raise ValueError("The stiffness of a goal must be positive definite.")
    return math.exp(0.5 * (len(d) * math.log(2.0 * math.pi) - float(logarithm) - float(exponent)))


def project(goal: Goal, given: list[Goal], temperature: float) -> Projection:
    """Weights of the given goals whose bells' sum is nearest to the goal's bell, by non-negative least squares."""
    A = np.array([[inner_product(a, b, temperature) for b in given] for a in given])
    b = np.array([inner_product(a, goal, temperature) for a in given])
    square = inner_product(goal, goal, temperature)
    # |sum w h - h|^2 = |L^T w - L^-1 b|^2 + a rest that no weight changes, A = L L^T
    values, vectors = np.linalg.eigh(A)
    kept = values > 1e-14 * values[-1]
    root = (vectors[:, kept] * np.sqrt(values[kept])).T
    weights, _ = scipy.optimize.nnls(root, (vectors[:, kept] / np.sqrt(values[kept])).T @ b)
    rest = square - 2.0 * float(weights @ b) + float(weights @ A @ weights)
    condition = float(values[-1] / values[0]) if values[0] > 0.0 else math.inf
    residual = math.sqrt(max(rest, 0.0) / square)
    return Projection(np.asarray(weights, dtype=np.float64), condition, residual, _modes(weights, given, temperature))


def smooth_temperature(goals: list[Goal]) -> float:
    """A temperature at which neighbouring goals melt into one: the greatest d^T Q d from a goal to the nearest other.

    Of two equal bells the sum has one maximum while d^T Q d / lambda <= 4. At 1 weights are nearly linear in the goal.
    """
    found = 0.0
    for i, a in enumerate(goals):
        away = [float((a.center - b.center) @ a.stiffness @ (a.center - b.center)) for b in goals[:i] + goals[i + 1 :]]
        found = max(found, min(away))
    return found


def _modes(weights: Array, given: list[Goal], temperature: float) -> int:
    """Maxima of sum w_i h_i that are reached uphill from the centres of goals that take part."""
    taking = [i for i in range(len(given)) if weights[i] > 1e-9 * weights.max(initial=0.0)]
    found: list[Array] = []
    for i in taking:
        top = _top(given[i].center, [given[j] for j in taking], weights[taking], temperature)
        scale = math.sqrt(temperature / float(np.linalg.eigvalsh(given[i].stiffness)[-1]))
        if all(float(np.linalg.norm(top - other)) > 0.01 * scale for other in found):
            found.append(top)
    return len(found)


def _top(x: Array, goals: list[Goal], weights: Array, temperature: float) -> Array:
    """Uphill by fixed-point iteration: at a maximum, x is the mean of the centres, each by its stiffness and share."""
    for _ in range(10000):
        shares = [
            w * math.exp(-0.5 * float((x - g.center) @ g.stiffness @ (x - g.center)) / temperature)
            for w, g in zip(weights, goals, strict=True)
        ]
        stiffness = sum((s * g.stiffness for s, g in zip(shares, goals, strict=True)), np.zeros((len(x), len(x))))
        pull = sum((s * g.stiffness @ g.center for s, g in zip(shares, goals, strict=True)), np.zeros(len(x)))
        after: Array = np.linalg.solve(stiffness, pull)
        if float(np.linalg.norm(after - x)) <= 1e-10 * (1.0 + float(np.linalg.norm(x))):
            return after
        x = after
    return x
