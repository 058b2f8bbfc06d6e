# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions keyed in steps: on twos or fours, or blocked out with constant interpolation.

Every pose is held until the next one leaps in. A spline through all of the frames would overshoot at each leap, and
feet would seem to dart and stand in turn. So what is meant is filled in: each pose is reached in the middle of the
frames that hold it, and left for the next; one that is held for long is held, but for a moment at either end.

In between, places and quaternions go by monotone cubics (Fritsch and Carlson 1980), which overshoot nothing.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .clip import Clip, LocalPoses, from_local, to_local
from .quaternions import Array

SAME = 1e-4  # rad or m, by which poses differ that are the same
FEWEST = 2  # leaps
MOSTLY = 0.9  # of all changes that are leaps between held poses: else somebody keyed holds into a motion that flows
MOMENT = 0.15  # s: half of the longest time from one pose to the next


def filled_in(clip: Clip) -> tuple[Clip, str]:
    """The clip with poses between those that it holds, and a line for the report; the same clip where it flows."""
    if len(clip.position) < 2 * FEWEST or not (
        np.isfinite(clip.position).all() and np.isfinite(clip.orientation).all()
    ):
        return clip, ""
    local = to_local(clip)
    turned = quaternions.angle(local.orientation[1:], local.orientation[:-1]).max(axis=1)
    moved = np.abs(np.diff(local.position, axis=0)).max(axis=(1, 2))
    changes = np.asarray((turned > SAME) | (moved > SAME))
    leaps = np.flatnonzero(changes) + 1
    alone = ~(np.append(changes[1:], False) | np.append(False, changes[:-1]))
    if len(leaps) < FEWEST or alone[leaps - 1].mean() < MOSTLY:
        return clip, ""
    time, sample = _keys(leaps, len(clip.position), MOMENT * clip.rate)
    filled = LocalPoses(
        _through(time, local.position[sample], len(clip.position)),
        quaternions.normalize(_through(time, quaternions.continuous(local.orientation[sample]), len(clip.position))),
    )
    held = np.median(np.diff(leaps)) * clip.frames_per_sample
    line = f"The action is keyed in steps of about {held:g} frames: what is between its poses was filled in."
    return from_local(replace(clip, orientation=filled.orientation), filled), line


def _keys(leaps: NDArray[np.int64], frames: int, moment: float) -> tuple[Array, NDArray[np.int64]]:
    """When (n,) which samples (n,) are reached: the middle of each hold, or the ends of what is left of a long one."""
    starts, lasts = np.append(0, leaps), np.append(leaps - 1, frames - 1)
    times, samples = [], []
    for start, last in zip(starts.tolist(), lasts.tolist(), strict=True):
        middle = 0.5 * (start + last)
        first = float(start) if start == 0 else min(start - 0.5 + moment, middle)
        end = float(last) if last == frames - 1 else max(last + 0.5 - moment, middle)
        for time in dict.fromkeys((first, end)):
            times.append(time)
            samples.append(start)
    return np.array(times), np.array(samples, dtype=np.int64)


def _through(time: Array, values: Array, frames: int) -> Array:
    """Values (n, ...) at some times, in each frame."""
    from scipy.interpolate import PchipInterpolator  # a tenth of a second, which few actions need

    result: Array = PchipInterpolator(time, values, axis=0)(np.arange(frames, dtype=np.float64))
    return result
