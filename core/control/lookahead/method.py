# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control as a method: gains by way of the cache, settings by rehearsal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...cache import Cache
from ...motion.reference import Reference
from ..method import Follower, Method, Needs, Preset, Tell
from ..recovery import GettingUp, Recovering, meets_other_ground
from ..stage import Stage
from .accompanied import Accompanied
from .carried import FALLING, LOSING, Carried
from .lookahead import LookAhead
from .policy import CostToGo, Policy
from .precompute import sweep
from .search import ADAPTATIONS, Choice, Rehearsal, choose_settings, rehearse
from .settings import Settings
from .storage import load_policy, policy_key, save_policy
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


class Plan(NamedTuple):
    """A controller, and the motion that its track was made of."""

    controller: LookAhead
    reference: Reference
    value: CostToGo | None = None  # of the motion, if it was found just now


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Plan:
    """Gains from the cache, or made and kept there."""
    del tell
    reference = motions[0]
    character, track = reference.character, Track.of(reference)
    key = policy_key(character, track, settings)
    known: tuple[Policy, CostToGo | None] | None = cache.get(key, lambda path: (load_policy(path, key), None))
    if known is None:
        known = sweep(character, track, settings)
        cache.put(key, known, lambda made, path: save_policy(made[0], path, key))
    policy, value = known
    return Plan(LookAhead(character, track, settings, policy), reference, value)


def start(plan: Plan, stage: Stage) -> Follower:
    """Follow the track from its first frame on, with settings that hold if there are such."""
    own, reference, value = plan
    own.terrain = stage.terrain
    anchor = (0.0, 0.0, stage.lift, 0.0)
    steps_onto = meets_other_ground(anchor, reference, stage) and bool(stage.recovery) and not own.track.help.any()
    # what is best for a level motion that stumbles on is not for one whose steps are planned
    controller, falls = (own, False) if steps_onto else _rehearsed(own, stage.foreseen())
    controller.seek(0, anchor)
    # a plan knows of no help: who takes some is held by that
    recovers = stage.recovery and not controller.track.help.any()
    pushed: Follower = controller
    if recovers:
        pushed = Recovering(controller, reference, stage, value if controller is own else None)
    follower = _in_hands(controller, pushed, stage, falls=falls, steps_onto=steps_onto)
    if stage.gets_up:
        return GettingUp(follower, controller, reference, stage, value if controller is own else None)
    return follower


def _in_hands(controller: LookAhead, pushed: Follower, stage: Stage, *, falls: bool, steps_onto: bool) -> Follower:
    """The controller that answers pushes, or help's where that is to be given; `steps_onto` other ground it may too."""
    if stage.helped and (falls or not (stage.directed or stage.scene.pushes or stage.scene.props)):
        # nothing pushed it: what makes it fall is the motion, which is to be had in any case
        carried = Carried(controller, FALLING if falls else LOSING, pushed if steps_onto else None)
        return Accompanied(carried, pushed) if stage.accompanied and not falls else carried
    return pushed


def _rehearsed(controller: LookAhead, stage: Stage) -> tuple[LookAhead, bool]:
    """The controller, or one with other settings where with its own it falls; and whether it falls by itself.

    What a push needs is found once it has come.
    """
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
    world, steps, own = stage.world(alone=True), _steps(stage), controller.settings

    def tried(settings: Settings) -> tuple[LookAhead, Rehearsal]:
        other = LookAhead(controller.character, controller.track, settings, terrain=stage.terrain)
        return other, rehearse(other, world, steps, 0, stage.lift)

    best = controller, rehearsal
    for dearer in STAYING:
        if best[1].away < STRAYS:
            break
        other = tried(replace(own, location=dearer * Settings.location))
        if other[1].survived and other[1].away < best[1].away:
            best = other
    for adaptation in ADAPTATIONS[:2]:
        if _does(best[1]):
            break
        other = tried(replace(own, adaptation=adaptation))
        if _does(other[1]):
            best = other
    return best


def _does(rehearsal: Rehearsal) -> bool:
    """Whether one stayed up and did what was keyed."""
    return rehearsal.survived and rehearsal.degrees < LOOSE and rehearsal.away < LOST_WAY


def _guided(controller: LookAhead, stage: Stage, begin: Settings, away: float) -> LookAhead | None:
    """A controller with a hand on the root that gives little, if one stays nearer to its path than `away`.

    The first that keeps well to the motion, else one of those that do so roughly, which takes a fraction of the help of
    being carried: that works against feet that stand elsewhere.
    """
    world, steps = stage.world(alone=True), _steps(stage)
    nearest, least = None, min(away, ASTRAY)
    for sparing, dearer in HANDS:
        settings = replace(begin, location=dearer * Settings.location, help=sparing)
        planned = sparing == CHEAP and bool(controller.track.help.any())  # enough of it, where the motion takes it
        track = controller.track if planned else controller.track.guided()
        hand = LookAhead(controller.character, track, settings, terrain=stage.terrain)
        rehearsal = rehearse(hand, world, steps, 0, stage.lift)
        if rehearsal.survived and rehearsal.degrees < ROUGH and rehearsal.away < least:
            nearest, least = hand, WORTH_IT * rehearsal.away
            if rehearsal.degrees < LOOSE and rehearsal.away < LOST_WAY:
                break
    return nearest


def _steps(stage: Stage) -> int:
    return round(min(stage.seconds, REHEARSED) * stage.rate)


METHOD = Method(
    name="lookahead",
    number=0,
    label="Look Ahead",
    description="Follows the action closely and plans its steps ahead: walking, running, turning",
    paper="Muico et al. 2009",
    settings=Settings,
    plan=plan,
    start=start,
    needs=Needs(recovers=True, helps=True, directed=True),
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
