# SPDX-License-Identifier: GPL-3.0-or-later
"""`Judge`: what becomes of plans that are rehearsed beside a bake, and which of them is best."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...dynamics import body_poses
from ...motion.reference import Reference
from ...simulation import Push, World
from ..lookahead.lookahead import LookAhead
from ..method import Follower
from ..stage import Stage
from .detour import Detour
from .legs import Legs
from .plan import Plan
from .pushing import Pushing
from .rehearsal import HARSH, NOISE, Verdict, rehearse

REHEARSED = 1.5  # laps, or
REHEARSED_SECONDS = 2.0  # s where nothing repeats, after a plan
REHEARSED_LEAST = 0.5  # s, where it ends earlier
STRAYS = 0.08  # m: a plan that the body is led off farther is followed roughly
APART = 0.08  # m: legs that come nearer would touch
NARROWER = 0.01  # m, by which they may come nearer than the motion has them that has them nearer still, as in bends
LOOKS = 30.0  # 1/s, how often the motion is looked at for that
ASIDE = 0.25  # m that steps of one who has a path lead aside of it, if there is a choice
STRONG = 2.5  # times the motion's own greatest torque: more than that is not taken, if there is a choice

GoesOn = Callable[[], bool]
Saved = dict[str, NDArray[np.generic]]  # a world's state


class Judge:
    """Of the plans of one motion on one stage."""

    def __init__(self, motion: LookAhead, reference: Reference, stage: Stage, pushing: Pushing) -> None:
        self._motion, self._reference, self._stage, self._pushing = motion, reference, stage, pushing
        self._worlds: dict[tuple[Push, ...], World] = {}  # by the pushes that act in them

    def _world(self, time: float) -> World:
        """The stage's, with those pushes that act already: nobody foresees others."""
        acting = self._pushing.acting(time, 1.0 / self._stage.rate)
        if acting not in self._worlds:
            scene = replace(self._stage.scene, pushes=acting)
            self._worlds[acting] = replace(self._stage, scene=scene).world()
        return self._worlds[acting]

    @cached_property
    def understudy(self) -> LookAhead:
        """The motion's controller, to rehearse with."""
        own = self._motion
        return LookAhead(own.character, own.track, own.settings, own.policy, own.terrain)

    @cached_property
    def _legs(self) -> Legs:
        return Legs(self._motion.character, self._reference)

    def judged(self, state: Saved, plan: Plan, time: float, goes_on: GoesOn) -> Verdict:
        """What becomes of a plan; if it stays up, with noise as well."""
        steps = self.steps(plan, time)
        verdict = self.rehearsed(state, Detour(self.understudy, plan), steps, goes_on)
        if not verdict.stays_up:
            return verdict
        replica = self.rehearsed(state, Detour(self.understudy, plan), steps, goes_on, 1, HARSH)
        return replace(verdict, steady=replica.share)

    def steps(self, plan: Plan, time: float) -> int:
        """That are rehearsed of a plan that begins then, and after it."""
        steps = len(plan.places) - 1
        return steps + self.after(time + steps * self._motion.track.dt)

    def after(self, time: float) -> int:
        """Steps that are rehearsed from then on, not far beyond the end of the bake where nothing repeats.

        A plan in a hurry is through with the motion before the bake is over, and has to stand at its end.
        """
        track = self._motion.track
        if track.cycle is not None:
            return round(REHEARSED * len(track.q))
        left = min(self._stage.seconds, self._stage.ends) - time
        return round(max(REHEARSED_LEAST, min(REHEARSED_SECONDS, left)) / track.dt)

    def rehearsed(
        self,
        state: Saved,
        follower: Follower,
        steps: int,
        goes_on: GoesOn,
        seed: int | None = None,
        noise: float = NOISE,
    ) -> Verdict:
        """What becomes of it, followed from a state on; with a `seed`, off it."""
        world = self._world(float(state["clock"][0]))
        world.load_state(state)
        place = self.understudy.place
        verdict = rehearse(self._stage.character, world, follower, steps, self._legs, goes_on, seed, noise)
        self.understudy.place = place
        return verdict

    @cached_property
    def strong(self) -> float:
        """N m, beyond which a plan is too strong."""
        return STRONG * float(np.abs(self._motion.track.torque).max(initial=0.0))

    @cached_property
    def _apart(self) -> float:
        """How near legs may come, m."""
        q = self._motion.track.q
        every = max(round(1.0 / (LOOKS * self._motion.track.dt)), 1)
        own = min(self._legs.distance(body_poses(self._motion.character, row)) for row in q[::every])
        return max(min(APART, own - NARROWER), NARROWER)

    def good(self, verdict: Verdict) -> bool:
        """Whether nothing better has to be looked for."""
        return verdict.stays_up and verdict.torque <= self.strong and verdict.legs >= self._apart

    def keeps(self, plan: Plan) -> bool:
        """Whether its steps keep to the path, of who has one."""
        has_path = self._stage.returns or self._stage.path is not None
        return not has_path or _farthest(plan) <= ASIDE

    def score(self, verdict: Verdict, plan: Plan) -> tuple[float, ...]:
        """First staying up, then what looks possible, then small steps."""
        ugly = max(0.0, verdict.torque / self.strong - 1.0) + max(0.0, 1.0 - verdict.legs / self._apart)
        ugly += max(0.0, verdict.strays / STRAYS - 1.0)
        return 0.5 * (verdict.share + verdict.steady), -ugly, -_farthest(plan)


def _farthest(plan: Plan) -> float:
    """By how much its steps are moved at most, m."""
    return max((float(np.linalg.norm(step.shift)) for step in plan.steps), default=0.0)
