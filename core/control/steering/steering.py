# SPDX-License-Identifier: GPL-3.0-or-later
"""`Steering`: whoever walks by actions, the next of which is chosen at each step's end."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.detection import Contacts
from ...motion.cycle import Cycle
from ...motion.sequence import then
from ...planning import Trim
from ...simulation import World
from ...simulation.law import AffineLaw, State
from ...simulation.recording import Stepper
from ..method import Follower
from .costs import FirstStates, Numbers
from .repertoire import Act

Array = NDArray[np.float64]


class Choice(NamedTuple):
    """An action, and by how much it is led elsewhere than it goes by itself."""

    number: int
    trim: Trim = Trim()


# last action, state and who does it -> the next
Choose = Callable[[int, State, "Steering"], Choice]

NO_TRIM = Trim()
LED_TURN, LED_PLACE = math.radians(5.0), 0.025  # by which actions are led elsewhere at most, rad/s and m/s


def _never() -> bool:
    return False


class Steering(Follower):
    """One action after the other, each from where the one before has led to.

    At the end of each `choose` is asked for the next; of all that begin there the first states are the same.
    """

    def __init__(self, acts: Sequence[Act], choose: Choose, over: Callable[[], bool] = _never) -> None:
        self.acts, self._choose, self._over = acts, choose, over
        self.character: Character = acts[0].motion.character
        self._firsts = FirstStates(self.character, acts)
        self._number, self._trim, self._crosses = 0, Trim(), False
        self.taken: list[int] = []

    def begin(self, number: int, frame: Cycle, height: float) -> None:
        """Begin with an action, with the frame that moves with the walk so in the world."""
        self.taken.clear()
        self._crosses = False
        self._enter(Choice(number), frame, height)

    def _enter(self, choice: Choice, frame: Cycle, height: float) -> None:
        number, self._trim = choice
        act = self.acts[number]
        going_on = bool(self.taken) and act.motion is self._act.motion and len(act.motion.track.q) > 1
        going_on = going_on and act.controller.place.frame == act.start
        self._number = number
        self.taken.append(number)
        if not going_on:
            anchor = then(frame, act.before)
            act.controller.seek(act.start, (*anchor.shift, height, anchor.turn))
        self._stood = 0

    @property
    def _act(self) -> Act:
        return self.acts[self._number]

    @property
    def last(self) -> int:
        """The number of the action that is being done."""
        return self._number

    @property
    def frame(self) -> Cycle:
        """The frame that moves with the walk, in the world, as the action that is done ends."""
        x, y, _, yaw = self._act.controller.place.anchor
        return then(Cycle((x, y), yaw), self._act.after)

    @property
    def height(self) -> float:
        """Of the ground under it, m."""
        return self._act.controller.place.anchor[2]

    @property
    def is_over(self) -> bool:
        """Whether the action is done."""
        return self._stood >= self._act.steps

    @property
    def row(self) -> int:
        """The clip's frame whose looks this one has."""
        act = self._act
        return int(act.sample[min(self._stood, act.steps)])

    @property
    def lap(self) -> int:
        """None: where it goes, no lap of the clip's does."""
        return 0

    @property
    def over(self) -> bool:
        """Whether it has come to where it was to go."""
        return self._over()

    def reference_state(self) -> tuple[Array, Array]:
        """Where the action is now."""
        return self._act.controller.reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law of the action, or of the next once it is done."""
        if self.is_over:
            self._enter(self._choose(self._number, state, self), self.frame, self.height)
        self._stood += 1
        law = self._act.controller.law(state, contacts)
        self._lead()
        return law

    def _lead(self) -> None:
        """Move where the action leads, a little in each of its steps; it is turned about where the body is then."""
        if self._trim == NO_TRIM:
            return
        controller, share = self._act.controller, 1.0 / self._act.steps
        turn, dx, dy = (share * one for one in self._trim)
        x, y, z, yaw = controller.place.anchor
        at_x, at_y = controller.reference_state()[0][:2].tolist()
        c, s = math.cos(turn), math.sin(turn)
        x, y = at_x + c * (x - at_x) - s * (y - at_y) + dx, at_y + s * (x - at_x) + c * (y - at_y) + dy
        controller.place = controller.place._replace(anchor=(x, y, z, yaw + turn))

    def between_steps(self, stepper: Stepper, goes_on: Callable[[], bool]) -> None:
        """Let legs pass each other once it is pushed: to catch itself it has no steps but those of its actions."""
        del goes_on
        if not self._crosses and isinstance(stepper, World) and stepper.heeds_itself:
            self._crosses = True
            stepper.let_legs_cross(True)

    def costs(self, numbers: Numbers, state: State) -> Array:
        """What the actual state costs actions that would begin as this one ends, by their own gains."""
        return self._firsts.costs(numbers, state.q, state.v, self.frame.turn, self.height)
