# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control as a method of `run`: its regulators take no longer than to look for them in a cache."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contact.detection import Contacts
from ..control import balance
from ..control.balance import Balance, ProgramError
from ..control.law import AffineLaw, State
from ..control.replanning import Track
from ..motion.reference import Reference
from ..report.simulation import Simulation
from ..simulation import DivergedError
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch
from .torques import simulate_torques

Array = NDArray[np.float64]


def choose(chosen: Mapping[str, Any]) -> balance.Settings:
    """Settings by name, or ValueError."""
    return make_settings(balance.Settings, chosen, "balance control").checked()


def prepare_policy(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> Balance:
    """A controller for the reference, with regulators for its single supports."""
    del cache
    return Balance(reference.character, Track.of(reference), choose(chosen))


def simulate_policy(controller: Balance, stage: Stage, watch: Watch) -> Simulation:
    """Follow the track from its first frame on."""
    controller.reset(lift=stage.lift)
    return simulate_torques(_Follower(controller), stage, watch)


class _Follower:
    """Balance control as the loop around the stepper knows it."""

    def __init__(self, controller: Balance) -> None:
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
        except ProgramError as error:
            raise DivergedError(round(state.time / state.dt), state.time, str(error)) from error
