# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips at another rate, and velocities without lag.

Between samples k and k + 1 a bone's rotation in its parent is q_k exp(phi(s)), phi a cubic with phi(0) = 0 and
exp(phi(1)) = q_k^-1 q_{k+1}; its ends' slopes are angular velocities there, w_k and J_r^-1 w_{k+1} (see
maths.rotations), so the rotation passes through every sample with a continuous angular velocity. The w_k solve the
equations of a natural cubic spline, w_{k-1} + 4 w_k + w_{k+1} = 3 (d_{k-1} + d_k) for steps d: for small steps the
angular acceleration is continuous too. Places in the parent's frame are natural cubic splines.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded
from scipy.ndimage import gaussian_filter1d

from . import quaternions
from .clip import Clip, LocalPoses, from_local, to_local
from .quaternions import Array

MOST_SAMPLES = 10_000_000  # of all bones of a clip together


def resample(clip: Clip, rate: float, first_time: float = 0.0, count: int | None = None) -> Clip:
    """The clip at `rate` samples per second, from `first_time` seconds after its first sample on.

    Without `count`, as many samples as its duration holds. Where a new sample falls on an old one the two agree.
    """
    frames = len(clip.position)
    if not 0.0 < rate < 1e6:
        raise ValueError(f"The rate must be positive, not {rate} samples per second.")
    if count is None:
        count = max(1, int((frames - 1) / clip.rate * rate + 1e-6) + 1)
    if not 1 <= count * len(clip.skeleton.names) <= MOST_SAMPLES:
        raise ValueError(
            f"A clip of {count} samples of {len(clip.skeleton.names)} bones is too long: choose a shorter "
            "range or a lower rate."
        )
    if rate == clip.rate and first_time == 0.0 and count == frames:
        return clip
    time = np.clip((first_time + np.arange(count) / rate) * clip.rate, 0.0, frames - 1.0)
    # a sample that rounding has put beside an old one is that one
    time = np.where(np.abs(time - np.round(time)) < 1e-6, np.round(time), time)
    local = to_local(clip)
    index = np.minimum(time.astype(np.int64), max(frames - 2, 0))
    part = (time - index)[:, None, None]
    poses = local if frames == 1 else _between(local, index, part)
    if frames == 1:
        poses = LocalPoses(local.position[index], local.orientation[index])
    step = clip.rate / rate * clip.frames_per_sample
    like = Clip(
        clip.skeleton,
        rate,
        poses.position,
        quaternions.normalize(poses.orientation),
        clip.first_frame + first_time * clip.rate * clip.frames_per_sample,
        step,
    )
    return from_local(like, poses)


def smoothed(velocity: Array, rate: float, cutoff: float) -> Array:
    """Rows (n, ...) low-passed without lag: a Gaussian whose gain is half the power at `cutoff` Hz.

    The ends are mirrored through their own values, so that a steady trend passes unchanged.
    """
    sigma = np.sqrt(np.log(2.0)) / (2.0 * np.pi * cutoff) * rate
    pad = min(int(4.0 * sigma) + 1, len(velocity) - 1)
    if pad < 1 or sigma < 0.1:
        return velocity
    before = 2.0 * velocity[0] - velocity[pad:0:-1]
    after = 2.0 * velocity[-1] - velocity[-2 : -2 - pad : -1]
    padded = np.concatenate([before, velocity, after])
    result: Array = gaussian_filter1d(padded, sigma, axis=0, mode="nearest", truncate=4.0)[pad : pad + len(velocity)]
    return result


def _between(local: LocalPoses, index: NDArray[np.int64], part: Array) -> LocalPoses:
    place, turn = local.position, local.orientation
    step = quaternions.log(quaternions.multiply(quaternions.conjugate(turn[:-1]), turn[1:]))
    spin = _spline_slopes(step)
    end = _times_inverse_right_jacobian(step, spin[1:])
    way = _hermite(part, step[index], spin[index], end[index])
    rotation = quaternions.multiply(turn[index], quaternions.exp(way))
    stride = np.diff(place, axis=0)
    slope = _spline_slopes(stride)
    position = place[index] + _hermite(part, stride[index], slope[index], slope[index + 1])
    whole = part == 1.0  # the last sample itself
    return LocalPoses(
        np.where(whole, place[index + 1], position), quaternions.continuous(np.where(whole, turn[index + 1], rotation))
    )


def _spline_slopes(step: Array) -> Array:
    """Slopes (n + 1, ...) at the samples of the natural cubic spline with steps (n, ...) between them."""
    n = len(step)
    bands = np.ones((3, n + 1))
    bands[1] = 4.0
    bands[1, 0] = bands[1, -1] = 2.0
    right = np.zeros((n + 1, *step.shape[1:]))
    right[:-1] += 3.0 * step
    right[1:] += 3.0 * step
    slopes: Array = solve_banded((1, 1), bands, right.reshape(n + 1, -1)).reshape(right.shape)
    return slopes


def _hermite(s: Array, step: Array, start: Array, end: Array) -> Array:
    """The cubic that starts at zero and ends at `step`, with slopes `start` and `end`."""
    result: Array = s * (start + s * (3.0 * step - 2.0 * start - end + s * (start + end - 2.0 * step)))
    return result


def _times_inverse_right_jacobian(d: Array, vector: Array) -> Array:
    """J_r(d)^-1 v = v + d x v / 2 + (1 - (t/2) cot(t/2))/t² d x (d x v), t = |d|."""
    t: Array = np.linalg.norm(d, axis=-1, keepdims=True)
    half = 0.5 * np.maximum(t, 1e-3)
    # below a milliradian the factor is 1/12 to seven digits
    factor: Array = np.where(t < 1e-3, 1.0 / 12.0, (1.0 - half / np.tan(half)) / (4.0 * half * half))
    cross = np.cross(d, vector)
    result: Array = vector + 0.5 * cross + factor * np.cross(d, cross)
    return result
