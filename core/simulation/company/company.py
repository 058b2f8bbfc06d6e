# SPDX-License-Identifier: GPL-3.0-or-later
"""`Company`: the worlds of several characters, stepped together.

Each has begun its step and asked its controller alone. Then those whose bodies are near, or who hold each other, are
solved as one, and everybody else as if alone in the world.
"""

import time as clock
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...character import check
from ...maths.kernel import kernel
from .. import stepper
from ..grabs import Grab
from ..reach import FASTEST
from ..recording import Recorder, Recording
from ..world import Action, DivergedError, World, reason_of
from .crossing import Crossing, find_crossing, make_crossing, meet, name_of, update_box
from .island import Given, Island, Pair

Array = NDArray[np.float64]

FRICTION = 0.5  # between bodies: cloth on cloth
INSIDE = 0.005  # m: bodies of two that begin deeper in each other say that shapes are wrong, not that somebody is hit


@dataclass(frozen=True)
class Hold:
    """A grab between two characters: its body is one's, and what it holds on to is a body of another's.

    Times are in seconds from the company's start on; anchor and orientation are in the other body's frame.
    """

    member: int
    grab: Grab  # with nothing that it holds on to
    other: int
    body: str  # of the other

    def __post_init__(self) -> None:
        if self.grab.other is not None:
            raise ValueError(f"The grab by '{self.grab.body}' holds on to '{self.grab.other}', not to another's body.")
        if self.member == self.other:
            raise ValueError(f"The grab by '{self.grab.body}' is between a character and itself.")


class Company:
    """Several worlds with one contact problem for those that touch.

    holds
        Grabs between two of them.
    begins
        When each enters, in s from the company's start on; at once by default. A world's own clock begins there.
    apart
        Pairs that pass through each other.
    friction
        Coefficient between bodies of two.

    Bodies of two that begin inside each other, as linked arms do, for shapes are thicker than what they stand for, come
    to touch as deep as they begin; `inside` tells how deep. To push them apart would throw both off their feet.
    """

    def __init__(
        self,
        worlds: Sequence[World],
        holds: Sequence[Hold] = (),
        *,
        begins: Sequence[float] | None = None,
        apart: Iterable[Pair] = (),
        friction: float = FRICTION,
    ) -> None:
        self.worlds = tuple(worlds)
        count = len(self.worlds)
        for world in self.worlds[1:]:
            _check_alike(self.worlds[0], world)
        self.begins = (0.0,) * count if begins is None else tuple(begins)
        self._apart = {(min(pair), max(pair)) for pair in apart}
        self._friction = check.not_negative(friction, "friction", "a company")
        self.holds = tuple(holds)
        for hold in self.holds:
            self._check_hold(hold)
        self._anchors = np.full((len(self.holds), 7), np.nan)
        self._crossings: dict[Pair, Crossing] = {}
        self.inside: dict[Pair, dict[tuple[str, str], float]] = {}  # by a body of each, m
        self._there: frozenset[int] = frozenset()  # in the step before
        self._islands: dict[tuple[int, ...], Island] = {}
        self._low, self._high = np.zeros((count, 3)), np.zeros((count, 3))
        self._fastest = np.zeros(count)
        self._near = np.zeros((count * count, 2), dtype=np.int64)

    def step(self, actions: Mapping[int, Action]) -> dict[int, DivergedError]:
        """One step of those members that are there, under what they do; errors of those that could not take it.

        Whoever is not named is not in anybody's way.
        """
        failed: dict[int, DivergedError] = {}
        laws = {}
        for member in sorted(actions):
            world = self.worlds[member]
            try:
                world.begin_step()
                laws[member] = world.law_of(actions[member])
            except DivergedError as error:
                failed[member] = error
        touching = self._touching(list(laws))
        held = [k for k, hold in enumerate(self.holds) if self._is_held(hold, laws)]
        bonds = [*touching, *((self.holds[k].member, self.holds[k].other) for k in held)]
        for members in _together(list(laws), bonds):
            if len(members) == 1:
                try:
                    self.worlds[members[0]].solve(laws[members[0]])
                except DivergedError as error:
                    failed[members[0]] = error
                continue
            between = {pair: crossing for pair, crossing in touching.items() if pair[0] in members}
            failed |= self._solve(members, [self.worlds[one].arguments(laws[one]) for one in members], between)
        return failed

    def _solve(
        self, members: tuple[int, ...], given: Sequence[Given], crossings: Mapping[Pair, Crossing]
    ) -> dict[int, DivergedError]:
        """Those that touch, as one; nobody moves on where that fails."""
        worlds = [self.worlds[member] for member in members]
        holds = [k for k, hold in enumerate(self.holds) if hold.member in members and hold.other in members]
        contacts = sum(int(world.machine.scratch.contacts.filled[0]) for world in worlds)
        contacts += sum(int(crossing.contacts.filled[0]) for crossing in crossings.values())
        island = self._islands.get(members)
        if island is None or contacts > island.room:
            first = self.begins[members[0]]
            island = self._islands[members] = Island(
                dict(zip(members, worlds, strict=True)),
                [self.begins[member] - first for member in members],
                [_timed(self.holds[k], first) for k in holds],
                contacts,
            )
        anchors = self._anchors[holds]
        code = island.solve(given, crossings, anchors)
        self._anchors[holds] = anchors
        for world in worlds:
            world.end_step()
        if code == stepper.STEPPED:
            return {}
        reason = reason_of(code, island.machine.scratch.outcome)
        return {
            member: DivergedError(world.steps, world.time, reason)
            for member, world in zip(members, worlds, strict=True)
        }

    def _touching(self, members: Sequence[int]) -> dict[Pair, Crossing]:
        """Pairs of members with contacts between them."""
        if len(members) < 2:
            return {}
        for member in members:
            self._fastest[member] = update_box(self.worlds[member].machine, self._low[member], self._high[member])
        settings = self.worlds[0].system.settings
        there = np.array(members, dtype=np.int64)
        count = find_near(there, self._low, self._high, self._fastest, settings.margin, settings.dt, self._near)
        found = {}
        for a, b in self._near[:count].tolist():
            if (a, b) in self._apart:
                continue
            crossing = self._crossing(a, b, begins=not {a, b} <= self._there)
            if find_crossing(crossing, self.worlds[a].machine, self.worlds[b].machine):
                found[a, b] = crossing
        self._there = frozenset(members)
        return found

    def _crossing(self, a: int, b: int, *, begins: bool) -> Crossing:
        """Between two members that are near; it begins in the first step that both take."""
        first, second = self.worlds[a], self.worlds[b]
        crossing = self._crossings.get((a, b))
        if crossing is None:
            number = a * len(self.worlds) + b
            crossing = self._crossings[a, b] = make_crossing(first, second, self._friction, number)
        if begins:
            meet(crossing, first.machine, second.machine, INSIDE)
            names = [body.name for world in (first, second) for body in world.parts.bodies]
            deep: dict[tuple[str, str], float] = {}
            for k in np.flatnonzero(crossing.slack):
                one, other = (names[crossing.shapes.body[shape]] for shape in crossing.shapes.pair[k])
                deep[one, other] = max(deep.get((one, other), 0.0), float(crossing.slack[k]))
            if deep:
                self.inside[a, b] = deep
        return crossing

    def _is_held(self, hold: Hold, there: Iterable[int]) -> bool:
        """Whether both are there and the hold acts in this step."""
        if not {hold.member, hold.other} <= set(there):
            return False
        world = self.worlds[hold.member]
        return hold.grab.start <= self.begins[hold.member] + world.time + world.dt < hold.grab.end

    def _check_hold(self, hold: Hold) -> None:
        for member, body in ((hold.member, hold.grab.body), (hold.other, hold.body)):
            if not 0 <= member < len(self.worlds) or body not in self.worlds[member].body_index:
                raise ValueError(f"A grab between characters names an unknown body '{body}'.")


