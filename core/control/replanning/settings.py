# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about replanning control."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...settings import SHARE, Described, setting


def _weight(default: float, label: str, tip: str, symbol: str) -> Any:
    """A factor that is never zero."""
    return setting(default, label, tip, symbol=symbol, bounds=(1e-9, 1e9), usual=(1e-6, 10.0), digits=4)


@dataclass(frozen=True)
class Settings(Described):
    """Weights are those of Jain and Liu 2011, section 7, in SI units, but for what is said beside them.

    The paper gives no units. Contact forces count in kilonewtons: with its W_3 of 0.1 on newtons nothing would ever
    leave the ground.
    """

    owner: ClassVar[str] = "replanning control"

    window: float = setting(
        0.0,
        "Look-Ahead Time",
        "How far each plan looks ahead; 0 is automatic. Long times yield softly, short ones stay close to the keys",
        shown="basic",
        unit="s",
        symbol="window size, Jain and Liu 2011, section 7",
        bounds=(0.0, 1.0),
        usual=(0.0, 0.3),
        digits=3,
    )
    delay: float = setting(
        0.0,
        "Reaction Time",
        "Delay before a push is answered; people need about 0.2 s. Until then the body only yields",
        shown="basic",
        unit="s",
        symbol="section 6",
        bounds=(0.0, 3600.0),
        usual=(0.0, 0.3),
        digits=3,
    )
    transition: float = setting(
        0.0,
        "Transition Time",
        "How long the body takes to return to the action, after hands take hold or from where Transition is keyed on. "
        "At 0 it snaps to the action",
        shown="basic",
        unit="s",
        symbol="motion transition, section 6",
        bounds=(0.0, 3600.0),
        usual=(0.0, 1.0),
    )
    slowing: float = setting(
        0.0,
        "Slow after Push",
        "How much the motion slows down for a second after a push, and less in the next. It saves walks that are "
        "pushed backward",
        shown="basic",
        unit=SHARE,
        symbol="time warping, section 7.3",
        bounds=(0.0, 0.9),
    )
    threshold: float = setting(
        100.0,
        "Mode Threshold",
        "Modes of the body with a squared frequency above this follow the keys from step to step. The others are "
        "planned over the whole window",
        unit="(rad/s)²",
        symbol="section 4",
        bounds=(1e-9, 1e9),
        usual=(1.0, 500.0),
        digits=0,
    )
    # with the paper's 0.1 and 0.5 walks wander
    translation: float = _weight(
        1.0, "Position Weight", "Higher returns sooner to the action's position at the end of the window", "W1"
    )
    rotation: float = _weight(1.0, "Orientation Weight", "Higher returns sooner to the action's orientation", "W1")
    velocity: float = _weight(1.0, "Speed Weight", "Higher keeps the body's speed closer to the action's", "W2")
    # the paper's 0.1 survives fewer pushes
    force: float = _weight(0.01, "Contact Force Cost", "Higher uses less force on the ground", "W3, on kilonewtons")
    # the paper's 0.5 lets poses sag
    position_low: float = _weight(5.0, "Pose Weight", "Higher keeps the slow modes closer to the keyed poses", "w4")
    velocity_low: float = _weight(2.0, "Pose Speed Weight", "Higher keeps their speeds closer to the keyed ones", "w5")
    effort_low: float = _weight(5e-3, "Effort Cost", "Higher is softer: poses are reached with less torque", "W6")
    effort_correction: float = _weight(1e-3, "Contact Response Cost", "Higher responds less to unplanned contact", "Wa")
    # The paper's 1 holds high-frequency modes as still as if they had no end of mass: every touchdown is a blow, and
    # with hands that hold on forces may not even exist.
    bracing: float = setting(
        0.0,
        "Contact Bracing",
        "How firmly fast modes resist unplanned contact; must be 0 with grabs",
        unit=SHARE,
        symbol="section 5.4",
        bounds=(0.0, 1e6),
        usual=(0.0, 1.0),
    )
    friction: float = setting(
        0.8,
        "Friction Used",
        "How much of the ground's friction plans rely on",
        unit=SHARE,
        bounds=(1e-9, 1e6),
        usual=(0.01, 1.0),
    )
