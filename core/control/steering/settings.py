# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about a steered walk."""

from dataclasses import dataclass
from typing import ClassVar

from ...settings import Described, setting


@dataclass(frozen=True)
class Settings(Described):
    """Which actions are made of the walk, and how readily risks are taken."""

    owner: ClassVar[str] = "a steered walk"

    slow: float = setting(
        0.65,
        "Slow Speed",
        "The slower walk that is made of the action's own, as a share of its speed",
        shown="basic",
        bounds=(0.4, 0.95),
        digits=2,
    )
    fast: float = setting(
        1.3,
        "Fast Speed",
        "The faster walk that is made of the action's own, as a share of its speed",
        shown="basic",
        bounds=(1.05, 1.8),
        digits=2,
    )
    sharpest: float = setting(
        90.0,
        "Sharpest Turn",
        "The largest turn in two steps; more takes more steps",
        shown="basic",
        unit="°",
        bounds=(15.0, 120.0),
        digits=0,
    )
    caution: float = setting(
        40.0,
        "Caution",
        "Higher takes longer ways around actions that fell in trials",
        bounds=(0.0, 1e4),
        usual=(0.0, 200.0),
        digits=0,
    )
