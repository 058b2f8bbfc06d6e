# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control as a method: it plans while it acts, and nothing before."""

from collections.abc import Sequence
from dataclasses import replace

from ...cache import Cache
from ...motion.reference import Reference
from ...simulation import World
from ..method import Method, Needs, Preset, Tell
from ..stage import Stage
from ..track import Track
from .replanning import Replanning
from .settings import Settings
from .unfelt import Unfelt


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Replanning:
    """A controller for the motion, whether or not it was optimised."""
    del cache, tell
    return Replanning(motions[0].character, Track.of(motions[0]), settings)


def start(controller: Replanning, stage: Stage) -> Replanning:
    """Follow the track from its first frame on."""
    controller.seek(
        lift=stage.lift,
        surprises=[push.start for push in stage.scene.pushes],
        catches={grab.start for grab in stage.scene.grabs if grab.start > 0.0},
        playback=stage.playback,
    )
    return controller


def stepper(controller: Replanning, stage: Stage) -> World:
    """The stage's world; a controller that feels pushes late knows it, and another without them."""
    world = stage.world()
    if controller.settings.delay > 0.0:
        calm = replace(stage, scene=replace(stage.scene, pushes=()))
        controller.unfelt = Unfelt(world, calm.world())
    return world


METHOD = Method(
    name="replanning",
    number=1,
    label="Replan",
    description="Plans forces again at every step: key poses, hanging, squats, pushed walks",
    paper="Jain and Liu 2011",
    settings=Settings,
    plan=plan,
    start=start,
    stepper=stepper,
    needs=Needs(follows_keys=True),
    presets=(Preset("Key Poses", "A few key poses, as they are: chin-ups, squats, lifts.", {}, optimise=False),),
    kernels=1,
)
