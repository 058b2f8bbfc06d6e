# SPDX-License-Identifier: GPL-3.0-or-later
"""`Recovering`: look-ahead control that plans again when it was disturbed, follows the plan, and then its motion.

A bake does not run in real time, so what might be done is rehearsed: going on as it is, then plans in an order that
experience gave, until one is good. Without a disturbance nothing is planned, and the motion is followed to the same
bits.
"""

import math
from collections.abc import Callable, Iterator, Sequence
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
from ..lookahead.lookahead import LookAhead
from ..lookahead.precompute import CostToGo, sweep
from ..method import Follower
from ..stage import Stage
from .capture import deviation, growth_rate
from .footholds import FARTHEST, Choice
from .hits import Hits
from .homing import THERE, Path
from .legs import Legs
from .looseness import pose_shares
from .motion_ahead import FEWER, motion_ahead
from .plan import Plan, Question, StoppedError, make_plan
from .rehearsal import Verdict, rehearse

Array = NDArray[np.float64]
GoesOn = Callable[[], bool]

FELT = 10.0  # N, of a push that counts
DISTURBED = 0.02  # m, that the extrapolated centre of mass is off after a push worth a thought
LOSING = 0.12  # m, by which it is off when balance is being lost, whatever the reason
FORESEEN = 0.24  # m, by which it may be off where a rehearsal that stayed up went the same way
AGAIN = 0.3  # s between two plans, and of a push before the first that does not wait for its end
NEARER = 3  # plans of fewer steps that are tried where none of more stays up
HOPELESS = 2  # failures in a row, after which no more is tried
REHEARSED = 1.5  # laps, or
REHEARSED_SECONDS = 2.0  # s where nothing repeats, after a plan
APART = 0.08  # m: legs that come nearer would touch
CALM = 0.06  # m, that the extrapolated centre of mass is off at most, to go back to the path
GIVES_UP = 10  # attempts in a row to go back to the path that came to nothing
STRONG = 2.5  # times the motion's own greatest torque: more than that is not taken, if there is a choice
CHOICES = (
    Choice(0.9),
    Choice(0.9, speed=1.35),
    Choice(0.9, speed=1.35, apart=False),
    Choice(0.9, speed=1.5),
    Choice(0.9, speed=1.5, apart=False),
    Choice(0.6, speed=1.35),
    Choice(0.9, apart=False),
    Choice(0.6),
    Choice(0.6, speed=1.35, apart=False),
    Choice(1.1, speed=1.35, apart=False),
)


Scored = tuple[tuple[float, ...], Plan] | None


