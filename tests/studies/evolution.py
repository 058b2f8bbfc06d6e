# SPDX-License-Identifier: GPL-3.0-or-later
"""CMA-ES: N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with its default numbers, and seeded."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Evolution:
    """Ask for candidates, tell what they cost."""

    def __init__(self, mean: Array, sigma: float, seed: int, population: int | None = None) -> None:
        n = len(mean)
        self.mean, self.sigma = np.array(mean, dtype=np.float64), sigma
        self._random = np.random.default_rng(seed)
        self.population = population or 4 + int(3 * math.log(n))
        half = self.population // 2
        weights = math.log(half + 0.5) - np.log(np.arange(1, half + 1))
        self._weights = weights / weights.sum()
        self._mass = mass = 1.0 / float(np.sum(self._weights**2))
        self._c_sigma = (mass + 2.0) / (n + mass + 5.0)
        self._damping = 1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + self._c_sigma
        self._c_path = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
        self._c_one = 2.0 / ((n + 1.3) ** 2 + mass)
        self._c_mu = min(1.0 - self._c_one, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
        self._usual = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
        self._path_sigma, self._path = np.zeros(n), np.zeros(n)
        self._covariance = np.eye(n)
        self._generation = 0

    def ask(self) -> Array:
        """Candidates, one a row."""
        values, vectors = np.linalg.eigh(self._covariance)
        self._root = vectors * np.sqrt(np.maximum(values, 1e-20))
        self._inverse = (vectors / np.sqrt(np.maximum(values, 1e-20))) @ vectors.T
        drawn = self._random.normal(size=(self.population, len(self.mean)))
        return self.mean + self.sigma * drawn @ self._root.T

    def tell(self, candidates: Array, costs: Sequence[float]) -> None:
        """Move towards the better half."""
        n = len(self.mean)
        best = candidates[np.argsort(costs, kind="stable")[: len(self._weights)]]
        steps = (best - self.mean) / self.sigma
        step = self._weights @ steps
        self.mean = self.mean + self.sigma * step
        self._generation += 1
        c = self._c_sigma
        self._path_sigma = (1.0 - c) * self._path_sigma + math.sqrt(c * (2.0 - c) * self._mass) * self._inverse @ step
        length = float(np.linalg.norm(self._path_sigma))
        settled = length / math.sqrt(1.0 - (1.0 - c) ** (2 * self._generation)) < (1.4 + 2.0 / (n + 1.0)) * self._usual
        d = self._c_path
        self._path = (1.0 - d) * self._path + (math.sqrt(d * (2.0 - d) * self._mass) * step if settled else 0.0)
        kept = 1.0 - self._c_one - self._c_mu + (0.0 if settled else self._c_one * d * (2.0 - d))
        self._covariance = (
            kept * self._covariance
            + self._c_one * np.outer(self._path, self._path)
            + self._c_mu * (steps.T * self._weights) @ steps
        )
        self.sigma *= math.exp(c / self._damping * (length / self._usual - 1.0))
