# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces from outside that are known, such as a push that goes on: they act, and nothing is chosen of them.

Each is a force at a point like those of contacts, drawn to what it is known to be by

    w / 2 |f - f_known|^2,

where w is so great that all else counts nothing beside it: millinewtons are left.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..schedule import ContactPoint
from .problem import KNOWN_WEIGHT, Problem
from .riccati import QuadraticProgramme

Array = NDArray[np.float64]


class Outside(NamedTuple):
    """What acts in each of N steps."""

    points: tuple[ContactPoint, ...]  # that can be pulled in all directions
    force: Array  # (N, n, 3) in the world, N


class Known:
    """The gradient's part -w f_known, which the programme's kernels know nothing of."""

    def __init__(self, problem: Problem, outside: Outside) -> None:
        motors = len(problem.effort_weight)
        self._first = problem.help_first - len(outside.points)
        self._force = outside.force
        step, column = np.nonzero(
            (problem.force_point >= self._first)
            & (problem.force_point < problem.help_first)
            & (np.arange(problem.force_point.shape[1]) < problem.force_count[:, None])
        )
        which = problem.force_point[step, column] - self._first
        self._at = step[:, None], motors + 3 * column[:, None] + np.arange(3)
        self._pull = KNOWN_WEIGHT * outside.force[step, which]

    def begin(self, force: Array) -> None:
        """Put them into an iterate's forces (N, np, 3)."""
        force[:, self._first : self._first + self._force.shape[1]] = self._force

    def add_to(self, programme: QuadraticProgramme) -> None:
        """Draw to them."""
        programme.control_gradient[self._at] -= self._pull
