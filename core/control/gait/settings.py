# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about a gait."""

from dataclasses import dataclass

from .style import load_style


@dataclass(frozen=True)
class Settings:
    """The manner of the walk."""

    style: str = "normal"  # one of style.STYLES
    implicit: bool = True  # PD looks at the end of the step; without, as the paper has it, it needs high rates

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        load_style(self.style)
        return self
