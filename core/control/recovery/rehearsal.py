# SPDX-License-Identifier: GPL-3.0-or-later
"""Trying a plan out, in a world of its own, and what it is worth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...dynamics import body_poses
from ...simulation import DivergedError, World
from ...simulation.fall import FallDetector
from ..method import Follower
from .legs import Legs
from .plan import StoppedError

Array = NDArray[np.float64]

ASK = 20  # steps between two questions whether to go on
NOISE = 0.02  # standard deviation of a replica's velocities, m/s and rad/s
HARSH = 0.05  # the same, for a plan that is to be more than the future that was rehearsed


@dataclass(frozen=True)
class Verdict:
    """What became of a rehearsal."""

    share: float  # of its steps that it stayed up
    torque: float  # N m, the greatest
    legs: float  # m, the least distance of the legs
    strays: float  # m that the root is off where it should be, at most
    steady: float = 0.0  # share of a replica's steps that it stayed up, for which noise was added

    @property
    def stays_up(self) -> bool:
        """All the way."""
        return self.share >= 1.0


def rehearse(
    character: Character,
    world: World,
    follower: Follower,
    steps: int,
    legs: Legs,
    goes_on: Callable[[], bool],
    seed: int | None = None,
    noise: float = NOISE,
) -> Verdict:
    """Follow from the world's state on; with a `seed`, off it."""
    if seed is not None:
        state = world.save_state()
        v = np.array(state["v"], dtype=np.float64)
        v[: character.nv] += np.random.default_rng(seed).normal(scale=noise, size=character.nv)
        world.load_state({**state, "v": v, "moving": np.zeros(1, np.bool_)})
    fall = FallDetector(character, world.rate)
    torque, nearest, strays = 0.0, np.inf, 0.0
    for step in range(steps):
        if step % ASK == 0 and not goes_on():
            raise StoppedError
        try:
            world.step(follower)
        except DivergedError:
            return Verdict(step / steps, torque, nearest, strays)
        q, wanted = world.q, follower.reference_state()[0]
        strays = max(strays, float(np.hypot(*(q[:2] - wanted[:2]))))
        torque = max(torque, float(np.abs(world.torque).max(initial=0.0)))
        if step % 2 == 0:
            nearest = min(nearest, legs.distance(body_poses(character, q)))
        if fall.update(step, q, world.v, wanted):
            return Verdict(step / steps, torque, nearest, strays)
    return Verdict(1.0, torque, nearest, strays)
