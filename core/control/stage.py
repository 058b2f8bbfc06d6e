# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a controller is to act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..contact.terrain import Terrain
from ..motion.path import Path
from ..motion.playback import Playback
from ..simulation import Push, World
from ..simulation.looseness import Region
from ..simulation.scene import Scene
from ..simulation.strength import TorqueLimits

Array = NDArray[np.float64]


def _go_on(share: float) -> bool:
    """For stages without an audience."""
    del share
    return True


@dataclass(frozen=True, eq=False)
class Stage:
    """A character in a scene, for some time; times count from the start of the motion that is followed."""

    character: Character  # loads included that the controller does not know of
    terrain: Terrain
    scene: Scene
    rate: float  # 1/s
    seconds: float  # for which it is prepared
    lift: float  # height of the ground at the start over the reference's, m
    playback: Playback = field(default_factory=Playback)
    helped: bool = False  # help may be given where the character would fall by itself
    recovery: int = 0  # plans that may be tried after a disturbance; 0: none is answered
    accompanied: bool = False  # other characters may touch it
    felt: tuple[Push, ...] = ()  # what they are to give: rehearsals, which know nobody, have it as pushes
    returns: bool = False  # to its path, after a recovery
    gets_up: bool = False  # after a fall
    way_up: Array | None = None  # (n, nq) on z = 0 at the stage's rate, by which it does; None: its own way
    looseness: Mapping[Region, float] = field(default_factory=dict)  # 0 to 1 by region
    torque_limits: TorqueLimits | None = None  # of what acts in a world
    inside: Array | None = None  # (no,) how deep the motion has the character's own shapes in each other, m
    noise: Array | None = None  # (nv,) added to the velocities at the start
    directed: bool = False  # somebody takes hold of it: help must not hide what that does
    path: Path | None = None  # to be walked along, by who is led
    ends: float = np.inf  # s, after which it is over, if that is before its time
    # told before each rehearsal which share of them is over: whether there is to be another; it may raise
    rehearsing: Callable[[float], bool] = _go_on
    found: dict[str, Any] = field(default_factory=dict)  # by rehearsals on stages like it: pushes are no part of those

    def foreseen(self) -> Self:
        """The same with what can be known of it beforehand."""
        return replace(self, scene=self.scene.foreseen())

    def world(self, *, pushed: bool = True, alone: bool = False) -> World:
        """A world of it all; without its pushes if it is not `pushed`. Others are there, unless it is `alone`."""
        scene = self.scene
        pushes = scene.pushes if pushed else ()
        if alone or not self.accompanied:
            pushes += self.felt
        return World(
            self.character,
            self.terrain,
            friction=scene.friction,
            rate=self.rate,
            props=scene.props,
            grabs=scene.grabs,
            pushes=pushes,
            torque_limits=self.torque_limits,
            inside=self.inside,
        )


# told each state's number, the whole system's positions, and frame and lap of the reference; False ends it
Observer = Callable[[int, Array, int, int], bool]
