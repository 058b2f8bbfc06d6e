# SPDX-License-Identifier: GPL-3.0-or-later
"""The combination of controllers as a method: several motions, and a slider between them."""

from collections.abc import Sequence

import numpy as np

from ...cache import Cache
from ...contact.detection import Contacts
from ...motion.in_step import in_step
from ...motion.quaternions import Array
from ...motion.reference import Reference
from ...simulation import Slider
from ...simulation.outcome import Simulation
from ..law import AffineLaw, State
from ..method import Follower, Method, Needs, Tell
from ..stage import Stage
from .middles import filled
from .motions import CombinedMotion
from .settings import Settings

HALF_WAY = Slider(np.zeros(1), np.full(1, 0.5))


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> CombinedMotion:
    """The motions brought in step with the first, others between where they are far apart, all as one controller."""
    del cache, tell
    first = motions[0]
    line = filled([first, *(in_step(other, first) for other in motions[1:])])
    return CombinedMotion(
        line.references,
        settings.of_components(),
        places=line.places,
        by_value=settings.choose,
        softness=settings.softness,
    )


def start(controller: CombinedMotion, stage: Stage) -> "Slid":
    """Follow the scene's slider."""
    for component in controller.controllers:
        component.terrain = stage.terrain
    slid = Slid(controller, stage.scene.slider or HALF_WAY)
    controller.start_at(0.0, 0.0, stage.lift)
    slid.ask(0.0)
    return slid


class Slid(Follower):
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

    def notes(self, simulation: Simulation) -> tuple[str]:
        """How many motions it took."""
        del simulation
        made = len(self._motion.controllers)
        return (f"{made} motions from the first to the last, including those made in between.",)


METHOD = Method(
    name="combination",
    number=5,
    label="Combine",
    description="Blends several actions by a keyed slider, or does what is easiest when pushed",
    paper="da Silva 2010",
    settings=Settings,
    plan=plan,
    start=start,
    needs=Needs(blends=True),
    variants=({"choose": True},),
    kernels=1,
)
