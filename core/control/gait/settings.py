# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator may choose about a gait."""

from dataclasses import dataclass
from typing import ClassVar

from ...settings import SHARE, Choice, Described, setting
from .sole import LIMIT


@dataclass(frozen=True)
class Settings(Described):
    """Settings of the walk."""

    owner: ClassVar[str] = "gait control"

    style: str = setting(
        "normal",
        "Style",
        "Style of the walk",
        shown="basic",
        choices=(  # style.STYLES
            Choice("normal", "Normal", "An even, upright walk"),
            Choice("march", "March", "Knees and arms high, the body stiff"),
            Choice("sneak", "Sneak", "Low, bent forward, with careful steps"),
            Choice("tired", "Tired", "Shoulders and head hang, feet drag"),
            Choice("wide", "Wide", "Legs apart, arms away from the body, swaying"),
        ),
    )
    stabiliser: bool = setting(
        False,
        "Stabilise Contact",
        "Before each simulation step, predict the ground force and correct the standing ankle and knee if it would lie "
        "on an edge of the sole. Doubles the computing time",
        symbol="Carensac et al., section 3.1",
    )
    share: float = setting(
        LIMIT,
        "Edge Force Share",
        "How much of the ground force each side of the sole should carry with Stabilise Contact",
        unit=SHARE,
        symbol="l_cor and l_sag",
        bounds=(1e-6, 0.499999),
        usual=(0.05, 0.25),
    )
    implicit: bool = setting(
        True,
        "Implicit Joints",
        "Joints use the state at the end of the step; otherwise at its start, as in the paper, which needs a high rate",
        shown="hidden",
        symbol="stable PD",
    )
    prediction: str = setting(
        "M0",
        "Prediction Model",
        "Parts of the body in the prediction of Stabilise Contact",
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
