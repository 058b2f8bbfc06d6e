# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about balance control; the defaults serve every motion tried."""

from dataclasses import dataclass

from ...character import check


@dataclass(frozen=True)
class Settings:
    """Gains of style and balance, da Silva 2010, section 3.3 and table 3.1."""

    balance: float = 0.1  # share of balance against style: [w_b] of [w_b + w_s], eq. 3.9
    stiffness: float = 1200.0  # 1/s², of style [k_s], eq. 3.8; damping is critical
    # Weight of planned contacts against that of style [eq. 3.9c, softened]. Chosen by trial on a half turn, which needs
    # 70 to 100, and a squat, which needs 70 or less: feet roll and turn as they stand.
    contact: float = 70.0
    friction: float = 0.8  # share of the ground's friction that the program counts on
    arms: bool = False  # are links of the balance model, five in all [section 3.4.1]; else part of the upper body
    strength: float = 100.0  # 1/s², stiffness of the joints about what the program foresees, on composite inertia

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        owner = "balance control"
        for name in ("stiffness", "contact", "friction"):
            check.positive(getattr(self, name), name, owner)
        check.not_negative(self.strength, "strength", owner)
        if not 0.0 <= check.number(self.balance, "balance", owner) < 1.0:
            raise ValueError(f"Balance is a share from 0 to below 1 of {owner}, not {self.balance:g}.")
        return self
