# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion under look-ahead control that can tell what a state costs it: what is combined (da Silva 2010, eq. 6.7)."""

import math

import numpy as np
from numpy.typing import NDArray

from ...contact.terrain import Terrain
from ...dynamics import center_of_mass
from ...dynamics.kinematics import difference_positions
from ...motion.between import standing
from ...motion.reference import Reference
from ..lookahead import LookAhead, Settings, Track, sweep

Array = NDArray[np.float64]


class Component(LookAhead):
    """Look-ahead control of a reference, with its cost-to-go."""

    def __init__(self, reference: Reference, settings: Settings, terrain: Terrain | None = None) -> None:
        track = Track.of(reference)
        policy, self._cost_to_go = sweep(reference.character, track, settings)
        super().__init__(reference.character, track, settings, policy, terrain)
        self.steps = reference.steps
        self.standing = standing(reference)
        self._error = np.zeros(2 * self.character.nv)
        self._reference = reference

    def value(self, q: Array, v: Array) -> float:
        """What a state costs from the present place on [v_i]; never below zero, as the cost never is."""
        q_wanted, v_wanted = self.reference_state()
        nv = len(v)
        error = self._error
        difference_positions(self.character.tree, q_wanted, q, error[:nv])
        np.subtract(v, v_wanted, error[nv:])
        yaw = self.place.anchor[3]
        c, s = math.cos(yaw), math.sin(yaw)
        for first in (0, nv):  # the root's linear parts, from the world's axes to the reference's own
            x, y = float(error[first]), float(error[first + 1])
            error[first], error[first + 1] = c * x + s * y, c * y - s * x
        frame = self.place.frame
        curvature, gradient = self._cost_to_go.curvature[frame], self._cost_to_go.gradient[frame]
        return max(0.0, float(error @ (0.5 * (curvature @ error) + gradient)))

    def curvature(self, frame: int) -> Array:
        """[S] of the cost-to-go at a frame."""
        found: Array = self._cost_to_go.curvature[frame]
        return found

    @property
    def stride(self) -> float:
        """How far a motion that repeats goes in a period, m; 0 of others."""
        cycle = self.track.cycle
        return 0.0 if cycle is None else float(np.linalg.norm(cycle.shift))

    @property
    def rise(self) -> float:
        """How far the centre of mass rises above where it is at first, m."""
        heights = [float(center_of_mass(self.character, q)[2]) for q in self._reference.q]
        return max(heights) - heights[0]
