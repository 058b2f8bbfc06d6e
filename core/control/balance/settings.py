# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about balance control; the defaults serve every motion tried."""

from dataclasses import dataclass
from typing import ClassVar

from ...settings import SHARE, Described, setting


@dataclass(frozen=True)
class Settings(Described):
    """Gains of style and balance, da Silva 2010, section 3.3 and table 3.1."""

    owner: ClassVar[str] = "balance control"

    balance: float = setting(
        0.1,
        "Balance Weight",
        "At 0 every joint only follows the action. Higher lets stance leg, trunk and swing leg leave it to keep "
        "balance on one foot",
        shown="basic",
        unit=SHARE,
        symbol="w_b of w_b + w_s, da Silva 2010, equation 3.9",
        bounds=(0.0, 0.999),
        usual=(0.0, 0.95),
    )
    arms: bool = setting(
        False,
        "Use Arms for Balance",
        "Let the arms leave the action to keep balance, for styles that swing them. Needs a Balance Weight above 0",
        symbol="additional links, section 3.4.1",
    )
    stiffness: float = setting(
        1200.0,
        "Style Stiffness",
        "Higher returns joints sooner to the action; damping is critical",
        unit="1/s²",
        symbol="k_s, equation 3.8",
        bounds=(1e-9, 1e9),
        usual=(1.0, 3000.0),
        digits=0,
    )
    # Without it the root is one row among thirty joints', and a share of what any of these is off by goes into it, of a
    # foot that stands turned for one. Both chosen by trial on the half turn and squat below, and on pushes of a made
    # walk. The half turn stands from 10 on; the squat falls at 60 and less, and at 100 with a stiffness of 60 or 150.
    root_weight: float = setting(
        100.0,
        "Hips Weight",
        "Higher keeps the hips on their way, at the cost of the other joints' pose",
        symbol="w_s of the root, equation 3.9; one for each joint",
        bounds=(1e-3, 1e6),
        usual=(1.0, 1000.0),
        digits=0,
    )
    root_stiffness: float = setting(
        200.0,
        "Hips Stiffness",
        "Higher returns the hips sooner to where the action has them. What soles can give is soon used up",
        unit="1/s²",
        symbol="k_s of the root's place, equation 3.8",
        bounds=(1e-9, 1e9),
        usual=(1.0, 3000.0),
        digits=0,
    )
    # Chosen by trial on a half turn, which needs 70 to 100, and a squat, which needs 70 or less: feet roll and turn as
    # they stand.
    contact: float = setting(
        70.0,
        "Contact Weight",
        "Higher keeps standing feet stiller, at the cost of the pose",
        symbol="equation 3.9c, softened",
        bounds=(1e-9, 1e9),
        usual=(1.0, 1e4),
        digits=1,
    )
    friction: float = setting(
        0.8,
        "Friction Used",
        "How much of the ground's friction to rely on",
        unit=SHARE,
        bounds=(1e-9, 1e6),
        usual=(0.01, 1.0),
    )
    strength: float = setting(
        100.0,
        "Disturbance Stiffness",
        "How stiffly the joints resist disturbances, such as a foot that lands early",
        unit="1/s²",
        symbol="strength, section 3.3.3",
        bounds=(0.0, 1e9),
        usual=(0.0, 400.0),
        digits=0,
    )
