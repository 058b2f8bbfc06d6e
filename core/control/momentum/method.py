# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum control as a method: it steps its abstract model and rebuilds the pose, without a world."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...cache import Cache
from ...motion.reference import Reference
from ..method import Method, Needs, Tell
from ..stage import Stage
from .acting import Acting, ModelStepper
from .laps import unrolled
from .performer import Performer
from .placing import LEVEL, place_stances
from .policy import Policy, precompute
from .route import make_route, stances
from .settings import Settings
from .states import Outline

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plan:
    """A reference with its law; of one that repeats, the law is made when it is known how often."""

    reference: Reference
    settings: Settings
    outline: Outline
    policy: Policy | None


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Plan:
    """Gains of every segment; quicker made than read, so that none are kept."""
    del cache, tell
    reference = motions[0]
    outline, once = Outline.of(reference), reference.cycle is None
    return Plan(reference, settings, outline, precompute(reference.character, outline, settings) if once else None)


def start(made: Plan, stage: Stage) -> Acting:
    """Follow the reference from its first frame on, until it is over or time is."""
    reference, outline, policy = made.reference, made.outline, made.policy
    if policy is None:
        laps = int(np.ceil(stage.seconds * reference.rate / reference.steps)) + 1
        reference = unrolled(reference, laps)
        outline = Outline.of(reference)
        policy = precompute(reference.character, outline, made.settings)
    moves, found = place_stances(
        reference.character, outline, stances(outline), stage.terrain, stage.lift, stage.scene.footholds
    )
    performer = Performer(
        stage.character,
        policy,
        make_route(reference, outline, moves),
        stage.scene.pushes,
        flexible=made.settings.flexible_time,
        aside=made.settings.step_aside and _free_to_step(stage, outline, moves),
    )
    return Acting(performer, reference, made.reference, stage, grounded=all(found))


def _free_to_step(stage: Stage, outline: Outline, moves: Sequence[Array]) -> bool:
    """Whether steps may go elsewhere: on level ground, where nobody has set footholds and nothing is held on to."""
    heights = [float(move[2]) for move in moves]
    level = max(heights, default=0.0) - min(heights, default=0.0) < LEVEL
    return level and not stage.scene.footholds and not outline.grip.any()


def stepper(acting: Acting, stage: Stage) -> ModelStepper:
    """The abstract model, with the pose that goes with it."""
    return ModelStepper(acting.performer, stage.rate)


METHOD = Method(
    name="momentum",
    number=2,
    label="Momentum",
    description="Leans and steps into pushes; climbs stairs and other steps; torques may exceed a person's",
    paper="Ye and Liu 2010",
    settings=Settings,
    plan=plan,
    start=start,
    stepper=stepper,
    needs=Needs(places_feet=True, props=False, strength=False),
    kernels=7,
)
