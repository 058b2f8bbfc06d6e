# SPDX-License-Identifier: GPL-3.0-or-later
"""Resampling and smoothing, against motions with a closed form."""

import numpy as np
import pytest
from heft.core.motion import quaternions
from heft.core.motion.clip import LocalPoses, from_local
from heft.core.motion.resample import resample, smoothed

from tests.core.motion.skeletons import skeleton, still, waving, wooden

BAR = skeleton([("bar", None, (0, 0, 0), (1, 0, 0)), ("end", "bar", (1, 0, 0), (2, 0, 0))])


def bar(rate, seconds, rotation):
    """The bar turned by rotation vectors (n,) -> (n, 3) of time, its end by the opposite."""
    time = np.arange(round(rate * seconds) + 1) / rate
    place = np.tile(BAR.parent_offset, (len(time), 1, 1))
    turn = quaternions.exp(np.stack([rotation(time), -rotation(time)], axis=1))
    return from_local(still(BAR, len(time), rate), LocalPoses(place, turn))


def test_a_constant_rate_of_turn_is_exact_between_samples():
    def spin(time):
        return time[:, None] * np.array([0.6, -1.1, 2.0])

    clip, exact = resample(bar(24.0, 1.0, spin), 120.0), bar(120.0, 1.0, spin)
    assert len(clip.position) == len(exact.position)
    assert quaternions.angle(clip.orientation, exact.orientation).max() < 1e-12
    assert clip.position == pytest.approx(exact.position, abs=1e-12)


def test_new_samples_on_old_ones_are_the_old_ones():
    old = waving(wooden(), frames=25, rate=24.0)
    new = resample(old, 120.0)
    assert quaternions.angle(new.orientation[::5], old.orientation).max() < 1e-7
    assert new.position[::5] == pytest.approx(old.position, abs=1e-12)
    assert resample(old, 24.0) is old
    assert new.frame(5) == pytest.approx(old.frame(1))


def test_interpolation_of_an_oscillation_is_of_fourth_order():
    def swing(time):
        return np.sin(5.0 * time)[:, None] * np.array([0.9, 0.3, -0.5])

    errors = []
    for rate in (30.0, 60.0, 120.0):
        clip, exact = resample(bar(rate, 2.0, swing), 480.0), bar(480.0, 2.0, swing)
        inner = slice(200, -200)  # away from the natural spline's ends
        errors.append(quaternions.angle(clip.orientation[inner], exact.orientation[inner]).max())
    assert np.log2(errors[0] / errors[1]) > 3.5
    assert np.log2(errors[1] / errors[2]) > 3.5


def test_angular_velocity_is_continuous_across_samples():
    fine = resample(waving(wooden(), frames=20, rate=20.0, seed=4), 20.0 * 200)
    step = quaternions.log(quaternions.multiply(quaternions.conjugate(fine.orientation[:-1]), fine.orientation[1:])) * (
        20.0 * 200
    )
    acceleration = np.abs(np.diff(step, axis=0)).max(axis=(1, 2))
    at_samples = np.zeros(len(acceleration), dtype=bool)
    at_samples[199::200] = True
    assert acceleration[at_samples].max() < 1.5 * acceleration[~at_samples].max()


def test_bones_stay_joined_between_samples():
    some = wooden()
    fine = resample(waving(some, frames=20, rate=24.0), 120.0)
    child = np.flatnonzero(some.parent >= 0)
    length = np.linalg.norm(fine.position[:, child] - fine.position[:, some.parent[child]], axis=2)
    assert np.ptp(length, axis=0).max() < 1e-12


def test_one_frame_and_wrong_rates():
    one = still(BAR, frames=1)
    assert len(resample(one, 120.0).position) == 1
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="rate must be positive"):
            resample(one, rate)
    with pytest.raises(ValueError, match="too long"):
        resample(still(BAR, frames=1000, rate=1e-3), 1e5)


def test_smoothing_has_no_lag_keeps_trends_and_halves_the_power_at_its_cutoff():
    time = np.arange(600) / 120.0
    trend = (2.0 + 3.0 * time)[:, None]
    assert smoothed(trend, 120.0, 6.0) == pytest.approx(trend, abs=1e-10)
    wave = np.sin(2.0 * np.pi * 6.0 * time)[:, None]
    inner = slice(100, -100)
    assert smoothed(wave, 120.0, 6.0)[inner] == pytest.approx(np.sqrt(0.5) * wave[inner], abs=2e-3)


@pytest.mark.parametrize("rate", [24.0, 25.0, 30000.0 / 1001.0, 60.0])
def test_a_clip_of_any_rate_comes_back_from_120_per_second(rate):
    """Issue 5's round trip, 0.05° and 0.1 mm, for the resampling alone."""
    clip = waving(wooden(), frames=100, rate=rate)
    back = resample(resample(clip, 120.0), rate)
    whole = len(back.position)
    assert whole >= 99
    assert np.degrees(quaternions.angle(back.orientation, clip.orientation[:whole])).max() < 0.05
    assert np.abs(back.position - clip.position[:whole]).max() < 1e-4
