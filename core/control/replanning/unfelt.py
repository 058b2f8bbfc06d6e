# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a body takes itself to be while it has not felt a push: where it would be without.

Jain and Liu 2011, section 6, take the reference's state. But where forces change within the window, the first impulse
of a plan is not that of the reference; what makes up for it are the millimetres by which a body lies beside its
reference. Without them a walk falls by itself, pushed or not. So the same steps are taken in a world without the push.
"""

import numpy as np
from numpy.typing import NDArray

from ...simulation import World
from ..law import Controller

Array = NDArray[np.float64]


class Unfelt:
    """A world, and one that differs from it only by pushes."""

    def __init__(self, world: World, without: World) -> None:
        self._world, self._without = world, without
        self._controller: Controller | None = None

    @property
    def going(self) -> bool:
        """Whether there is anything that is not felt."""
        return self._controller is not None

    def begin(self, controller: Controller) -> None:
        """From here on the other world is without pushes; a controller of its own goes on there."""
        self._without.load_state(self._world.save_state())
        self._controller = controller

    def end(self) -> None:
        """All is felt."""
        self._controller = None

    def state(self) -> tuple[Array, Array]:
        """Positions q_{k+1} and velocities v_k there in the world's coming step, which is taken there too."""
        self._without.begin_step()
        state = self._without.state()
        q, v = state.q_next.copy(), state.v.copy()
        self._without.step(self._controller)
        return q, v
