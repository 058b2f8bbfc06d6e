# SPDX-License-Identifier: GPL-3.0-or-later
"""The combination of controllers as a method of `run`: several motions, and a slider between them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..contact.detection import Contacts
from ..control import combination
from ..control.combination.middles import filled
from ..control.combination.motions import CombinedMotion
from ..control.law import AffineLaw, State
from ..motion.in_step import in_step
from ..motion.quaternions import Array
from ..motion.reference import Reference
from ..report.simulation import Simulation
from ..simulation import Slider
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch
from .torques import simulate_torques

HALF_WAY = Slider(np.zeros(1), np.full(1, 0.5))


def choose(chosen: Mapping[str, Any]) -> combination.Settings:
    """Settings by name, or ValueError."""
    return make_settings(combination.Settings, chosen, "a combination").checked()


def prepare_policy(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> CombinedMotion:
    """Refuse: one motion has nothing beside it."""
    del reference, chosen, cache
    raise ValueError("It takes two motions at least to combine them.")


def combine(references: Sequence[Reference], chosen: Mapping[str, Any], cache: Cache) -> CombinedMotion:
    """The motions brought in step with the first, others between where they are far apart, all as one controller."""
    del cache
    settings, first = choose(chosen), references[0]
    line = filled([first, *(in_step(other, first) for other in references[1:])])
    return CombinedMotion(
        line.references,
        settings.of_components(),
        places=line.places,
        by_value=settings.choose,
        softness=settings.softness,
    )


def simulate_policy(controller: CombinedMotion, stage: Stage, watch: Watch) -> Simulation:
    """Follow the scene's slider."""
    for component in controller.controllers:
        component.terrain = stage.terrain
    slid = Slid(controller, stage.scene.slider or HALF_WAY)
    controller.reset(0.0, 0.0, stage.lift)
    slid.ask(0.0)
    made = len(controller.controllers)
    note = f"{made} motions from the first to the last, those made between the given ones included."
    return replace(simulate_torques(slid, stage, watch), notes=(note,))


class Slid:
    """A combined motion that looks at a slider: walks as each stride begins, other motions all the time."""

    def __init__(self, motion: CombinedMotion, slider: Slider) -> None:
        self._motion, self._slider = motion, slider
        self._place = -1.0

    def ask(self, time: float) -> None:
        """Take over what the slider says then."""
        place = self._slider.at(time)
        if place != self._place:
            self._place = place
            self._motion.ask(place)

    @property
    def row(self) -> int:
        """The first motion's frame now."""
        return self._motion.row

    @property
    def lap(self) -> int:
        """How many strides were walked."""
        return self._motion.lap

    def reference_state(self) -> tuple[Array, Array]:
        """Where the character is to be now."""
        return self._motion.reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The motion's, after a look at the slider as it stands at the end of this step."""
        self.ask(state.time + state.dt)
        return self._motion.law(state, contacts)
