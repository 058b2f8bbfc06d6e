# SPDX-License-Identifier: GPL-3.0-or-later
"""Values over errors of place: what it costs to go on from an action beside a straight way, askew to it.

Muico et al. 2009, section 5.5, value functions over the action and errors of heading and place. Here place is how far
aside of the way the character is; how far along it is is the business of `ways`, which looks ahead on the actual way
and asks this table what comes after.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .actions import Action, Trials, follows
from .values import KEPT, SETTLED, SWEEPS

Array = NDArray[np.float64]

HEADINGS = 72  # around the circle
ASIDE = 1.2  # m to both sides; who is farther away comes back as from there
ASIDES = 25
BENT = 0.2  # m, from which the cost of being aside grows evenly


class Errand(NamedTuple):
    """What an action is judged by on its way."""

    aside: float = 60.0  # per second and m² off the way; far off it grows no faster than the distance
    progress: float = 1.0  # per second's way at the usual speed that it comes too far or not far enough
    back: float = 20.0  # per m that it goes back
    fall: float = 20.0
    roughness: float = 0.01  # per degree
    end: float = 60.0  # per m off the way's end
    turned: float = 15.0  # per rad off its heading
    trim_turn: float = 0.0  # rad per second by which an action may be turned besides
    trim_place: float = 0.0  # m per second by which it may be moved


@dataclass(frozen=True, eq=False)
class Values:
    """What it costs to go on, for one wanted speed."""

    pairs: Array  # (n, n) of the second action after the first; infinite where it cannot follow
    after: Array  # (n, ASIDES, HEADINGS) of all that is best after an action, by where that has ended


def pairs_of(actions: tuple[Action, ...], trials: Trials, errand: Errand) -> Array:
    """What each pair of actions costs by its trials."""
    found = errand.fall * trials.falls + errand.roughness * trials.roughness
    return np.where(follows(actions), found, np.inf)


def fit(actions: tuple[Action, ...], trials: Trials, wanted: float, usual: float, errand: Errand) -> Values:
    """The values beside a straight way that goes on for ever, at a wanted speed (m/s) about the `usual` one."""
    pairs = pairs_of(actions, trials, errand)
    aside, heading = np.meshgrid(
        np.linspace(-ASIDE, ASIDE, ASIDES), 2.0 * np.pi * np.arange(HEADINGS) / HEADINGS, indexing="ij"
    )
    c, s = np.cos(heading), np.sin(heading)
    stage, corners, shares = [], [], []
    for action in actions:
        away = [aside + s * x + c * y for x, y in action.way]
        off = np.mean([_bent(np.minimum(np.abs(one), ASIDE)) for one in away], axis=0)
        x, y = action.shift
        ahead_by = c * x - s * y
        late = np.abs(ahead_by - wanted * action.seconds) / usual
        back = np.maximum(-ahead_by, 0.0)
        stage.append(action.seconds * errand.aside * off + errand.progress * late + errand.back * back)
        row = (np.clip(aside + s * x + c * y, -ASIDE, ASIDE) + ASIDE) / (2.0 * ASIDE) * (ASIDES - 1)
        column = ((heading + action.turn) % (2.0 * np.pi)) / (2.0 * np.pi) * HEADINGS
        low_row, low_column = np.minimum(row.astype(np.int64), ASIDES - 2), column.astype(np.int64)
        corners.append((low_row, low_column % HEADINGS, (low_column + 1) % HEADINGS))
        shares.append((row - low_row, column - low_column))
    kept = [KEPT**action.seconds for action in actions]
    value = np.zeros((len(actions), ASIDES, HEADINGS))
    ahead = np.empty_like(value)
    for _ in range(SWEEPS):
        for number, ((row, left, right), (p, r)) in enumerate(zip(corners, shares, strict=True)):
            own = value[number]
            there = (1.0 - p) * ((1.0 - r) * own[row, left] + r * own[row, right])
            there += p * ((1.0 - r) * own[row + 1, left] + r * own[row + 1, right])
            ahead[number] = stage[number] + kept[number] * there
        better = np.array([np.min(row[able, None, None] + ahead[able], axis=0) for row, able in _successors(pairs)])
        change = np.abs(better - value).max()
        value = better
        if change <= SETTLED * max(float(np.abs(value).max()), 1.0):
            break
    return Values(pairs, value)


def _bent(off: Array) -> Array:
    """The square, from `BENT` on its tangent."""
    return np.where(off < BENT, off * off, BENT * (2.0 * off - BENT))


def _successors(pairs: Array) -> list[tuple[Array, NDArray[np.int64]]]:
    return [(row, np.flatnonzero(np.isfinite(row))) for row in pairs]
