# SPDX-License-Identifier: GPL-3.0-or-later
"""A push on a steered walk: the recovery of any motion, on what the walk would do next; then the planner goes on.

What it would do next is the rest of its action, and then what the planner would choose if nothing happened. From where
a plan leads back into that it is followed to the end of the action, where the next is chosen as ever.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact.detection import Contacts
from ...motion.cycle import Cycle
from ...motion.sequence import NOWHERE, Piece, concatenate, laps, then
from ...simulation import World
from ...simulation.law import AffineLaw, State
from ...simulation.outcome import Recovery
from ..lookahead.lookahead import LookAhead
from ..lookahead.precompute import sweep
from ..lookahead.track import Track
from ..recovery import Disturbances, Recovering
from ..stage import Stage
from .repertoire import FOLLOWED, Act, turned

Array = NDArray[np.float64]

AHEAD = 5.5  # s that are laid out at least: recovery looks as far

# last action, the frame that moves with the walk in the world as it ends, and when that is, s -> the next
Foresee = Callable[[int, Cycle, float], int]


def anywhere(root: Array) -> Array | None:
    """For who may stand wherever it is."""
    del root
    return None


class Catches(NamedTuple):
    """What somebody needs who catches pushes."""

    stage: Stage
    foresee: Foresee
    # where the root is (2,) -> by how much that is away from where it was to stand, m, where that is worth steps
    away: Callable[[Array], Array | None] = anywhere


class Seam(NamedTuple):
    """Where one action ends and the next begins."""

    frame: int  # of what is laid out
    number: int  # of the action
    way: Cycle  # of the frame that moves with the walk


class Laid(NamedTuple):
    """What a walk does next, in the coordinates of the motion of its first action."""

    pieces: list[Piece]
    seams: list[Seam]
    looks: NDArray[np.int64]  # (frames,) of the clip's cycle, whose looks each frame has


def lay_out(acts: Sequence[Act], number: int, done: int, follow: Callable[[Seam], int]) -> Laid:
    """From so many steps of an action on: its rest, and then at each seam the action that is to follow."""
    pieces, seams, looks, frames = list[Piece](), list[Seam](), list[NDArray[np.int64]](), 0
    act, way, start = acts[number], NOWHERE, acts[number].start + done
    least = round(AHEAD * act.motion.reference.rate)
    if act.motion.reference.cycle is not None:
        start %= act.motion.reference.steps  # the controller's coordinates are those of its lap
    while True:
        reference, left = act.motion.reference, act.steps - done
        frames += left
        seams.append(Seam(frames, number, then(way, then(laps(reference, start + left), act.after))))
        looks.append(act.sample[done : done + left])
        is_last = frames >= least
        pieces.append(Piece(act.action.name, reference, range(start, start + left + is_last), way))
        if is_last:
            return Laid(pieces, seams, np.concatenate([*looks, act.sample[-1:]]))
        number, done = follow(seams[-1]), 0
        act = acts[number]
        way, start = then(seams[-1].way, act.before), act.start


class Catching:
    """Follows what comes next, and plans that lead back into it."""

    def __init__(
        self,
        acts: Sequence[Act],
        number: int,
        done: int,
        foresee: Foresee,
        time: float,
        stage: Stage,
        disturbances: Disturbances,
    ) -> None:
        """So many steps of an action are done at that time, s."""
        anchor = acts[number].controller.place.anchor
        here = Cycle((anchor[0], anchor[1]), anchor[3])
        laid = lay_out(
            acts, number, done, lambda seam: foresee(seam.number, then(here, seam.way), time + seam.frame / stage.rate)
        )
        reference = concatenate([piece for piece in laid.pieces if len(piece.frames)])
        character, last = reference.character, laid.seams[-1]
        ends = next(
            act for act in acts if act.action.source == acts[last.number].action.target and act.level is not None
        )
        track = Track.of(reference, settles=False)
        policy, value = sweep(character, track, FOLLOWED, turned(character, ends.cost, last.way))
        self._laid, self._motion = laid, LookAhead(character, track, FOLLOWED, policy, stage.terrain)
        self._motion.seek(0, anchor)
        # the planner finds the way back by itself
        self._recovering = Recovering(self._motion, reference, replace(stage, returns=False), value, disturbances)

    def answer(self, world: World, goes_on: Callable[[], bool], *, ended: bool) -> None:
        """Think about what to do now; a push may have ended."""
        self._recovering.answer(world, goes_on, ended=ended)

    def go_back(self, world: World, goes_on: Callable[[], bool], away: Array) -> None:
        """Step by as much (2,) as it stands away from where it was to come, m."""
        self._recovering.go_back(world, goes_on, away)

    def between_steps(self, world: World, goes_on: Callable[[], bool]) -> None:
        """Plan again where that is called for."""
        self._recovering.between_steps(world, goes_on)

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of a plan, or of what comes next."""
        return self._recovering.law(state, contacts)

    def reference_state(self) -> tuple[Array, Array]:
        """Of a plan, or of what comes next."""
        return self._recovering.reference_state()

    @property
    def seam(self) -> Seam | None:
        """The one that it has come to, with its way in the world; None before, and while a plan is followed."""
        if not self._recovering.follows_motion:
            return None
        frame, (x, y, _, yaw) = self._motion.place.frame, self._motion.place.anchor
        seam = next((seam for seam in self._laid.seams if seam.frame == frame), None)
        return seam and seam._replace(way=then(Cycle((x, y), yaw), seam.way))

    @property
    def height(self) -> float:
        """Of the ground under it, m."""
        return self._motion.place.anchor[2]

    @property
    def row(self) -> int:
        """The clip's frame whose looks this one has."""
        return int(self._laid.looks[self._recovering.row])

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """The plans that were followed."""
        return self._recovering.recoveries