class Detour(Follower):
    """A plan, and then the motion again."""

    def __init__(self, motion: LookAhead, plan: Plan) -> None:
        self.motion, self.plan = motion, plan
        self.done = 0  # steps of the plan
        plan.controller.seek()
        self._over = False

    @property
    def over(self) -> bool:
        """Whether the motion is followed again."""
        return self._over

    @property
    def row(self) -> int:
        """The motion's frame now."""
        return self.motion.row if self._over else self.plan.places[self.done].frame

    @property
    def lap(self) -> int:
        """And its lap."""
        return self.motion.lap if self._over else self.plan.places[self.done].lap

    def reference_state(self) -> tuple[Array, Array]:
        """Of the plan, or of the motion."""
        return (self.motion if self._over else self.plan.controller).reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of the plan, or of the motion."""
        if self._over:
            return self.motion.law(state, contacts)
        law = self.plan.controller.law(state, contacts)
        self.done += 1
        if self.done == len(self.plan.places) - 1:
            self.motion.place, self._over = self.plan.places[-1], True
        return law


class Recovering(Follower):
    """A look-ahead controller that recovers."""

    def __init__(self, motion: LookAhead, reference: Reference, stage: Stage, value: CostToGo | None = None) -> None:
        self._known = value  # what the motion costs, if that is known already
        self.motion, self.reference, self._stage, self._effort = motion, reference, stage, stage.recovery
        self._pose_share = pose_shares(motion.character, stage.looseness)
        self._loose = bool((self._pose_share != 1.0).any())
        self._recoveries: list[Recovery] = []
        self._detour: Detour | None = None
        self._pushes = list(_pushes(stage))
        self._ends = sorted(end for _, end in self._pushes)
        self._hits = Hits(stage.scene, {body.name for body in stage.character.bodies})
        self._failures = 0  # in a row, to find a plan that stays up
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
        ended = bool(self._ends) and stepper.time >= self._ends[0] - 0.5 * stepper.dt
        while self._ends and stepper.time >= self._ends[0] - 0.5 * stepper.dt:
            self._ends.pop(0)
        hit = self._hits.ended(stepper) and stepper.time >= self._next
        ended = ended or hit
        if not ended and (stepper.time < self._next or not self._felt(stepper.time)):
            return
        q, v = stepper.q, stepper.v
        character = self.motion.character
        omega = growth_rate(character, q, self.motion.place.anchor[2])
        off = deviation(character, (q, v), self.reference_state(), omega)
        away = float(np.linalg.norm(off))
        if ended or away < DISTURBED:
            self._failures = 0
        losing = FORESEEN if stepper.time < self._sure else LOSING
        calm = away < (DISTURBED if ended else losing)
        if not calm and self._failures >= HOPELESS:
            return
        try:
            if not calm:
                self._next = stepper.time + AGAIN
                self._recover(stepper, goes_on)
            elif self._stage.returns and away < CALM:
                self._return(stepper, goes_on)
        except StoppedError:
            return

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """The plans that were followed."""
        return self._recoveries

    def notes(self, simulation: Simulation) -> tuple[str, ...]:
        """What rehearsals found."""
        return self.motion.notes(simulation)

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
    def _rehearsal_world(self) -> World:
        """The stage's without its pushes: nobody foresees those."""
        return self._stage.world(pushed=False)

    @cached_property
    def _understudy(self) -> LookAhead:
        """The motion's controller, to rehearse with."""
        own = self.motion
        return LookAhead(own.character, own.track, own.settings, own.policy, own.terrain)

    @cached_property
    def _legs(self) -> Legs:
        return Legs(self.motion.character, self.reference)

    def _felt(self, time: float) -> bool:
        """Whether anything has disturbed the motion so far, so that one without disturbances is left as it is."""
        if any(begin < time < min(begin + AGAIN, end) for begin, end in self._pushes):
            return False
        return any(begin < time for begin, _ in self._pushes) or bool(self._stage.scene.props)

    def _recover(self, world: World, goes_on: GoesOn) -> None:
        state = world.save_state()
        after = self._after(world)
        if self._detour is None and not self._loose:
            self._understudy.place = self.motion.place
            verdicts = [self._rehearse(state, self._understudy, after, goes_on, seed) for seed in (None, 0)]
            if all(self._good(verdict) for verdict in verdicts):
                return
        question = self._question(world)
        best: Scored = None
        possible = False  # a plan that stays up and is not too strong, if only the legs came too near
        tried = 0
        for choice in _in_order(question):
            if possible and not choice.apart:
                continue
            tried += 1
            if tried > self._effort:
                break
            verdict, best = self._try(question, choice, state, after, goes_on, best)
            if verdict is None:
                continue
            if self._good(verdict):
                break
            possible = possible or (verdict.stays_up and verdict.torque <= self._strong)
        if best is None or best[0][0] < 1.0:
            best = self._nearer(question, state, after, goes_on, best)
        if (best is None or best[0][0] < 1.0) and self._detour is None:
            self._understudy.place = self.motion.place
            if self._rehearse(state, self._understudy, after, goes_on).stays_up:  # stiffly, it needs no other steps
                self._sure = world.time + after * world.dt
                return
        if best is not None:
            self._follow(best[1], world.time)
            if best[0][0] >= 1.0:
                self._sure = world.time + (len(best[1].places) - 1 + after) * world.dt
        if best is None:  # nothing possible is near, and later it is farther
            self._failures = HOPELESS
        else:
            self._failures = 0 if best[0][0] >= 1.0 else self._failures + 1

    def _nearer(
        self, question: Question, state: dict[str, NDArray[np.generic]], after: int, goes_on: GoesOn, best: Scored
    ) -> Scored:
        """The best so far, or one that plans fewer steps: what is farther ahead is harder to make possible."""
        ahead = motion_ahead(question.controller, self.reference, FEWER)
        if ahead.steps == question.ahead.steps:
            return best
        question = replace(question, ahead=ahead)
        for choice in _in_order(question)[: min(NEARER, self._effort)]:
            verdict, best = self._try(question, choice, state, after, goes_on, best)
            if verdict is not None and verdict.stays_up:
                break
        return best

    def _try(
        self,
        question: Question,
        choice: Choice,
        state: dict[str, NDArray[np.generic]],
        after: int,
        goes_on: GoesOn,
        best: Scored,
    ) -> tuple[Verdict | None, Scored]:
        """Plan and rehearse a choice, None where no plan is possible; and the best plan so far."""
        plan = make_plan(question, choice, goes_on)
        if plan is None:
            return None, best
        steps = len(plan.places) - 1 + after
        verdict = self._rehearse(state, Detour(self._understudy, plan), steps, goes_on)
        score = self._score(verdict, plan)
        return verdict, (score, plan) if best is None or score > best[0] else best

    def _return(self, world: World, goes_on: GoesOn) -> None:
        """Go back towards the path, if that can be done."""
        if self._path is None or self._detour is not None or self._lost_ways >= GIVES_UP:
            return
        away = self._path.away(self.motion.place)
        if float(np.linalg.norm(away)) < THERE:
            return
        self._next = world.time + AGAIN
        question = replace(self._question(world), away=away, pose_share=np.ones_like(self._pose_share), arms=0.0)
        plan = make_plan(question, CHOICES[0], goes_on)
        if plan is None or not np.linalg.norm(plan.shift):
            self._lost_ways += 1
            return
        steps = len(plan.places) - 1 + self._after(world)
        if not self._good(self._rehearse(world.save_state(), Detour(self._understudy, plan), steps, goes_on)):
            self._lost_ways += 1
            return
        self._lost_ways = 0
        self._detour = Detour(self.motion, plan)
        self._recoveries.append(Recovery(world.time, "home", float(np.linalg.norm(plan.shift))))

    def _after(self, world: World) -> int:
        """Steps that are rehearsed after a plan."""
        laps = round(REHEARSED * len(self.motion.track.q))
        return laps if self.motion.track.cycle is not None else round(REHEARSED_SECONDS * world.rate)

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
            motion = self._understudy
            motion.place = self._detour.plan.places[self._detour.done]
        omega = growth_rate(motion.character, q, motion.place.anchor[2])
        ahead = motion_ahead(motion, self.reference)
        return Question(
            controller=motion,
            reference=self.reference,
            value=self._value,
            terrain=self._stage.terrain,
            ahead=ahead,
            actual=(q, v),
            off=deviation(motion.character, (q, v), motion.reference_state(), omega),
            omega=omega,
            facing=_facing(ahead.q),
            time=world.time,
            pose_share=self._pose_share,
            arms=self._stage.looseness.get("arms", 0.0),
        )

    def _rehearse(
        self,
        state: dict[str, NDArray[np.generic]],
        follower: Follower,
        steps: int,
        goes_on: GoesOn,
        seed: int | None = None,
    ) -> Verdict:
        self._rehearsal_world.load_state(state)
        place = self._understudy.place
        verdict = rehearse(self._stage.character, self._rehearsal_world, follower, steps, self._legs, goes_on, seed)
        self._understudy.place = place
        return verdict

    @cached_property
    def _strong(self) -> float:
        return STRONG * float(np.abs(self.motion.track.torque).max(initial=0.0))

    def _good(self, verdict: Verdict) -> bool:
        return verdict.stays_up and verdict.torque <= self._strong and verdict.legs >= APART

    def _score(self, verdict: Verdict, plan: Plan) -> tuple[float, ...]:
        """First staying up, then what looks possible, then small steps."""
        farthest = max((float(np.linalg.norm(step.shift)) for step in plan.steps), default=0.0)
        ugly = max(0.0, verdict.torque / self._strong - 1.0) + max(0.0, 1.0 - verdict.legs / APART)
        return verdict.share, -ugly, -farthest


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
    if abs(ahead) > abs(left):
        return Recovery(time, "ahead" if ahead > 0.0 else "back", float(np.linalg.norm(shift)))
    return Recovery(time, "left" if left > 0.0 else "right", float(np.linalg.norm(shift)))


def _in_order(question: Question) -> list[Choice]:
    """Choices that differ, first those that ask for no longer steps than there can be."""
    found: dict[tuple[float, ...], tuple[bool, int, Choice]] = {}
    for number, choice in enumerate(CHOICES):
        _, steps = question.steps(choice)
        key = (choice.speed, *(round(float(x), 3) for step in steps for x in step.shift))
        found.setdefault(key, (any(step.wanted > FARTHEST for step in steps), number, choice))
    return [choice for _, _, choice in sorted(found.values(), key=lambda entry: entry[:2])]


def _pushes(stage: Stage) -> Iterator[tuple[float, float]]:
    """From when to when each push is felt, s."""
    for push in stage.scene.pushes:
        strong = np.flatnonzero(np.linalg.norm(push.force, axis=1) > FELT)
        if len(strong):
            first, last = max(int(strong[0]) - 1, 0), min(int(strong[-1]) + 1, len(push.force) - 1)
            yield push.start + first / push.rate, push.start + last / push.rate
