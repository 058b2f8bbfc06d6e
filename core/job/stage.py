# SPDX-License-Identifier: GPL-3.0-or-later
"""What a method of control is, as `run` knows it: a policy is prepared from a reference, and acts on a stage."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..contact.terrain import Terrain
from ..motion.playback import Playback
from ..motion.reference import Reference
from ..report.simulation import Simulation
from .cache import Cache
from .job import Scene

Array = NDArray[np.float64]


def _tell_nobody(share: float) -> None:
    """For stages without an audience."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Where a policy is to act."""

    character: Character  # loads included that the controller does not know of
    terrain: Terrain
    scene: Scene
    rate: float  # 1/s
    seconds: float
    lift: float  # height of the ground at the start over the reference's, m
    playback: Playback = field(default_factory=Playback)  # from the reference's start on
    helped: bool = False  # help may be given where the character would fall by itself
    noise: Array | None = None  # (nv,) added to the velocities at the start
    # told before each rehearsal which share of them is over; it may raise
    rehearsing: Callable[[float], None] = _tell_nobody


# told each state's number, the whole system's positions, and frame and lap of the reference; False ends it
Watch = Callable[[int, Array, int, int], bool]


class Method(NamedTuple):
    """How one method works: `prepare` makes a policy of the references, `simulate` lets it act.

    There is one reference, of the job's clip, but for a method that combines several: one for each motion, in order.
    """

    label: str
    prepare: Callable[[Reference, Mapping[str, Any], Cache], Any]
    simulate: Callable[[Any, Stage, Watch], Simulation]
    # of chosen settings, by name: ValueError where one makes no sense; a method of one's own may take anything
    check: Callable[[Mapping[str, Any]], object] = dict
    plans_forces: bool = False  # by itself, so that any motion will do as a reference
    edits: bool = False  # the motion while it is followed: its speed, transitions
    helps: bool = False  # gives the help that a reference takes
    goes_between: bool = False  # several motions, as the job chooses: their course is the one reference
    # makes a policy of several references, the job's own first, where the method combines motions
    combine: Callable[[Sequence[Reference], Mapping[str, Any], Cache], Any] | None = None


def surroundings(stage: Stage) -> dict[str, Any]:
    """What a world on the stage needs to know besides character and terrain."""
    scene = stage.scene
    return {
        "friction": scene.friction,
        "rate": stage.rate,
        "props": scene.props,
        "grabs": scene.grabs,
        "pushes": scene.pushes,
    }
