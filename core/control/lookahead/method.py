# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control as a method: gains by way of the cache, settings by rehearsal."""

from collections.abc import Sequence
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
from .rehearsing import rehearsed
from .settings import Settings
from .storage import load_policy, policy_key, save_policy
from .track import Track


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
    controller, falls = (own, False) if steps_onto else rehearsed(own, stage.foreseen())
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
