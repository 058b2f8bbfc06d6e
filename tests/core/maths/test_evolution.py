# SPDX-License-Identifier: GPL-3.0-or-later
"""CMA-ES on functions with known minima, beside the package cmaes."""

import numpy as np
import pytest
from cmaes import CMA
from heft.core.maths.evolution import ask, begin, make_evolution, tell


def sphere(x):
    return float(np.sum((x - 0.3) ** 2))


def rosenbrock(x):
    return float(np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


def spread(x):
    """Axes a thousand times as long as others, and turned."""
    turned = np.array([x[0] + x[1], x[0] - x[1], x[2] + 0.5 * x[0]]) - 1.0
    return float(np.sum((turned * [1.0, 30.0, 1000.0]) ** 2))


def minimise(function, generations, seed=0, size=0.5):
    evolution, random = make_evolution(3), np.random.default_rng(seed)
    begin(evolution, size)
    best = np.inf
    for _ in range(generations):
        ask(evolution, random.normal(size=evolution.sample.shape))
        evolution.cost[:] = [function(x) for x in evolution.sample]
        assert tell(evolution)
        assert evolution.cost[evolution.order[0]] == evolution.cost.min()
        best = min(best, evolution.cost.min())
    return best, evolution


class TestEvolution:
    @pytest.mark.parametrize(("function", "generations"), [(sphere, 80), (rosenbrock, 300), (spread, 300)])
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_it_finds_the_minimum(self, function, generations, seed):
        assert minimise(function, generations, seed)[0] < 1e-9

    def test_as_fast_as_the_one_with_the_symmetric_root(self):
        """Median over seeds of the generations to 1e-8 on Rosenbrock's function: within a quarter."""

        def needed(ask_for, tell_it):
            for generation in range(1000):
                samples = ask_for()
                costs = [rosenbrock(x) for x in samples]
                if min(costs) < 1e-8:
                    return generation
                tell_it(samples, costs)
            return 1000

        ours, theirs = [], []
        for seed in range(7):
            evolution, random = make_evolution(3), np.random.default_rng(seed)
            begin(evolution, 0.5)

            def ask_ours(evolution=evolution, random=random):
                ask(evolution, random.normal(size=evolution.sample.shape))
                return evolution.sample.copy()

            def tell_ours(samples, costs, evolution=evolution):
                evolution.cost[:] = costs
                tell(evolution)

            ours.append(needed(ask_ours, tell_ours))
            other = CMA(np.zeros(3), 0.5, seed=seed)

            def ask_theirs(other=other):
                return [other.ask() for _ in range(other.population_size)]

            def tell_theirs(samples, costs, other=other):
                other.tell(list(zip(samples, costs, strict=True)))

            theirs.append(needed(ask_theirs, tell_theirs))
        assert np.median(ours) == pytest.approx(np.median(theirs), rel=0.25)

    def test_the_covariance_stays_the_factors_product(self):
        _, evolution = minimise(spread, 40)
        L = np.tril(evolution.factor)
        np.testing.assert_allclose(L @ L.T, evolution.covariance, rtol=1e-12, atol=1e-15)

    def test_the_same_numbers_give_the_same_bits(self):
        np.testing.assert_array_equal(minimise(rosenbrock, 30)[1].mean, minimise(rosenbrock, 30)[1].mean)

    def test_samples_follow_the_distribution(self):
        evolution = make_evolution(3)
        begin(evolution, 0.5)
        evolution.mean[:] = 1.0, 2.0, 3.0
        drawn = np.eye(3)[np.arange(evolution.sample.shape[0]) % 3]
        ask(evolution, drawn)
        np.testing.assert_allclose(evolution.sample, evolution.mean + 0.5 * drawn)
