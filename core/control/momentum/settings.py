# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of momentum control."""

from dataclasses import dataclass

from ...character import check


@dataclass(frozen=True)
class Settings:
    """Weights of Ye and Liu 2010, section 6, in SI units; theirs of angular momentum is 500, but for squats 200."""

    effort: float = 1.0  # [W1] of each edge's force, 1/N²
    damping: float = 3000.0  # [w_a] of angular momentum; more takes stronger pushes, and follows the motion less
    tracking: float = 500.0  # [w_t] of centre of mass, linear momentum and the integral of angular momentum

    flexible_time: bool = True  # the final time of a segment may change
    step_aside: bool = True  # steps may be moved to catch a body that is pushed

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        owner = "momentum control"
        check.positive(self.effort, "effort", owner)
        check.not_negative(self.damping, "damping", owner)
        check.not_negative(self.tracking, "tracking", owner)
        return self
