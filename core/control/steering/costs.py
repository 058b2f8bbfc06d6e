# SPDX-License-Identifier: GPL-3.0-or-later
"""What the actual state costs actions that would begin now, by their own gains, wherever they lead.

The planner asks for all that may follow at once, at the end of each step; on the stage, that is time nobody has.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import Tree
from ...dynamics.kinematics import difference_positions
from ...maths.kernel import kernel
from .repertoire import Act

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


class FirstStates:
    """Of actions, and what it costs to be off them."""

    def __init__(self, character: Character, acts: Sequence[Act]) -> None:
        self._tree, self._q, self._v = (
            character.tree,
            np.array([act.first[0] for act in acts]),
            np.array([act.first[1] for act in acts]),
        )
        self._curvature = np.array([act.cost.curvature for act in acts])
        self._gradient = np.array([act.cost.gradient for act in acts])
        self._away, self._found = np.zeros(2 * character.nv), np.zeros(len(acts))
        self._here = np.zeros(character.nq), np.zeros(character.nv)

    def costs(self, numbers: Numbers, q: Array, v: Array, heading: float, height: float) -> Array:
        """Of a state (q, v) to each of these actions, as they would begin at a heading (rad), over ground so high."""
        here, fast = self._here
        here[:], fast[:] = q[: len(here)], v[: len(fast)]
        c, s = math.cos(heading), math.sin(heading)
        x, y = fast[:2].tolist()
        fast[0], fast[1], here[2] = c * x + s * y, c * y - s * x, here[2] - height
        c, s = math.cos(0.5 * heading), math.sin(0.5 * heading)
        w, x, y, z = here[3:7].tolist()
        here[3], here[4], here[5], here[6] = c * w + s * z, c * x + s * y, c * y - s * x, c * z - s * w
        fill_costs(
            self._tree, numbers, self._q, self._v, self._curvature, self._gradient, here, fast, self._away, self._found
        )
        return self._found[: len(numbers)].copy()


@kernel
def fill_costs(
    tree: Tree,
    numbers: Numbers,
    first_q: Array,
    first_v: Array,
    curvature: Array,
    gradient: Array,
    q: Array,
    v: Array,
    away: Array,
    found: Array,
) -> None:
    """Half of x^T S x, and s^T x, for deviations x of a state seen from where they begin; where it is, is nothing."""
    nv = len(v)
    for k in range(len(numbers)):
        number = numbers[k]
        difference_positions(tree, first_q[number], q, away)
        away[0] = away[1] = 0.0
        for i in range(nv):
            away[nv + i] = v[i] - first_v[number, i]
        total = 0.0
        for i in range(2 * nv):
            row = 0.0
            for j in range(2 * nv):
                row += curvature[number, i, j] * away[j]
            total += away[i] * (0.5 * row + gradient[number, i])
        found[k] = total
