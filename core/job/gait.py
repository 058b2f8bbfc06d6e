# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait control as a method of `run`: from its clip it takes the character and the pose in which to begin."""

from collections.abc import Mapping
from typing import Any

from ..control import gait
from ..control.gait import Gait
from ..motion.reference import Reference
from ..report.simulation import Simulation
from ..simulation import Course
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch
from .torques import simulate_torques

LEAST_RATE = 200.0  # steps a second, below which walks fall


def choose(chosen: Mapping[str, Any]) -> gait.Settings:
    """Settings by name, or ValueError."""
    return make_settings(gait.Settings, chosen, "gait control").checked()


def prepare_policy(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> Gait:
    """A walk that begins as the reference does."""
    del cache
    if reference.rate < LEAST_RATE:
        raise ValueError(
            f"A gait needs {LEAST_RATE:g} steps of simulation a second or more, not {reference.rate:g}: raise the rate."
        )
    return Gait(reference.character, Course(), reference.rate, choose(chosen), start=reference.q[0])


def simulate_policy(controller: Gait, stage: Stage, watch: Watch) -> Simulation:
    """Walk along the scene's course."""
    controller.course = stage.scene.course
    controller.reset(lift=stage.lift)
    return simulate_torques(controller, stage, watch)
