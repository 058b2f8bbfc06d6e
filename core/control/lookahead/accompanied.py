# SPDX-License-Identifier: GPL-3.0-or-later
"""`Accompanied`: who is not alone follows the motion, helped if need be, until another character touches.

From then on it is as with a push: help does not hold whoever is knocked over, but steps may be taken.
"""

from collections.abc import Callable, Sequence

from ...contact.detection import Contacts
from ...simulation import World
from ...simulation.outcome import Recovery, Simulation
from ...simulation.recording import Stepper
from ..law import AffineLaw, State
from ..method import Follower
from .carried import Array, Carried


class Accompanied(Follower):
    """One controller until the first touch, and another after it; both of the same motion."""

    def __init__(self, alone: Carried, touched: Follower) -> None:
        self._alone, self._touched = alone, touched
        self._acting: Follower = alone

    @property
    def row(self) -> int:
        """The motion's frame in which the character is to be now."""
        return self._acting.row

    @property
    def lap(self) -> int:
        """How many times a cycle has been walked."""
        return self._acting.lap

    @property
    def carried(self) -> bool:
        """Whether help carries it: from before the touch on."""
        return self._acting.carried

    def reference_state(self) -> tuple[Array, Array]:
        """Of whichever acts."""
        return self._acting.reference_state()

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """Of whichever acts."""
        return self._acting.law(state, contacts)

    def between_steps(self, stepper: Stepper, goes_on: Callable[[], bool]) -> None:
        """Listen for a touch; who is carried by then stays so."""
        assert isinstance(stepper, World)
        if self._acting is self._alone and not self._alone.carried and stepper.pressed_by_another:
            self._acting = self._touched
        self._acting.between_steps(stepper, goes_on)

    def begin_anew(self) -> None:
        """Whichever acts."""
        self._acting.begin_anew()

    @property
    def recoveries(self) -> Sequence[Recovery]:
        """How it answered touches."""
        return self._touched.recoveries

    def notes(self, simulation: Simulation) -> Sequence[str]:
        """Of whichever acted at last."""
        return self._acting.notes(simulation)
