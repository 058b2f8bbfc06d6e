# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a reference: weights of the objective, friction, limits, and when to stop iterating."""

from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Settings:
    """Weights are per frame and per squared SI unit (radians, metres, newtons); each term is half weight times square.

    A joint's pose weight lies between the two given, by the share of the character's mass that it moves.
    """

    pose_least: float = 5.0
    pose_most: float = 30.0
    root_place: float = 1.0  # times that, of a free root's place: moving it moves all of the body
    root_turn: float = 1.0  # of its turn
    place: float = 0.0  # of each body, where the clip has it
    root_of_clip: bool = False  # the root is wanted where the clip has it, not where clean-up moved it for the feet
    velocity: float = 0.05
    velocity_level: float = 0.01  # of the root along x and y
    torque: float = 2e-6
    torque_smoothing: float = 1e-4  # towards the smoothed torque of the iteration before
    force_normal: float = 2e-7
    force_tangential: float = 2e-6
    force_smoothing: float = 3e-6
    held: float = 1e6  # a held point off its place
    glide: float = 1e4  # one that glides off its planned way along the ground
    clearance: float = 1e4  # another point below its clearance
    ground: float = 2e3  # per metre, not squared, of another point under the ground
    clearance_height: float = 0.012  # m, of swinging points
    clearance_ramp: float = 0.1  # s after lifting, and before touching, over which that height is reached
    clearance_way: float = 0.0  # m along the ground from its place, over which it is reached if that comes sooner
    limit: float = 1e4  # a joint beyond its limit
    limit_margin: float = 0.06  # rad, kept by hinges between the root and a held point: straight knees are singular
    friction: float = 0.8
    friction_sides: int = 4  # of the pyramid inscribed in the cone of friction; 4 or 6
    barrier_first: float = 0.03
    barrier_last: float = 0.002
    barrier_factor: float = 0.4
    strength: float = 1e-3  # of torque beyond what a motor can give
    torque_limit: float | None = None  # N m, of every motor
    iterations: int = 40
    step_tolerance: float = 1e-4  # rad and m: the last change of any frame's pose

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value is None:
                continue
            if not np.isfinite(value) or value < 0.0:
                raise ValueError(f"The setting {entry.name} must be finite and not negative, not {value}.")
        if self.friction_sides not in {4, 6}:
            raise ValueError(f"A friction pyramid has 4 or 6 sides, not {self.friction_sides}.")
        for name in ("pose_least", "velocity", "velocity_level", "torque", "force_normal", "force_tangential"):
            if getattr(self, name) <= 0.0:
                raise ValueError(f"The setting {name} must be positive: without it the optimum is not unique.")
        for name in ("friction", "ground", "barrier_last", "step_tolerance", "iterations"):
            if getattr(self, name) <= 0:
                raise ValueError(f"The setting {name} must be positive.")
        if not 0.0 < self.barrier_factor < 1.0:
            raise ValueError(f"The setting barrier_factor must lie between 0 and 1, not at {self.barrier_factor}.")
        if self.torque_limit is not None and self.torque_limit <= 0.0:
            raise ValueError(f"The torque limit must be positive, not {self.torque_limit}.")
        return self
