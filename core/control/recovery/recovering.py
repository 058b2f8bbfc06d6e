# SPDX-License-Identifier: GPL-3.0-or-later
"""`Recovering`: look-ahead control that plans again when it was disturbed, follows the plan, and then its motion.

A bake does not run in real time, so what might be done is rehearsed: going on as it is, then plans in an order that
experience gave, until one is good. Without a disturbance nothing is planned, and the motion is followed to the same
bits.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...motion.reference import Reference
from ...simulation import World
from ...simulation.outcome import Recovery, Simulation
from ...simulation.recording import Stepper
from ..law import AffineLaw, State
from ..lookahead.lookahead import LookAhead, Onward
from ..lookahead.policy import CostToGo
from ..lookahead.precompute import sweep
from ..method import Follower
from ..stage import Stage
from .added import stands, way_home
from .capture import deviation, growth_rate
from .choices import CHOICES, in_order
from .detour import Detour
from .disturbances import Disturbances
from .footholds import Choice
from .going_on import going_on
from .homing import FAR, THERE, Path, nearer
from .judging import STRAYS, GoesOn, Judge, Saved
from .looseness import pose_shares
from .motion_ahead import FEWER, motion_ahead, unrolled
from .plan import Plan, Question, StoppedError, make_plan
from .uneven import Uneven, goes_up_or_down

Array = NDArray[np.float64]

DISTURBED = 0.02  # m, that the extrapolated centre of mass is off after a push worth a thought
LOSING = 0.12  # m, by which it is off when balance is being lost, whatever the reason
AGAIN = 0.3  # s between two plans
NEARER = 3  # plans of fewer steps that are tried where none of more stays up
HOPELESS = 2  # failures in a row, after which no more is tried
MOST_TRIED = 27  # plans after one push: who needs more falls in the end, and is to be told soon
CALM = 0.06  # m, that the extrapolated centre of mass is off at most, to go back to the path
GIVES_UP = 10  # attempts in a row to go back to the path that came to nothing
ONWARD = Choice(1e-9)  # no foot is put down elsewhere: what is off where nothing pushed, feet can hold


Scored = tuple[tuple[float, ...], Plan] | None
Made = dict[tuple[int, Choice], Plan | None]  # by frames ahead


class Recovering(Follower):
    """A look-ahead controller that recovers."""

    def __init__(
        self,
        motion: LookAhead,
        reference: Reference,
        stage: Stage,
        value: CostToGo | None = None,
        disturbances: Disturbances | None = None,
    ) -> None:
        self._known = value  # what the motion costs, if that is known already
        self.motion, self.reference, self._stage, self._effort = motion, reference, stage, stage.recovery
        motion.onward = None  # until a plan may be through with the motion too early
        self._pose_share = pose_shares(motion.character, stage.looseness)
        self._loose = bool((self._pose_share != 1.0).any())
        self._recoveries: list[Recovery] = []
        self._detour: Detour | None = None
        self._disturbances = disturbances or Disturbances(stage)
        self._uneven = Uneven(motion, reference, stage)
        self._judge = Judge(motion, reference, stage, self._disturbances.pushing)
        self._climbs = goes_up_or_down(reference)
        self._returns = stage.returns or self._climbs
        self._laid = 0  # plans onto other ground
        self._failures = 0  # in a row, to find a plan that stays up
        self._tried = 0  # plans since the last push
        self._path: Path | None = None  # once it has been left
        self._lost_ways = 0  # attempts in a row to go back to it
        self._next = -math.inf  # s, before which nothing is planned but after a push
        self._sure = -math.inf  # s, until which it was rehearsed that it stays up

    @property
    def row(self) -> int:
        """The motion's frame in which the character is to be now."""
        return self._acting.row

    @property
    def lap(self) -> int:
        """How many times a cycle has been walked."""
        return self._acting.lap

    def reference_state(self) -> tuple[Array, Array]:
        """Of a plan, or of the motion."""
        return self._acting.reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of a plan, or of the motion."""
        law = self._acting.law(state, contacts)
        if self._detour is not None and self._detour.over:
            self._detour = None
        return law

    def between_steps(self, stepper: Stepper, goes_on: GoesOn) -> None:
        """Plan again where that is called for."""
        assert isinstance(stepper, World)
        if self._uneven.calls(self.row):
            self._step_onto_ground(stepper, goes_on)
        ended = self._disturbances.ended(stepper, self._next)
        if ended or (stepper.time >= self._next and self._disturbances.felt(stepper.time)):
            self.answer(stepper, goes_on, ended=ended)

    def answer(self, stepper: World, goes_on: GoesOn, *, ended: bool) -> None:
        """Plan again where who is so far off has to; a push may have ended just now."""
        off = self._disturbances.off(stepper, self.reference_state(), self.motion.place.anchor[2])
        away = float(np.linalg.norm(off))
        if ended or away < DISTURBED:
            self._failures = 0
        if ended:
            self._tried = 0
        calm = away < (DISTURBED if ended else LOSING)
        if not calm and (self._failures >= HOPELESS or self._tried >= MOST_TRIED):
            return
        try:
            if not calm:
                self._next = stepper.time + AGAIN
                self._recover(stepper, goes_on)
            elif self._returns and (away < CALM or self._climbs):  # who climbs had better be there in time
                self._return(stepper, goes_on)
        except StoppedError:
            return

    def give_up(self) -> None:
        """Leave a plan for the motion where that is now."""
        if self._detour is not None and not self._detour.over:
            self.motion.place = self._detour.plan.places[self._detour.done]
        self._detour = None

    def begin_anew(self) -> None:
        """After it got up: from there its path goes on."""
        self._detour = self._path = None
        self._failures = self._tried = self._lost_ways = 0
        self._sure = -math.inf

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """The plans that were followed."""
        return self._recoveries

    @property
    def follows_motion(self) -> bool:
        """Whether it follows its motion now, not a plan."""
        return self._detour is None

    def notes(self, simulation: Simulation) -> tuple[str, ...]:
        """What rehearsals found, and that steps were planned onto other ground."""
        told = (
            (f"The ground is not level: the next steps were planned onto it {self._laid} times.",) if self._laid else ()
        )
        return (*self.motion.notes(simulation), *told)

    @property
    def _acting(self) -> Follower:
        return self.motion if self._detour is None else self._detour

    @cached_property
    def _value(self) -> CostToGo:
        """What the motion costs from each of its frames on."""
        if self._known is not None:
            return self._known
        return sweep(self.motion.character, self.motion.track, self.motion.settings)[1]

    @cached_property
    def _onward(self) -> Onward | None:
        return going_on(self.reference)

    def _step_onto_ground(self, world: World, goes_on: GoesOn) -> None:
        """Plan the next steps onto the ground that is there, if that is other than the motion has it."""
        question = self._question(world)
        if not question.uneven:
            return
        try:
            for ahead in (question.ahead, motion_ahead(question.ahead, self.reference, FEWER)):
                plan = make_plan(replace(question, ahead=ahead), ONWARD, goes_on)
                if plan is not None:
                    self._detour = Detour(self.motion, plan)
                    self._laid += 1
                    return
        except StoppedError:
            return

    def _recover(self, world: World, goes_on: GoesOn) -> None:
        """Follow the best plan; one that has legs pass through each other only where no other stays up."""
        if self._goes_on_well(world.save_state(), world.time, goes_on):
            return
        self.motion.onward = self._judge.understudy.onward = self._onward
        question = self._question(world)
        made: Made = {}
        best: Scored = None
        crossed = False
        for crossing in (False, True) if world.heeds_itself else (False,):
            world.let_legs_cross(crossing)
            state = world.save_state()
            found = self._best(question, state, goes_on, made)
            if best is None or (found is not None and found[0] > best[0]):
                best, crossed = found, crossing
            if best is not None and best[0][0] >= 1.0:
                break
            if self._detour is None:
                self._judge.understudy.place = self.motion.place
                after = self._judge.after(world.time)
                stiffly = self._judge.rehearsed(state, self._judge.understudy, after, goes_on)
                if stiffly.stays_up:  # it needs no other steps
                    self._sure = world.time + after * world.dt
                    return
        world.let_legs_cross(crossed)
        if best is None:  # nothing possible is near, and later it is farther
            self._failures = HOPELESS
            return
        stays_up = best[0][0] >= 1.0
        self._follow(best[1], world.time)
        self._failures = 0 if stays_up else self._failures + 1
        if stays_up:
            self._sure = world.time + self._judge.steps(best[1], world.time) * world.dt

    def _best(self, question: Question, state: Saved, goes_on: GoesOn, made: Made) -> Scored:
        """The best plan from a state."""
        best = self._search(question, self._effort, state, goes_on, made, None)
        if best is None or best[0][0] < 1.0:  # what is farther ahead is harder to make possible
            ahead = motion_ahead(question.whole, self.reference, FEWER)
            if ahead.steps != question.ahead.steps:
                fewer = min(NEARER, self._effort)
                best = self._search(replace(question, ahead=ahead), fewer, state, goes_on, made, best)
        return best

    def _search(
        self, question: Question, effort: int, state: Saved, goes_on: GoesOn, made: Made, best: Scored
    ) -> Scored:
        """The first plan that is good, of so many; or the best of them, which may be the best so far."""
        possible = False  # a plan that stays up, smoothly and not too strong, if only the legs came too near
        tried = 0
        for choice in in_order(question):
            if possible and not choice.apart:
                continue
            tried += 1
            if tried > effort:
                break
            name = (question.ahead.steps, choice)
            if name not in made:
                self._tried += 1
                made[name] = make_plan(question, choice, goes_on)
            plan = made[name]
            if plan is None:
                continue
            verdict = self._judge.judged(state, plan, question.time, goes_on)
            score = self._judge.score(verdict, plan)
            if best is None or score > best[0]:
                best = (score, plan)
            smooth = verdict.strays <= STRAYS
            if self._judge.good(verdict) and verdict.steady >= 1.0 and smooth and self._judge.keeps(plan):
                break
            possible = possible or (verdict.stays_up and verdict.torque <= self._judge.strong and smooth)
        return best

    def _goes_on_well(self, state: Saved, time: float, goes_on: GoesOn) -> bool:
        """Whether what is followed needs no other plan."""
        detour = self._detour
        if detour is not None:
            controller = detour.plan.controller
            place = controller.place
            steps = self._judge.steps(detour.plan, time - detour.done * self.motion.track.dt) - detour.done
            verdict = self._judge.rehearsed(state, detour.twin(self._judge.understudy), steps, goes_on)
            controller.place = place
            return verdict.stays_up
        if self._loose and time >= self._sure:
            return False  # it would stand stiffly
        self._judge.understudy.place = self.motion.place
        after = self._judge.after(time)
        verdicts = [self._judge.rehearsed(state, self._judge.understudy, after, goes_on, seed) for seed in (None, 0)]
        chosen = time < self._sure  # as the best that there was, good or not
        return all(verdict.stays_up if chosen else self._judge.good(verdict) for verdict in verdicts)

    def _return(self, world: World, goes_on: GoesOn) -> None:
        """Go back towards the path, if that can be done."""
        if self._path is None or self._detour is not None or self._lost_ways >= GIVES_UP:
            return
        away = self._path.away(self.motion.place)
        if float(np.linalg.norm(away)) >= THERE:
            self._go_back(world, goes_on, away)

    def go_back(self, world: World, goes_on: GoesOn, away: Array) -> None:
        """Go back by as much (2,) as it is away, m, if that can be done: who follows no path, but was to come there."""
        with contextlib.suppress(StoppedError):
            self._go_back(world, goes_on, away)

    def _go_back(self, world: World, goes_on: GoesOn, away: Array) -> None:
        self._next = world.time + AGAIN
        question = replace(self._question(world), away=away, pose_share=np.ones_like(self._pose_share), arms=0.0)
        choice = CHOICES[0]
        if stands(question.ahead, self.reference):
            added = way_home(question.known, nearer(away))
            if added is None or float(np.linalg.norm(away)) < FAR:
                return
            choice = Choice(1.0, added=added)
        plan = make_plan(question, choice, goes_on)
        if plan is None or not np.linalg.norm(plan.shift):
            self._lost_ways += 1
            return
        detour, steps = Detour(self._judge.understudy, plan), self._judge.steps(plan, world.time)
        if not self._judge.good(self._judge.rehearsed(world.save_state(), detour, steps, goes_on)):
            self._lost_ways += 1
            return
        self._lost_ways = 0
        self._detour = Detour(self.motion, plan)
        added_steps = 0 if choice.added is None else choice.added.count
        self._recoveries.append(Recovery(world.time, "home", float(np.linalg.norm(plan.shift)), added_steps))

    def _follow(self, plan: Plan, time: float) -> None:
        if self._path is None:
            self._path = Path(self.motion)
        self._lost_ways = 0
        self._detour = Detour(self.motion, plan)
        self._next = max(self._next, time + AGAIN)
        self._recoveries.append(_told(plan, time, _facing(plan.controller.track.q)))

    def _question(self, world: World) -> Question:
        motion, q, v = self.motion, world.q, world.v
        if self._detour is not None:
            motion = self._judge.understudy
            motion.place = self._detour.plan.places[self._detour.done]
        omega = growth_rate(motion.character, q, motion.place.anchor[2])
        whole = unrolled(motion, self.reference)
        ahead = motion_ahead(whole, self.reference)
        laid = self._uneven.laid(ahead, q)
        if laid is not None:
            ahead = whole = laid
        coming = self._disturbances.coming(world, omega)
        return Question(
            controller=motion,
            reference=self.reference,
            value=self._value,
            terrain=self._stage.terrain,
            ahead=ahead,
            whole=whole,
            uneven=laid is not None,
            actual=(q, v),
            off=deviation(motion.character, (q, v), motion.reference_state(), omega) + coming,
            coming=coming,
            omega=omega,
            facing=_facing(ahead.q),
            time=world.time,
            pose_share=self._pose_share,
            arms=self._stage.looseness.get("arms", 0.0),
            pushes=self._disturbances.pushing.acting(world.time, world.dt),
        )


def _facing(q: Array) -> Array:
    """The way (2,) in which the root faces on average over poses (n, nq)."""
    w, x, y, z = q[:, 3:7].T
    ahead = np.array([(1.0 - 2.0 * (y * y + z * z)).mean(), (2.0 * (x * y + w * z)).mean()])
    result: Array = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
    return result


def _told(plan: Plan, time: float, facing: Array) -> Recovery:
    if not plan.steps:
        return Recovery(time, "caught", 0.0)
    shift = max((step.shift for step in plan.steps), key=lambda shift: float(np.linalg.norm(shift)))
    ahead, left = float(shift @ facing), float(shift @ np.array([-facing[1], facing[0]]))
    added = 0 if plan.choice.added is None else plan.choice.added.count
    if abs(ahead) > abs(left):
        return Recovery(time, "ahead" if ahead > 0.0 else "back", float(np.linalg.norm(shift)), added)
    return Recovery(time, "left" if left > 0.0 else "right", float(np.linalg.norm(shift)), added)
