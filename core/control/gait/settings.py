# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about a gait."""

from dataclasses import dataclass

from .reduced import MODELS
from .sole import LIMIT
from .style import load_style


@dataclass(frozen=True)
class Settings:
    """The manner of the walk."""

    style: str = "normal"  # one of style.STYLES
    implicit: bool = True  # PD looks at the end of the step; without, as the paper has it, it needs high rates
    stabiliser: bool = False  # before each step, correct ankle and knee where the ground's force would lie on one edge
    prediction: str = "M0"  # by what the stabiliser looks ahead, one of reduced.MODELS
    share: float = LIMIT  # of the ground's force that it wants each side of the sole to bear [l_cor, l_sag]

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        load_style(self.style)
        if self.prediction not in MODELS:
            raise ValueError(f"There is no model '{self.prediction}' to predict by; there are {', '.join(MODELS)}.")
        if not 0.0 < self.share < 0.5:
            raise ValueError(
                f"The share that each side of a sole bears must be above 0 and below 0.5, not {self.share}."
            )
        return self
