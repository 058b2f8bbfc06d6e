# SPDX-License-Identifier: GPL-3.0-or-later
"""Gait control as a method: from its motion it takes the character and the pose in which to begin."""

from collections.abc import Sequence

from ...cache import Cache
from ...motion.reference import Reference
from ...simulation import Course
from ..method import Method, Needs, Tell
from ..stage import Stage
from .gait import Gait
from .settings import Settings


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Gait:
    """A walk that begins as the motion does."""
    del cache, tell
    reference = motions[0]
    return Gait(reference.character, Course(), reference.rate, settings, start=reference.q[0])


def start(controller: Gait, stage: Stage) -> Gait:
    """Walk along the scene's course."""
    controller.course = stage.scene.course
    controller.begin(lift=stage.lift)
    return controller


METHOD = Method(
    name="gait",
    number=4,
    label="Walk",
    description="Walks by itself from the action's first pose, at keyed speeds, to a keyed heading",
    paper="Carensac et al.",
    settings=Settings,
    plan=plan,
    start=start,
    needs=Needs(no_motion=True, led=True, slowest=-0.3, fastest=0.9, directed=True, least_rate=300.0),
    variants=({"stabiliser": True, "prediction": "M6"},),
    kernels=6,
)
