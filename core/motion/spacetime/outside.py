# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces from outside in the optimisation: those of a push that goes on, and of another's hand.

Each is a force at a point like those of contacts, drawn to what it is taken to be by

    w / 2 |f - f_outside|^2.

Where w is so great that all else counts nothing beside it, the force is known, and nothing is chosen of it; where it is
small, the force is what suits the motion best and is not far from it.
"""

import numpy as np
from numpy.typing import NDArray

from ..outside import Outside
from .problem import Problem
from .riccati import QuadraticProgramme

Array = NDArray[np.float64]


class Known:
    """The gradient's part -w f_outside, which the programme's kernels know nothing of."""

    def __init__(self, problem: Problem, outside: Outside) -> None:
        motors = len(problem.effort_weight)
        self._first = problem.outside_first
        step, column = np.nonzero(
            (problem.force_point >= self._first)
            & (problem.force_point < problem.help_first)
            & (np.arange(problem.force_point.shape[1]) < problem.force_count[:, None])
        )
        which = problem.force_point[step, column] - self._first
        self._at = step[:, None], motors + 3 * column[:, None] + np.arange(3)
        # along the points' axes, as all forces
        axes = problem.force_axes[step + 1, self._first + which]
        self._along = np.einsum(
            "kpij,kpj->kpi", problem.force_axes[1:, self._first : problem.help_first], outside.force
        )
        self._pull = outside.weight[which, None] * np.einsum("nij,nj->ni", axes, outside.force[step, which])

    def begin(self, force: Array) -> None:
        """Put them into an iterate's forces (N, np, 3)."""
        force[:, self._first : self._first + self._along.shape[1]] = self._along

    def add_to(self, programme: QuadraticProgramme) -> None:
        """Draw to them."""
        programme.control_gradient[self._at] -= self._pull