def simulate_together(company: Company, actions: Sequence[Action], *, seconds: float) -> list[Recording]:
    """Step a company for some time, each member under what it does, and record all."""
    recorders = [Recorder(world, seconds=seconds) for world in company.worlds]
    go_on(company, recorders, actions)
    return [recorder.recording() for recorder in recorders]


def go_on(company: Company, recorders: Sequence[Recorder], actions: Sequence[Action]) -> None:
    """Take steps until all is recorded; who is over is not there any more."""
    later = [round(begin / company.worlds[0].dt) for begin in company.begins]
    count = 0
    while any(recorder.goes_on for recorder in recorders):
        there = [k for k, recorder in enumerate(recorders) if recorder.goes_on and count >= later[k]]
        begun = clock.perf_counter()
        failed = company.step({member: actions[member] for member in there})
        took = (clock.perf_counter() - begun) / max(len(there), 1)
        for member in there:
            if member in failed:
                recorders[member].fail(failed[member])
            else:
                recorders[member].note(took)
        count += 1


def _check_alike(first: World, world: World) -> None:
    """ValueError where two worlds cannot take the same steps."""
    a, b = first.system.settings, world.system.settings
    if a._asdict() != b._asdict():
        raise ValueError("Characters in one world need the same rate of steps and the same settings of contacts.")
    if first.character.gravity != world.character.gravity:
        raise ValueError("Characters in one world need the same gravity.")


def _timed(hold: Hold, first: float) -> Grab:
    """A hold by joined names, at the clock of a member that begins `first`, s."""
    grab = hold.grab
    return replace(
        grab,
        body=name_of(grab.body, hold.member),
        other=name_of(hold.body, hold.other),
        start=grab.start - first,
        end=grab.end - first,
    )


def _together(members: Sequence[int], bonds: Iterable[Pair]) -> list[tuple[int, ...]]:
    """Members in parts that no bond joins, each in order."""
    part = {member: member for member in members}
    for a, b in bonds:
        low, high = sorted((part[a], part[b]))
        part = {member: low if of == high else of for member, of in part.items()}
    return [tuple(m for m in members if part[m] == of) for of in sorted(set(part.values()))]


@kernel
def find_near(
    members: NDArray[np.int64],
    low: Array,
    high: Array,
    fastest: Array,
    margin: float,
    dt: float,
    found: NDArray[np.int64],
) -> int:
    """Pairs of members whose boxes are near, in order; returns how many."""
    count = 0
    for i in range(members.shape[0]):
        for j in range(i + 1, members.shape[0]):
            a, b = members[i], members[j]
            reach = margin + dt * min(fastest[a] + fastest[b], FASTEST)
            near = True
            for k in range(3):
                near = near and low[a, k] - high[b, k] < reach and low[b, k] - high[a, k] < reach
            if near:
                found[count, 0], found[count, 1] = a, b
                count += 1
    return count
