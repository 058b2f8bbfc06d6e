# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control as a method of `run`: there is nothing to prepare."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contact.detection import Contacts
from ..control import replanning
from ..control.law import AffineLaw, State
from ..control.replanning import PlanError, Replanning, Track
from ..motion.reference import Reference
from ..report.simulation import Simulation
from ..simulation import DivergedError
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch
from .torques import simulate_torques

Array = NDArray[np.float64]


def choose(chosen: Mapping[str, Any]) -> replanning.Settings:
    """Settings by name, or ValueError."""
    return make_settings(replanning.Settings, chosen, "replanning control").checked()


def prepare_policy(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> Replanning:
    """A controller for the reference, whether or not it was optimised."""
    del cache
    return Replanning(reference.character, Track.of(reference), choose(chosen))


def simulate_policy(controller: Replanning, stage: Stage, watch: Watch) -> Simulation:
    """Follow the track from its first frame on."""
    controller.reset(lift=stage.lift, surprises=[push.start for push in stage.scene.pushes])
    return simulate_torques(_Follower(controller), stage, watch)


class _Follower:
    """Replanning as the loop around the stepper knows it."""

    def __init__(self, controller: Replanning) -> None:
        self._controller = controller

    @property
    def lap(self) -> int:
        """Of a cycle."""
        return self._controller.track.lap(self._controller.frame)

    def wanted(self) -> tuple[Array, Array, int]:
        """Positions and velocities where the character is to be now, and the reference's frame."""
        q, v = self._controller.reference_state()
        return q, v, self._controller.track.row(self._controller.frame)

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The controller's; where it has none, the simulation ends."""
        try:
            return self._controller.law(state, contacts)
        except PlanError as error:
            raise DivergedError(round(state.time / state.dt), state.time, str(error)) from error
