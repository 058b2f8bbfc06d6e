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
from ...motion.footholds import heights_below
from ...motion.sequence import then
from ...planning import Trim
from ...simulation import World
from ...simulation.law import AffineLaw, State
from ...simulation.outcome import Recovery, Simulation
from ...simulation.recording import Stepper
from ..method import Follower
from ..recovery import AGAIN, DISTURBED, LOSING, Disturbances
from .catching import Catches, Catching
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
LOOKS, LEVEL = 0.25, 0.1  # s between looks at the ground that was walked on, and m up to which it is level
# by which actions are led elsewhere at most, rad/s and m/s, and ahead or back
LED_TURN, LED_PLACE, LED_ALONG = math.radians(5.0), 0.025, 0.06


def _never() -> bool:
    return False


class Steering(Follower):
    """One action after the other, each from where the one before has led to.

    At the end of each `choose` is asked for the next; of all that begin there the first states are the same.
    """

    def __init__(
        self,
        acts: Sequence[Act],
        choose: Choose,
        over: Callable[[], bool] = _never,
        catches: Catches | None = None,
    ) -> None:
        """Who `catches` pushes does so on a stage, going by what is foreseen."""
        self.acts, self._choose, self._over = acts, choose, over
        self._catches = catches
        self._disturbances = None if catches is None else Disturbances(catches.stage)
        self._catching: Catching | None = None
        self._next = -math.inf  # s, before which nothing is caught but a push
        self._recoveries: list[Recovery] = []
        self.character: Character = acts[0].motion.character
        self._firsts = FirstStates(self.character, acts)
        self._number, self._trim, self._crosses = 0, Trim(), False
        self.taken: list[int] = []

    def begin(self, number: int, frame: Cycle, height: float) -> None:
        """Begin with an action, with the frame that moves with the walk so in the world."""
        self.taken.clear()
        self._crosses, self._catching = False, None
        self._enter(Choice(number), frame, height)

    def _enter(self, choice: Choice, frame: Cycle, height: float) -> None:
        number, self._trim = choice
        act = self.acts[number]
        going_on = (
            bool(self.taken)
            and self._catching is None
            and act.motion is self._act.motion
            and len(act.motion.track.q) > 1
        )
        going_on = going_on and act.controller.place.frame == act.start
        self._number = number
        self.taken.append(number)
        if not going_on:
            anchor = then(frame, act.before)
            act.controller.seek(act.start, (*anchor.shift, height, anchor.turn))
        self._stood, self._catching = 0, None

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
        if self._catching is not None and self._catching.seam is not None:
            return self._catching.seam.way
        x, y, _, yaw = self._act.controller.place.anchor
        return then(Cycle((x, y), yaw), self._act.after)

    @property
    def height(self) -> float:
        """Of the ground under it, m."""
        if self._catching is not None:
            return self._catching.height
        return self._act.controller.place.anchor[2]

    @property
    def is_over(self) -> bool:
        """Whether the action is done."""
        return self._stood >= self._act.steps

    @property
    def row(self) -> int:
        """The clip's frame whose looks this one has."""
        if self._catching is not None:
            return self._catching.row
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
        """Where the action is now, or the plan that catches a push."""
        if self._catching is not None:
            return self._catching.reference_state()
        return self._act.controller.reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law of the action, or of the next once it is done; or of the plan that catches a push."""
        if self._catching is not None:
            seam = self._catching.seam
            if seam is None:
                return self._catching.law(state, contacts)
            self._recoveries += self._catching.recoveries
            self._crosses = False  # again, as by its actions
            self._number = seam.number
            self._enter(self._choose(seam.number, state, self), self.frame, self.height)
        elif self.is_over:
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
        """Catch a push. Actions have legs pass each other then: there are no steps but theirs."""
        assert isinstance(stepper, World)
        if self._catching is not None:
            self._catching.between_steps(stepper, goes_on)
            return
        if not self._crosses and stepper.heeds_itself:
            self._crosses = True
            stepper.let_legs_cross(True)
        if self._catches is None or self._disturbances is None:
            return
        ended = self._disturbances.ended(stepper, self._next)
        away = self._away_from_its_place(stepper, self._catches, self._disturbances)
        if away is not None:
            self._catching = self._what_comes_next(stepper.time, self._catches, self._disturbances)
            self._catching.go_back(stepper, goes_on, away)
            return
        if not ended and (stepper.time < self._next or not self._disturbances.felt(stepper.time)):
            return
        off = self._disturbances.off(stepper, self.reference_state(), self.height)
        if float(np.linalg.norm(off)) >= (DISTURBED if ended else LOSING):
            self._next = stepper.time + AGAIN
            self._catching = self._what_comes_next(stepper.time, self._catches, self._disturbances)
            self._catching.answer(stepper, goes_on, ended=ended)

    def _away_from_its_place(self, world: World, catches: Catches, disturbances: Disturbances) -> Array | None:
        """By how much (2,) who has just come to stand is off, where that is worth steps and nothing pushes."""
        stands = self._stood == 1 and self._act.action.speed == 0.0
        return catches.away(world.q[:2]) if stands and not disturbances.pushing.acting(world.time, world.dt) else None

    def notes(self, simulation: Simulation) -> tuple[str, ...]:
        """That it is for level ground, where it went over any other."""
        places = simulation.recording.q[:: round(LOOKS * simulation.recording.rate), :3]
        heights = heights_below(simulation.terrain, places, 0.0)
        heights = heights[np.isfinite(heights)]
        if len(heights) == 0 or float(np.ptp(heights)) < LEVEL:
            return ()
        return (
            "A steered walk is made for level ground, and this is not: choose Look Ahead, which lays it onto slopes.",
        )

    def _what_comes_next(self, time: float, catches: Catches, disturbances: Disturbances) -> Catching:
        return Catching(self.acts, self._number, self._stood, catches.foresee, time, catches.stage, disturbances)

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """The plans that were followed."""
        return (*self._recoveries, *(() if self._catching is None else self._catching.recoveries))

    def costs(self, numbers: Numbers, state: State) -> Array:
        """What the actual state costs actions that would begin as this one ends, by their own gains."""
        return self._firsts.costs(numbers, state.q, state.v, self.frame.turn, self.height)
