# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control as a method of `run`: gains by way of the cache, settings by rehearsal."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control import lookahead
from ..control.lookahead import LookAhead, Track
from ..motion.reference import Reference
from ..report.simulation import Simulation
from ..simulation import World
from .cache import Cache
from .settings import make_settings
from .stage import Stage, Watch, surroundings
from .torques import simulate_torques

Array = NDArray[np.float64]

FEW = 12  # rehearsals, where help is at hand for who falls in all of them
HELD_IN_PLACE = (100.0, 1.0)  # times as dear is it to leave its way, for who is held up
HELPED = "It would fall by itself with any settings that were tried: help holds it up."
REHEARSED = 30.0  # s of a longer simulation that are rehearsed


def choose(chosen: Mapping[str, Any]) -> lookahead.Settings:
    """The defaults but for what was chosen."""
    return make_settings(lookahead.Settings, chosen, "look-ahead control").checked()


def prepare_policy(reference: Reference, chosen: Mapping[str, Any], cache: Cache) -> LookAhead:
    """Gains from the cache, or made and kept there."""
    settings = choose(chosen)
    character, track = reference.character, Track.of(reference)
    key = lookahead.policy_key(character, track, settings)
    policy = cache.get(key, partial(lookahead.load_policy, key=key))
    if policy is None:
        policy = lookahead.precompute(character, track, settings)
        cache.put(key, partial(lookahead.save_policy, policy, key=key))
    return LookAhead(character, track, settings, policy)


def simulate_policy(controller: LookAhead, stage: Stage, watch: Watch) -> Simulation:
    """Follow the track from its first frame on, with settings that hold if there are such."""
    controller.terrain = stage.terrain
    controller, notes = _rehearsed(controller, stage)
    controller.reset(0, (0.0, 0.0, stage.lift, 0.0))
    return replace(simulate_torques(controller, stage, watch), notes=notes)


def _rehearsed(controller: LookAhead, stage: Stage) -> tuple[LookAhead, tuple[str, ...]]:
    """The controller, or one with other settings where with its own the character falls; and what was found."""
    own = controller.settings
    if own.rehearsals == 0:
        return controller, ()
    most = min(own.rehearsals, FEW) if stage.helped else own.rehearsals
    choice = lookahead.choose_settings(
        controller.character,
        controller.track,
        own,
        world=World(stage.character, stage.terrain, **surroundings(stage)),
        duration=min(stage.seconds, REHEARSED),
        lift=stage.lift,
        replicas=1,
        most=most,
        seconds=own.rehearsal_seconds or None,
        controller=controller,
        progress=lambda number: stage.rehearsing(number / most),
    )
    if stage.helped and not choice.held and not stage.scene.pushes:
        # nobody pushed it: what makes it fall is the motion, which is to be had in any case
        return _held_up(controller, stage), (HELPED,)
    if choice.settings != own:
        controller = LookAhead(controller.character, controller.track, choice.settings, terrain=stage.terrain)
    return controller, (choice.text,) if choice.text else ()


def _held_up(controller: LookAhead, stage: Stage) -> LookAhead:
    """The same with help at hand in all steps: the first way of giving it that holds, or the last."""
    own, track = controller.settings, controller.track.helped()
    world = World(stage.character, stage.terrain, **surroundings(stage))
    steps = round(min(stage.seconds, REHEARSED) * stage.rate)
    for dearer in HELD_IN_PLACE:
        for adaptation in (0.0, own.adaptation):
            settings = replace(own, location=dearer * own.location, adaptation=adaptation)
            held = LookAhead(controller.character, track, settings, terrain=stage.terrain)
            if lookahead.rehearse(held, world, steps, 0, stage.lift).survived:
                return held
    return held
