# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about momentum control."""

from dataclasses import dataclass
from typing import ClassVar

from ...settings import Described, setting


@dataclass(frozen=True)
class Settings(Described):
    """Weights of Ye and Liu 2010, section 6, in SI units; theirs of angular momentum is 500, but for squats 200."""

    owner: ClassVar[str] = "momentum control"

    flexible_time: bool = setting(
        True,
        "Flexible Timing",
        "Let steps take longer or shorter after pushes and on stairs. The action's length may change",
        shown="basic",
        symbol="the final time of a segment, Ye and Liu 2010",
    )
    step_aside: bool = setting(
        True,
        "Step Aside",
        "After a push from the side, move the next steps to catch the body, and the rest of the motion with them. Only "
        "on level ground without footholds",
        shown="basic",
    )
    damping: float = setting(
        1500.0,
        "Turn Damping",
        "Higher turns and sways less and takes stronger pushes, but follows the action less",
        shown="basic",
        symbol="w_a on angular momentum, section 6, there 500",
        bounds=(0.0, 1e9),
        usual=(0.0, 5000.0),
        digits=0,
    )
    tracking: float = setting(
        500.0,
        "Path Weight",
        "Higher keeps the body's path and speed nearer to the action's",
        symbol="w_t on centre of mass, linear momentum and the integral of angular momentum",
        bounds=(0.0, 1e9),
        usual=(0.0, 5000.0),
        digits=0,
    )
    effort: float = setting(
        1.0,
        "Contact Force Cost",
        "Higher uses less force on the ground",
        unit="1/N²",
        symbol="W1 on each edge's force",
        bounds=(1e-9, 1e9),
        usual=(1e-3, 10.0),
        digits=3,
    )
