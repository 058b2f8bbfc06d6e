# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control as a method of `run`: there is nothing to prepare."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control import replanning
from ..control.replanning import Replanning, Unfelt
from ..control.track import Track
from ..motion.reference import Reference
from ..report.simulation import Simulation
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch
from .torques import simulate_torques, timed_world

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
    world = timed_world(stage)
    calm = replace(stage, scene=replace(stage.scene, pushes=()))
    controller.reset(
        lift=stage.lift,
        surprises=[push.start for push in stage.scene.pushes],
        catches={grab.start for grab in stage.scene.grabs if grab.start > 0.0},
        playback=stage.playback,
        unfelt=Unfelt(world, timed_world(calm)) if controller.settings.delay > 0.0 else None,
    )
    return simulate_torques(controller, stage, watch, world)
