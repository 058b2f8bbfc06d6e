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

from ..maths.kernel import wide_kernel
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
    turned: float = 40.0  # per rad off its heading
    trim_turn: float = 0.0  # rad per second by which an action may be turned besides
    trim_place: float = 0.0  # m per second by which it may be moved aside
    trim_along: float = 0.0  # m per second by which it may be moved ahead or back


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
    shape = (len(actions), ASIDES, HEADINGS)
    stage, row, column = np.empty(shape), np.empty(shape), np.empty(shape)
    for number, action in enumerate(actions):
        away = [aside + s * x + c * y for x, y in action.way]
        off = np.mean([_bent(np.minimum(np.abs(one), ASIDE)) for one in away], axis=0)
        x, y = action.shift
        ahead_by = c * x - s * y
        late = np.abs(ahead_by - wanted * action.seconds) / usual
        back = np.maximum(-ahead_by, 0.0)
        stage[number] = action.seconds * errand.aside * off + errand.progress * late + errand.back * back
        row[number] = (np.clip(aside + s * x + c * y, -ASIDE, ASIDE) + ASIDE) / (2.0 * ASIDE) * (ASIDES - 1)
        column[number] = ((heading + action.turn) % (2.0 * np.pi)) / (2.0 * np.pi) * HEADINGS
    kept = np.array([KEPT**action.seconds for action in actions])
    value, better, ahead = np.zeros(shape), np.zeros(shape), np.empty(shape)
    for _ in range(SWEEPS):
        change = sweep(pairs, stage, kept, row, column, value, ahead, better)
        value, better = better, value
        if change <= SETTLED * max(float(np.abs(value).max()), 1.0):
            break
    return Values(pairs, value)


@wide_kernel
def sweep(
    pairs: Array, stage: Array, kept: Array, row: Array, column: Array, value: Array, ahead: Array, better: Array
) -> float:
    """What it costs to go on after each action, by what that was found to cost before; and how much that changed."""
    count, asides, headings = value.shape
    for number in range(count):
        for i in range(asides):
            for j in range(headings):
                low, left = min(int(row[number, i, j]), asides - 2), int(column[number, i, j])
                p, r = row[number, i, j] - low, column[number, i, j] - left
                left, right = left % headings, (left + 1) % headings
                there = (1.0 - p) * ((1.0 - r) * value[number, low, left] + r * value[number, low, right])
                there += p * ((1.0 - r) * value[number, low + 1, left] + r * value[number, low + 1, right])
                ahead[number, i, j] = stage[number, i, j] + kept[number] * there
    change = 0.0
    for last in range(count):
        better[last] = np.inf
        for number in range(count):
            cost = pairs[last, number]
            if np.isfinite(cost):
                for i in range(asides):
                    for j in range(headings):
                        better[last, i, j] = min(better[last, i, j], cost + ahead[number, i, j])
        for i in range(asides):
            for j in range(headings):
                change = max(change, abs(better[last, i, j] - value[last, i, j]))
    return change


def _bent(off: Array) -> Array:
    """The square, from `BENT` on its tangent."""
    return np.where(off < BENT, off * off, BENT * (2.0 * off - BENT))
