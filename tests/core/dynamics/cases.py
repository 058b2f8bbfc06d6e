# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of this room run on: all presets and 200 random trees, each at a random state with velocities."""

from functools import cache

import numpy as np
from heft.core.character import Character
from heft.core.character.presets import NAMES

from tests.core.random_trees import random_character, random_state

RANDOM_TREES = 200


@cache
def characters():
    random = [random_character(seed, bodies=2 + seed % 11, passive=seed % 2 == 1) for seed in range(RANDOM_TREES)]
    return [Character.preset(name) for name in NAMES] + random


def states(seed=0):
    """Each character with positions, velocities and a generator for whatever else a test needs."""
    for index, character in enumerate(characters()):
        rng = np.random.default_rng([seed, index])
        q, v = random_state(character, rng)
        yield character, q, v, rng


def assert_relative(actual, expected, tolerance, character):
    """Largest error at most `tolerance` times the largest entry."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, character.name
    error = np.abs(actual - expected).max(initial=0.0)
    scale = np.abs(expected).max(initial=0.0)
    assert error <= tolerance * scale, f"{character.name}: {error / scale:.2e} relative"
