# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller needs to do its motion, found by rehearsal: other settings, or a hand on the root.

What a push needs is found once it has come (recovery).
"""

from dataclasses import replace

from ...simulation import World
from ..stage import Stage
from .lookahead import LookAhead
from .search import ADAPTATIONS, Choice, Rehearsal, choose_settings, rehearse
from .settings import Settings
from .track import Track

REHEARSED = 30.0  # s of a longer simulation that are rehearsed
LOOSE = 3.0  # degrees RMS off its motion: who stays up like that does not do what was keyed
STRAYS = 0.01  # m, RMS
LOST_WAY = 0.02  # m, RMS: who strays farther is guided
STAYING = (10.0, 100.0)  # times as dear is it to leave its path, for who strays
ROUGH, ASTRAY = 5.0, 0.03  # degrees and m: who strays no farther with a hand on the root need not be carried
CHEAP = 1.0
# What that hand gives is so many times as dear as contact forces, and leaving the path as a rule's; tried in a row.
HANDS = ((1000.0, 10.0), (1000.0, 100.0), (100.0, 100.0), (30.0, 100.0), (10.0, 100.0), (CHEAP, 100.0))
WORTH_IT = 0.7  # of the distance: as near must a hand come that gives more than another
CHOICE = "choice of settings"
# Rehearsals, where help is at hand for who falls in all of them; and without those that skip ahead to touchdowns.
FEW, FEWER = 12, 6


def rehearsed(controller: LookAhead, stage: Stage) -> tuple[LookAhead, bool]:
    """The controller, or one with other settings where with its own it falls; and whether it falls by itself."""
    own = controller.settings
    if own.rehearsals == 0:
        return controller, False
    alone = stage.helped and not (stage.scene.pushes or stage.scene.props)
    timed = alone and controller.track.cycle is None and not stage.directed
    most = min(own.rehearsals, (FEWER if timed else FEW) if stage.helped else own.rehearsals)
    choice: Choice = stage.found.get(CHOICE) or choose_settings(
        controller.character,
        controller.track,
        own,
        world=stage.world(pushed=not stage.recovery, alone=True),
        duration=min(stage.seconds, REHEARSED),
        lift=stage.lift,
        replicas=1,
        most=most,
        seconds=own.rehearsal_seconds or None,
        controller=controller,
        progress=lambda number: stage.rehearsing(number / most),
    )
    if not (choice.skipped or own.rehearsal_seconds):  # neither somebody nor a clock has ended it
        stage.found[CHOICE] = choice
    if choice.settings != own:
        controller = LookAhead(controller.character, controller.track, choice.settings, terrain=stage.terrain)
    rehearsal = choice.trials[-1].rehearsals[0]
    if choice.held and stage.helped and not stage.scene.pushes and own.location == Settings.location:
        controller, rehearsal = _staying(controller, stage, rehearsal)
    controller.rehearsed = choice.text
    follows = choice.held and (rehearsal.degrees < LOOSE or bool(stage.scene.pushes))
    # who skips ahead to a touchdown stays near its motion, but not near where that was keyed to be
    in_time = not timed or choice.settings.reset_phase == own.reset_phase
    if alone and not (follows and in_time and rehearsal.away < LOST_WAY):
        begin = replace(controller.settings, reset_phase=own.reset_phase if timed else choice.settings.reset_phase)
        hand = _guided(controller, stage, begin, rehearsal.away if follows and in_time else ASTRAY)
        if hand is not None:
            return hand, False
    return controller, not follows and (stage.recovery > 0 or not stage.scene.pushes)


def _staying(controller: LookAhead, stage: Stage, rehearsal: Rehearsal) -> tuple[LookAhead, Rehearsal]:
    """The controller and its rehearsal, or where it strays so far from its path one that leaves that less readily.

    To hold on to a place costs steadiness against pushes, of which there are none. Who still does not do what was keyed
    adapts to contacts more readily, or less, as who falls does.
    """
    own, world = controller.settings, stage.world(alone=True)
    for dearer in STAYING:
        if rehearsal.away < STRAYS:
            break
        other, again = _tried(controller, stage, world, replace(own, location=dearer * Settings.location))
        if again.survived and again.away < rehearsal.away:
            controller, rehearsal = other, again
    for adaptation in ADAPTATIONS[:2]:
        if _keeps_to_it(rehearsal):
            break
        other, again = _tried(controller, stage, world, replace(own, adaptation=adaptation))
        if _keeps_to_it(again):
            controller, rehearsal = other, again
    return controller, rehearsal


def _tried(
    controller: LookAhead, stage: Stage, world: World, settings: Settings, track: Track | None = None
) -> tuple[LookAhead, Rehearsal]:
    """The same controller with other settings, or another track too, and what becomes of it in a world."""
    other = LookAhead(controller.character, track or controller.track, settings, terrain=stage.terrain)
    steps = round(min(stage.seconds, REHEARSED) * stage.rate)
    return other, rehearse(other, world, steps, 0, stage.lift)


def _keeps_to_it(rehearsal: Rehearsal) -> bool:
    """Whether one stayed up, near its motion and its path."""
    return rehearsal.survived and rehearsal.degrees < LOOSE and rehearsal.away < LOST_WAY


def _guided(controller: LookAhead, stage: Stage, begin: Settings, away: float) -> LookAhead | None:
    """A controller with a hand on the root that gives little, if one stays nearer to its path than `away`.

    The first that keeps well to the motion, else one of those that do so roughly, which takes a fraction of the help of
    being carried: that works against feet that stand elsewhere.
    """
    world = stage.world(alone=True)
    nearest, least = None, min(away, ASTRAY)
    for sparing, dearer in HANDS:
        settings = replace(begin, location=dearer * Settings.location, help=sparing)
        planned = sparing == CHEAP and bool(controller.track.help.any())  # enough of it, where the motion takes it
        track = controller.track if planned else controller.track.guided()
        hand, rehearsal = _tried(controller, stage, world, settings, track)
        if rehearsal.survived and rehearsal.degrees < ROUGH and rehearsal.away < least:
            nearest, least = hand, WORTH_IT * rehearsal.away
            if _keeps_to_it(rehearsal):
                break
    return nearest
