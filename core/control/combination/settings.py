# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about combined motions."""

from dataclasses import dataclass

from ...character import check
from .. import lookahead


@dataclass(frozen=True)
class Settings:
    """Each motion is under look-ahead control; what is not named here is as it is there by default."""

    choose: bool = False  # do what costs least from each moment on, as after a push, instead of what the slider says
    softness: float = 0.1  # of that choice: lambda, as a share of by how much costs typically differ between motions
    adaptation: float = 0.002  # [gamma] of Muico et al. 2009, eq. 17
    follow_ground: bool = True  # raise and lower the motion with the ground under the stance foot

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        check.positive(self.softness, "softness", "a combination")
        self.of_components()
        return self

    def of_components(self) -> lookahead.Settings:
        """Of each motion's controller."""
        return lookahead.Settings(adaptation=self.adaptation, follow_ground=self.follow_ground).checked()
