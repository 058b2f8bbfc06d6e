# SPDX-License-Identifier: GPL-3.0-or-later
"""What disturbs a character, as it is felt: pushes and hits, and by how much they have it off."""

import numpy as np
from numpy.typing import NDArray

from ...simulation import World
from ..stage import Stage
from .capture import Pose, deviation, growth_rate
from .hits import Hits
from .pushing import Pushing

Array = NDArray[np.float64]


class Disturbances:
    """Follows a stage's world, step by step."""

    def __init__(self, stage: Stage) -> None:
        self._character = stage.character
        self.pushing = Pushing(stage.scene.pushes)
        self._hits = Hits(stage.scene, {body.name for body in stage.character.bodies})

    def ended(self, world: World, soonest: float) -> bool:
        """Whether one has ended with the last step; hits count from a time on, s."""
        pushed = self.pushing.ended(world.time, world.dt)
        hit = self._hits.ended(world) and world.time >= soonest
        return pushed or hit

    def felt(self, time: float) -> bool:
        """Whether anything has disturbed it so far, so that a motion without disturbances is left as it is."""
        return self.pushing.begun(time) or self._hits.listens

    def coming(self, world: World, omega: float) -> Array:
        """By how much (2,) the extrapolated centre of mass will be moved by pushes that go on, m."""
        impulse = self.pushing.to_come(world.time, world.dt, omega)
        moved: Array = impulse / (self._character.total_mass * omega)
        return moved

    def off(self, world: World, wanted: Pose, ground: float) -> Array:
        """By how much (2,) it is off or will be, over ground at that height, m."""
        actual = world.q, world.v
        omega = growth_rate(self._character, actual[0], ground)
        found: Array = deviation(self._character, actual, wanted, omega) + self.coming(world, omega)
        return found
