# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes: a force in newtons on a point of a body, sampled from curves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..character import check
from ..character.check import Vector
from ..maths.kernel import kernel
from ..maths.structure import Structure
from ..maths.vectors import Vector as Triple
from ..maths.vectors import add_scaled, row, scale


@dataclass(frozen=True, eq=False)
class Push:
    """A force over time. Samples are joined by straight lines; before the first and after the last there is none.

    A step applies the mean over its own duration, so the whole impulse is the curve's at any rate.
    """

    body: str
    force: NDArray[np.float64]  # (n, 3) in the world, N; n at least 2
    rate: float  # samples per second
    start: float = 0.0  # time of the first sample, s
    point: Vector = (0.0, 0.0, 0.0)  # in the body's frame, m
    foreseen: bool = True  # who rehearses knows of it

    def __post_init__(self) -> None:
        check.name(self.body, "push's body")
        owner = f"the push on '{self.body}'"
        force = np.array(self.force, dtype=np.float64)
        if force.ndim != 2 or force.shape[1] != 3 or len(force) < 2 or not np.isfinite(force).all():
            raise ValueError(f"The force of {owner} must be finite, of shape (n, 3), with at least two samples.")
        object.__setattr__(self, "force", force)
        object.__setattr__(self, "rate", check.positive(self.rate, "rate", owner))
        object.__setattr__(self, "start", check.number(self.start, "start", owner))
        object.__setattr__(self, "point", check.vector(self.point, "point", owner))

    @classmethod
    def constant(
        cls, body: str, force: Vector, start: float, seconds: float, point: Vector = (0.0, 0.0, 0.0)
    ) -> "Push":
        """The same force for some time."""
        duration = check.positive(seconds, "duration", f"the push on '{body}'")
        return cls(body, np.array([force, force]), 1.0 / duration, start, point)

    def mean_forces(self, begin: float, dt: float, steps: int) -> NDArray[np.float64]:
        """What it gives in each of some steps (steps, 3), N: as `mean_force` has it."""
        last = len(self.force) - 1
        at = np.clip((begin + dt * np.arange(steps + 1) - self.start) * self.rate, 0.0, last)
        before = np.minimum(at.astype(np.int64), last - 1)
        share, slope = (at - before)[:, None], np.diff(self.force, axis=0)
        until = np.concatenate((np.zeros((1, 3)), np.cumsum(0.5 * (self.force[1:] + self.force[:-1]), axis=0)))
        total = until[before] + share * (self.force[before] + 0.5 * share * slope[before])
        result: NDArray[np.float64] = np.diff(total, axis=0) / (self.rate * dt)
        return result


class Pushes(Structure):
    """All pushes (np), their samples one after another (ns)."""

    body: NDArray[np.int64]  # (np,)
    point: NDArray[np.float64]  # (np, 3)
    start: NDArray[np.float64]  # (np,) s
    rate: NDArray[np.float64]  # (np,) 1/s
    first: NDArray[np.int64]  # (np,) row of `force`
    samples: NDArray[np.int64]  # (np,)
    force: NDArray[np.float64]  # (ns, 3) N


def make_pushes(pushes: Sequence[Push], body_index: Mapping[str, int]) -> Pushes:
    """Flatten."""
    for push in pushes:
        if push.body not in body_index:
            raise ValueError(f"A push acts on an unknown body '{push.body}'.")
    counts = np.array([len(push.force) for push in pushes], dtype=np.int64)
    return Pushes(
        body=np.array([body_index[push.body] for push in pushes], dtype=np.int64),
        point=np.array([push.point for push in pushes], dtype=np.float64).reshape(-1, 3),
        start=np.array([push.start for push in pushes], dtype=np.float64),
        rate=np.array([push.rate for push in pushes], dtype=np.float64),
        first=np.cumsum(counts) - counts,
        samples=counts,
        force=np.concatenate([np.zeros((0, 3)), *(push.force for push in pushes)]),
    )


@kernel
def mean_force(pushes: Pushes, i: int, begin: float, end: float) -> Triple:
    """Mean of push i from `begin` to `end`: the integral of straight lines between samples."""
    total = (0.0, 0.0, 0.0)
    first, last = pushes.first[i], pushes.samples[i] - 1
    a = min(max((begin - pushes.start[i]) * pushes.rate[i], 0.0), float(last))
    b = min(max((end - pushes.start[i]) * pushes.rate[i], 0.0), float(last))
    if a >= b:
        return total
    for k in range(int(a), min(math.ceil(b), last)):
        low, high = max(a, float(k)), min(b, k + 1.0)
        # a straight line's integral is its length times its value in the middle
        middle = 0.5 * (low + high) - k
        total = add_scaled(total, (high - low) * (1.0 - middle), row(pushes.force, first + k))
        total = add_scaled(total, (high - low) * middle, row(pushes.force, first + k + 1))
    return scale(1.0 / ((end - begin) * pushes.rate[i]), total)
