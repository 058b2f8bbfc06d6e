# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains of the joints and of the feedback, and the table of those that were found by `run.py study gait_gains`.

They are gait28's. Another character's stiffness goes with its weight times its legs' length, a hip's with the leg's
inertia as well, damping with the time that such legs swing in besides, and the feedback with lengths and times.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...maths.structure import Structure

TABLE = Path(__file__).parent / "gains.json"
GROUPS = ("pelvis", "waist", "neck", "shoulder", "elbow", "hip", "knee", "ankle", "toes")


class Feedback(Structure):
    """Numbers that keep the balance."""

    speed_forward: float  # 1/s, acceleration of the centre of mass for the speed that it lacks
    speed_sideways: float  # 1/s
    step_forward: float  # factor on the pendulum's step
    step_sideways: float
    step_speed: float  # s, by which a wanted speed sets the foot back [alpha]
    height: float  # 1/s², acceleration for the height that the hips lack
    support: float  # share of the weight that the standing knee bears without being told by an error


@dataclass(frozen=True)
class Gains:
    """Stiffness [K_p] in N m/rad and damping [K_d] in N m s/rad of each group of joints, and the feedback."""

    stiffness: Mapping[str, float]
    damping: Mapping[str, float]
    feedback: Feedback


def load_gains(rate: float) -> Gains:
    """Those found for the highest rate of the table that is not above `rate`, or for its lowest."""
    table = _table()
    return table[max((known for known in table if known <= rate), default=min(table))]


@cache
def _table() -> dict[float, Gains]:
    return read_gains(TABLE.read_text(encoding="utf-8"), TABLE.name)


def read_gains(text: str, owner: str) -> dict[float, Gains]:
    """Gains by rate, 1/s; ValueError names the file and what is wrong with it."""
    try:
        rates = json.loads(text)["rates"]
        return {float(rate): _gains(entry, f"{rate} Hz in {owner}") for rate, entry in rates.items()}
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{owner} is not a table of gains: {error!r}.") from error


def write_gains(table: Mapping[float, Gains], made_by: str) -> str:
    """The text that `read_gains` reads."""
    rates = {
        f"{rate:g}": {
            "stiffness": dict(gains.stiffness),
            "damping": dict(gains.damping),
            "feedback": gains.feedback._asdict(),
        }
        for rate, gains in sorted(table.items(), reverse=True)
    }
    return json.dumps({"made_by": made_by, "rates": rates}, indent=1) + "\n"


def _gains(entry: Mapping[str, Any], owner: str) -> Gains:
    return Gains(
        _positive(entry["stiffness"], GROUPS, owner),
        _positive(entry["damping"], GROUPS, owner),
        Feedback(**_positive(entry["feedback"], Feedback._fields, owner)),
    )


def _positive(values: Mapping[str, Any], names: tuple[str, ...], owner: str) -> dict[str, float]:
    for name in names:
        if type(values[name]) not in {int, float} or not 0.0 <= values[name] < math.inf:
            raise ValueError(f"The gain '{name}' for {owner} must be a number of at least 0, not {values[name]!r}.")
    return {name: float(values[name]) for name in names}
