# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about a gait."""

from dataclasses import dataclass
from typing import ClassVar

from ...settings import SHARE, Choice, Described, setting
from .sole import LIMIT


@dataclass(frozen=True)
class Settings(Described):
    """The manner of the walk."""

    owner: ClassVar[str] = "gait control"

    style: str = setting(
        "normal",
        "Style",
        "The manner of the walk",
        shown="basic",
        choices=(  # style.STYLES
            Choice("normal", "Normal", "An even, upright walk"),
            Choice("march", "March", "Knees and arms high, the body stiff"),
            Choice("sneak", "Sneak", "Low, bent forward, feet set down with care"),
            Choice("tired", "Tired", "Shoulders and head hang, feet hardly leave the ground"),
            Choice("wide", "Wide", "Legs apart, arms away from the body, swaying"),
        ),
    )
    stabiliser: bool = setting(
        False,
        "Stabilise Contact",
        "Before each step of simulation, look ahead and correct the standing ankle and knee where the ground's force "
        "would lie on one edge of the sole. It takes about as long again as the walk",
        symbol="Carensac et al., section 3.1",
    )
    share: float = setting(
        LIMIT,
        "Edge Force Share",
        "How much of the ground's force Stabilise Contact wants each side of the sole to bear",
        unit=SHARE,
        symbol="l_cor and l_sag",
        bounds=(1e-6, 0.499999),
        usual=(0.05, 0.25),
    )
    implicit: bool = setting(
        True,
        "Implicit Joints",
        "Joints look at the end of the step; otherwise at its beginning, as the paper has it, and need a high rate",
        shown="hidden",
        symbol="stable PD",
    )
    prediction: str = setting(
        "M0",
        "Prediction Model",
        "What of the body Stabilise Contact looks ahead with",
        shown="hidden",
        symbol="Carensac et al., section 5.1",
        choices=(  # reduced.MODELS
            Choice("M0", "M0", "All of it"),
            Choice("M1", "M1", "Without arms"),
            Choice("M2", "M2", "Without arms and head"),
            Choice("M3", "M3", "Without what is above the pelvis"),
            Choice("M4", "M4", "Without that and the swinging leg"),
            Choice("M5", "M5", "Without arms, head and swinging leg"),
            Choice("M6", "M6", "As M3 while both feet touch the ground, else as M4"),
        ),
    )
