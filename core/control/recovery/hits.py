# SPDX-License-Identifier: GPL-3.0-or-later
"""Hits: what a prop or another character gives a body that it strikes is a push, whose impulse the contacts tell."""

import math
from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from ...simulation import World
from ...simulation.scene import Scene
from ...simulation.world import ANOTHER

Array = NDArray[np.float64]

FELT = 3.0  # N s, from which on a hit is worth a thought: half a football's at 15 m/s
BORNE = 0.7  # share of a force that points up, from which on a prop bears the body rather than hits it
PAUSE = 0.05  # s without a touch, after which it is over


class Hits:
    """Listens to a world whose steps it is shown, one after the other."""

    def __init__(self, scene: Scene, bodies: Container[str]) -> None:
        """What the body holds does not hit it."""
        self._held = {grab.other for grab in scene.grabs if grab.body in bodies}
        self.listens = bool(scene.props)  # there is something to strike it, or has been
        self.impulse = np.zeros(3)  # N s of the present hit
        self._last = -math.inf  # s, of its last touch

    def ended(self, world: World) -> bool:
        """Whether a hit that was felt ended with the last step."""
        self.listens = self.listens or world.pressed_by_another
        if not self.listens:
            return False
        force = force_of_things(world, self._held)
        size = float(np.linalg.norm(force))
        if size > 0.0 and force[2] < BORNE * size:
            self.impulse = self.impulse + force * world.dt
            self._last = world.time
            return False
        if world.time - self._last < PAUSE:
            return False
        felt = float(np.linalg.norm(self.impulse)) >= FELT
        self.impulse = np.zeros(3)
        return felt


def force_of_things(world: World, held: Container[str | None] = ()) -> Array:
    """The sum (3,) of what props and other characters pressed the character with in the last step, N."""
    own = len(world.character.bodies)
    props = {own + k for k, prop in enumerate(world.props) if prop.name not in held}
    contacts, total = world.contacts, np.zeros(3)
    for body, other, force in zip(contacts.body, contacts.other, contacts.force, strict=True):
        if body < own and (other in props or other == ANOTHER):
            total = total + force
        elif body in props and 0 <= other < own:
            total = total - force
    return total
