# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about replanning control."""

from dataclasses import dataclass, fields

from ...character import check


@dataclass(frozen=True)
class Settings:
    """Weights are those of Jain and Liu 2011, section 7, in SI units, but for what is said beside them.

    The paper gives no units. Contact forces count in kilonewtons: with its W_3 of 0.1 on newtons nothing would ever
    leave the ground.
    """

    window: float = 0.0  # s that are planned ahead; 0: by the motion
    threshold: float = 100.0  # (rad/s)², squared frequency from which on a mode is tracked by one step alone
    translation: float = 1.0  # [W_1] on the place at the window's end; with the paper's 0.1 and 0.5 walks wander
    rotation: float = 1.0  # [W_1] on its orientation
    velocity: float = 1.0  # [W_2]
    force: float = 0.01  # [W_3] on contact forces, kN; the paper's 0.1 survives fewer pushes
    position_low: float = 5.0  # [w_4] on low-frequency modes at the window's end; the paper's 0.5 lets poses sag
    velocity_low: float = 2.0  # [w_5]
    effort_low: float = 5e-3  # [W_6]
    effort_correction: float = 1e-3  # [W_a] on what low-frequency modes answer to unplanned contact forces
    # share of an unplanned contact force that high-frequency modes resist. The paper's 1 holds them as still as if they
    # had no end of mass: every touchdown is a blow, and with hands that hold on forces may not even exist
    bracing: float = 0.0
    friction: float = 0.8  # share of the ground's friction that plans use
    delay: float = 0.0  # s after a push before low-frequency modes and contact plans know of it; people need 0.2
    # s in which, once hands take hold or where the playback says, its own way gives way to the motion (section 6)
    transition: float = 0.0
    # share by which the motion is slower for a second after a push, and less in the next (section 7.3)
    slowing: float = 0.0

    def checked(self) -> "Settings":
        """Itself, or ValueError."""
        owner = "replanning control"
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name in {"window", "delay", "bracing", "transition", "slowing"}:
                check.not_negative(value, entry.name, owner)
            else:
                check.positive(value, entry.name.replace("_", " "), owner)
        if self.slowing > 0.9:
            raise ValueError(f"Replanning control cannot slow down a motion by {self.slowing:g} of its speed.")
        return self
