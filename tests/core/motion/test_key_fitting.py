# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys against curves whose keys are known."""

import numpy as np
import pytest
from heft.core.motion.key_fitting import extremes, fit_keys

FRAMES = np.arange(1.0, 101.0)
NONE = np.zeros(0, dtype=np.intp)


def test_a_cubic_needs_its_ends_only():
    cubic = (1e-5 * (FRAMES - 20.0) * (FRAMES - 50.0) * (FRAMES - 90.0))[:, None]
    keys = fit_keys(FRAMES, cubic, np.array([1e-6]), NONE)
    assert keys.rows.tolist() == [0, 99]
    np.testing.assert_allclose(keys.at(FRAMES, cubic), cubic, atol=1e-5)


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.001])
def test_every_sample_is_within_the_tolerance(tolerance):
    rng = np.random.default_rng(1)
    waves = np.sin(0.02 * np.outer(FRAMES, [3.0, 7.0, 11.0]) + rng.uniform(0.0, 6.0, 3))
    keys = fit_keys(FRAMES, waves, np.full(3, tolerance), NONE)
    assert np.abs(keys.at(FRAMES, waves) - waves).max() <= tolerance
    assert len(keys.rows) < {0.1: 9, 0.01: 16, 0.001: 30}[tolerance]


def test_uneven_frames_and_wanted_keys():
    frames = np.sort(np.random.default_rng(2).uniform(0.0, 50.0, 80))
    wave = np.sin(0.3 * frames)[:, None]
    keys = fit_keys(frames, wave, np.array([0.01]), np.array([7, 31]))
    assert {0, 7, 31, 79} <= set(keys.rows.tolist())
    assert np.abs(keys.at(frames, wave) - wave).max() <= 0.01


def test_a_loop_ends_as_steep_as_it_begins():
    wave = np.column_stack([np.sin(2.0 * np.pi * (FRAMES - 1.0) / 99.0 + 0.4), 0.1 * FRAMES])
    keys = fit_keys(FRAMES, wave, np.array([0.01, 0.01]), NONE, repeats=True)
    np.testing.assert_array_equal(keys.slopes[0], keys.slopes[-1])
    assert np.abs(keys.at(FRAMES, wave) - wave).max() <= 0.01


def test_extremes_of_a_swing_and_none_of_what_trembles():
    swing = np.sin(2.0 * np.pi * (FRAMES - 1.0) / 40.0) + 0.01 * np.cos(7.0 * FRAMES)
    found = extremes(swing[:, None], np.array([0.2]))
    assert len(found) == 5
    np.testing.assert_allclose(found, [10, 30, 50, 70, 90], atol=2)
    assert len(extremes(0.01 * np.cos(7.0 * FRAMES)[:, None], np.array([0.2]))) == 0
