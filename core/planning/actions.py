# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions that follow each other, and what trials say of each pair."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Action(NamedTuple):
    """A motion of some time from one place in a graph to another."""

    name: str
    source: int
    target: int
    turn: float  # rad, to the left
    seconds: float
    speed: float  # m/s, on average
    shift: tuple[float, float] = (0.0, 0.0)  # m ahead and to the left, as it begins
    way: tuple[tuple[float, float], ...] = ((0.0, 0.0),)  # m, of the hips: evenly in time, the last at its end


@dataclass(frozen=True, eq=False)
class Trials:
    """What became of each pair of n actions that follow one another; nothing is known of pairs that cannot."""

    falls: Array  # (n, n) share that fell when the second followed the first
    roughness: Array  # (n, n) how far from its motion the second was, degrees RMS of the joints


def follows(actions: tuple[Action, ...]) -> NDArray[np.bool_]:
    """Which (n, n) second action may follow which first."""
    source = np.array([action.source for action in actions])
    target = np.array([action.target for action in actions])
    return np.asarray(target[:, None] == source[None, :])
