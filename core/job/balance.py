# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control as a method of `run`: its regulators take no longer than to look for them in a cache."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control import balance
from ..control.balance import Balance
from ..control.track import Track
from ..motion.reference import Reference
from ..report.simulation import Simulation
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
    return simulate_torques(controller, stage, watch)
