# SPDX-License-Identifier: GPL-3.0-or-later
"""Fitted value iteration: what it costs to go on from each action with each error of heading.

The value is known at headings evenly around the circle and linear in between (Treuille et al. 2007, section 5, have
other bases). Each action costs its time, weighed by how far the character is from where it should head and from how
fast it should go meanwhile; a pair of actions costs what their trials say of falls. So a quick turn is worth its risk
only where it leads there sooner: "the high-level policy can avoid the long-term failures of poorly sequenced motions"
(Muico et al. 2009, section 5.5).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .actions import Action, Trials, follows

Array = NDArray[np.float64]

HEADINGS = 144  # around the circle
KEPT = 0.7  # of a value, a second later
SWEEPS = 1000
SETTLED = 1e-9  # of the greatest value: change of a sweep at which it ends


class Wishes(NamedTuple):
    """What an action is judged by."""

    heading: float = 1.0  # per second and radian off
    speed: float = 1.0  # per second and share of the usual speed off
    fall: float = 20.0
    roughness: float = 0.01  # per degree


@dataclass(frozen=True, eq=False)
class Worth:
    """What it costs to go on, for one wanted speed: the lower, the better."""

    actions: tuple[Action, ...]
    pairs: Array  # (n, n) of the second after the first; infinite where it cannot follow
    ahead: Array  # (n, HEADINGS) of an action, begun with an error of heading, and of all that is best after it

    @cached_property
    def _successors(self) -> list[NDArray[np.int64]]:
        return [np.flatnonzero(np.isfinite(row)) for row in self.pairs]

    def after(self, last: int, error: float) -> tuple[NDArray[np.int64], Array]:
        """The actions that may follow one, and what each costs with this error of heading (rad, to the left)."""
        able = self._successors[last]
        share = (error + np.pi) / (2.0 * np.pi) * HEADINGS
        low = int(np.floor(share))
        part = share - low
        ahead = self.ahead[able]
        found = (1.0 - part) * ahead[:, low % HEADINGS] + part * ahead[:, (low + 1) % HEADINGS]
        return able, self.pairs[last, able] + found


def iterate(actions: tuple[Action, ...], trials: Trials, wanted: float, usual: float, wishes: Wishes) -> Worth:
    """The value function for one wanted speed (m/s), about the `usual` one; ValueError where an action leads nowhere.

    Who is to stand need not head anywhere.
    """
    able = follows(actions)
    if not able.any(axis=1).all():
        lost = actions[int(np.flatnonzero(~able.any(axis=1))[0])].name
        raise ValueError(f"Nothing can follow the action '{lost}'.")
    pairs = np.where(able, wishes.fall * trials.falls + wishes.roughness * trials.roughness, np.inf)
    error = -np.pi + 2.0 * np.pi * np.arange(HEADINGS) / HEADINGS
    heading = wishes.heading if wanted > 0.0 else 0.0
    stage = np.empty((len(actions), HEADINGS))
    low, part = np.empty(stage.shape, dtype=np.int64), np.empty(stage.shape)
    for number, action in enumerate(actions):
        off = np.abs(_wrapped(error - 0.5 * action.turn)) + np.abs(_wrapped(error - action.turn))
        slow = abs(action.speed - wanted) / usual
        stage[number] = action.seconds * (0.5 * heading * off + wishes.speed * slow)
        share = (_wrapped(error - action.turn) + np.pi) / (2.0 * np.pi) * HEADINGS
        low[number] = np.floor(share).astype(np.int64)
        part[number] = share - low[number]
    kept = np.array([KEPT**action.seconds for action in actions])[:, None]
    rows = np.arange(len(actions))[:, None]
    value = np.zeros(stage.shape)  # of what follows an action
    for _ in range(SWEEPS):
        there = (1.0 - part) * value[rows, low % HEADINGS] + part * value[rows, (low + 1) % HEADINGS]
        ahead = stage + kept * there
        better = np.min(pairs[:, :, None] + ahead[None], axis=1)
        change = np.abs(better - value).max()
        value = better
        if change <= SETTLED * max(float(np.abs(value).max()), 1.0):
            break
    return Worth(actions, pairs, ahead)


def _wrapped(angle: Array) -> Array:
    """From -pi on, below pi."""
    result: Array = (angle + np.pi) % (2.0 * np.pi) - np.pi
    return result
