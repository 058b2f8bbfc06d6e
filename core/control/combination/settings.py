# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about combined motions."""

from dataclasses import dataclass
from typing import ClassVar, Self

from ...settings import Described, setting
from .. import lookahead


@dataclass(frozen=True)
class Settings(Described):
    """Each motion is under look-ahead control; what is not named here is as it is there by default."""

    owner: ClassVar[str] = "a combination"

    choose: bool = setting(
        False,
        "Adapt to Pushes",
        "At each moment do what costs the least effort, such as a shorter step when pushed backward. Blend then only "
        "sets the start",
        shown="basic",
        symbol="coordination, da Silva 2010, section 6.3.2",
    )
    softness: float = setting(
        0.1,
        "Choice Softness",
        "High mixes the actions when pushed, low picks one. Use 0.1 for steps, 1 for walks",
        symbol="lambda of equation 6.1, as a share of by how much costs typically differ between the actions",
        bounds=(1e-9, 1e9),
        usual=(1e-3, 5.0),
    )
    adaptation: float = setting(
        0.002,
        "Contact Adaptation",
        "How far joints yield to contacts that come sooner, later or harder than planned",
        symbol="gamma, Muico et al. 2009, equation 17",
        bounds=(0.0, 1e6),
        usual=(0.0, 0.02),
        digits=4,
    )
    follow_ground: bool = setting(
        True, "Follow Ground", "Raise and lower the motion with the ground under the standing foot"
    )

    def checked(self) -> Self:
        """Itself, or ValueError."""
        super().checked()
        self.of_components()
        return self

    def of_components(self) -> lookahead.Settings:
        """Of each motion's controller."""
        return lookahead.Settings(adaptation=self.adaptation, follow_ground=self.follow_ground).checked()
