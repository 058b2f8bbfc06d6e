# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control as a method: gains by way of the cache, settings by rehearsal."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ...cache import Cache
from ...motion.reference import Reference
from ..method import Method, Needs, Preset
from ..recovery import Recovering
from ..stage import Stage
from .lookahead import LookAhead
from .precompute import precompute
from .search import choose_settings
from .settings import Settings
from .storage import load_policy, policy_key, save_policy
from .track import Track

REHEARSED = 30.0  # s of a longer simulation that are rehearsed


class Plan(NamedTuple):
    """A controller, and the motion that its track was made of."""

    controller: LookAhead
    reference: Reference


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache) -> Plan:
    """Gains from the cache, or made and kept there."""
    reference = motions[0]
    character, track = reference.character, Track.of(reference)
    key = policy_key(character, track, settings)
    policy = cache.get(key, partial(load_policy, key=key))
    if policy is None:
        policy = precompute(character, track, settings)
        cache.put(key, partial(save_policy, policy, key=key))
    return Plan(LookAhead(character, track, settings, policy), reference)


def start(plan: Plan, stage: Stage) -> LookAhead | Recovering:
    """Follow the track from its first frame on, with settings that hold if there are such."""
    controller, reference = plan
    controller.terrain = stage.terrain
    controller = _rehearsed(controller, stage)
    controller.seek(0, (0.0, 0.0, stage.lift, 0.0))
    return Recovering(controller, reference, stage) if stage.recovery else controller


def _rehearsed(controller: LookAhead, stage: Stage) -> LookAhead:
    """The controller, or one with other settings where with its own the character falls."""
    own = controller.settings
    if own.rehearsals == 0:
        return controller
    choice = choose_settings(
        controller.character,
        controller.track,
        own,
        world=stage.world(pushed=not stage.recovery),  # what a push needs is found once it has come
        duration=min(stage.seconds, REHEARSED),
        lift=stage.lift,
        replicas=1,
        most=own.rehearsals,
        seconds=own.rehearsal_seconds or None,
        controller=controller,
        progress=lambda number: stage.rehearsing(number / own.rehearsals),
    )
    if choice.settings != own:
        controller = LookAhead(controller.character, controller.track, choice.settings, terrain=stage.terrain)
    controller.rehearsed = choice.text
    return controller


METHOD = Method(
    name="lookahead",
    number=0,
    label="Look Ahead",
    description="Follows the action closely and plans its steps ahead: walking, running, turning",
    paper="Muico et al. 2009",
    settings=Settings,
    plan=plan,
    start=start,
    needs=Needs(recovers=True),
    presets=(
        Preset("Default", "Good for most motions.", {}),
        Preset("Fast Motion", "More simulation steps per second: runs, jumps, quick gestures.", {}, rate=240),
        Preset(
            "Long Walks",
            "Leans on the ground more freely: steadier over many steps, weaker against pushes.",
            {"adaptation": 0.001, "force": 0.01},
        ),
    ),
    kernels=3,
)
