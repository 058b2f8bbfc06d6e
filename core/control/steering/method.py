# SPDX-License-Identifier: GPL-3.0-or-later
"""A steered walk as a method: motions and trials by way of the cache, then a planner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...cache import Cache
from ...motion.cycle import Cycle
from ...motion.moving_frame import OwnWay
from ...motion.reference import Reference
from ...planning import Errand, Trials, Wishes
from ...simulation.own_contact import deepest
from ...simulation.recording import Stepper
from ..method import Method, Needs, Tell
from ..stage import Stage
from .catching import Catches
from .library import make_library
from .planner import Planner
from .repertoire import Act, make_repertoire
from .settings import Settings
from .steering import Steering
from .storage import keep_costs, keep_tours, kept_costs, kept_library, kept_tours, key_of
from .trials import is_enough, make_tour, missing, table
from .walking import Walker

Array = NDArray[np.float64]

LOOKS = 30.0  # 1/s, how often an action is looked at for limbs that are in each other
MOTIONS = 0.5  # share of the work that they are; trials are the rest


@dataclass(frozen=True, eq=False)
class Plan:
    """Actions, what was found of them, and where the walk begins."""

    acts: tuple[Act, ...]
    trials: Trials
    dearest: Array  # (n,) state from which each was got through
    caution: float
    begins: Cycle

    @cached_property
    def planner(self) -> Planner:
        """Who chooses among them along a course."""
        return Planner(self.acts, self.trials, self.dearest, Wishes(fall=self.caution))

    @cached_property
    def walker(self) -> Walker:
        """Who does along a path."""
        return Walker(self.acts, self.trials, self.dearest, Errand(fall=self.caution))


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Plan:
    """Make motions, try all pairs of them, and conclude what is best when."""
    reference = motions[0]
    key = key_of(reference, settings)
    library = kept_library(cache, key, lambda: make_library(reference, settings, lambda share: tell(MOTIONS * share)))
    known = kept_costs(cache, key)
    acts = make_repertoire(library, cache.shelf(f"{key}-gains"), known)
    if not known:
        keep_costs(cache, key, tuple(act.cost for act in acts))
    tours = kept_tours(cache, key)
    most = missing(acts, ())
    while not is_enough(acts, tours):
        tell(MOTIONS + (1.0 - MOTIONS) * (1.0 - missing(acts, tours) / most))
        tours = (*tours, make_tour(acts, tours))
        keep_tours(cache, key, tours)
    assert reference.cycle is not None
    here = OwnWay(reference.q, reference.cycle, reference.rate).at(np.zeros(1))
    x, y = here.place[0].tolist()
    return Plan(acts, *table(acts, tours), settings.caution, Cycle((x, y), float(here.heading[0])))


def start(plan: Plan, stage: Stage) -> Steering:
    """Walk along the stage's path, or else along its course, from where the clip begins."""
    for act in plan.acts:
        act.motion.stand_on(stage.terrain)
        if stage.directed:  # nobody waits for gains there
            act.motion.make_controller()
    if stage.path is not None:
        walker = plan.walker
        walker.go(stage.path, plan.begins)
        catches = Catches(roomy(plan.acts, stage), walker.foresee, walker.away) if stage.recovery else None
        steering = Steering(plan.acts, walker.choose, lambda: walker.over, catches)
        steering.begin(*walker.begins(), stage.lift)
        return steering
    plan.planner.head(stage.scene.course, plan.begins.turn)
    catches = Catches(roomy(plan.acts, stage), plan.planner.foresee) if stage.recovery else None
    steering = Steering(plan.acts, plan.planner.choose, catches=catches)
    steering.begin(plan.planner.begins(), plan.begins, stage.lift)
    return steering


def world(follower: Steering, stage: Stage) -> Stepper:
    """Where it acts."""
    return roomy(follower.acts, stage).world()


def roomy(acts: Sequence[Act], stage: Stage) -> Stage:
    """The stage, on which limbs may be in each other as deep as the actions have them, not only the clip."""
    if stage.inside is None:
        return stage
    tracks = {id(act.motion): act.motion.track.q for act in acts}
    deep = [deepest(stage.character, q[:: max(round(stage.rate / LOOKS), 1)]) for q in tracks.values()]
    return replace(stage, inside=np.maximum.reduce([stage.inside, *deep]))


METHOD = Method(
    name="steering",
    number=6,
    label="Steer",
    description="Steers the action's own walk: turns, starts, stops and changes its speed as keyed",
    paper="Muico et al. 2009",
    settings=Settings,
    plan=plan,
    start=start,
    stepper=world,
    needs=Needs(cycle=True, led=True, recovers=True, fastest=3.0, directed=True),
    kernels=1,
)
