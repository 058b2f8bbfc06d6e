# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that are made up as a world runs, in the pushes that it was made with.

A push is straight lines between samples, so a sample has to be there before the step that leads to it; it is written
into the world's own arrays. The world has a few pushes for this, one after another used for what is done, and what was
done are as many `Push`es, whose samples are the very same numbers: in single precision, as keys in Blender are. A push
without force adds nothing to a step, so a bake with those takes the same steps.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..character.check import Vector
from ..simulation import Push
from ..simulation.pushes import Pushes

Array = NDArray[np.float64]

AT_ONCE = 6  # forces, at most
REST = 2  # samples after the last force of a push, before its place is used again
SAME_PLACE = 1e-6  # samples


@dataclass
class Done:
    """One force from its beginning on."""

    slot: int
    body: str
    point: Vector
    first: int  # number of its first sample, which is no force
    samples: list[Array] = field(default_factory=lambda: [np.zeros(3)])
    ended: bool = False


class Forces:
    """Writes forces into a world's last pushes. Samples are counted from the job's first frame on."""

    def __init__(self, pushes: Pushes, bodies: Mapping[str, int], rate: float, late: float) -> None:
        """Take the last pushes of a world whose time zero is so `late`, s."""
        self._pushes, self._bodies, self._rate, self._late = pushes, bodies, rate, late
        self._offset = len(pushes.body) - AT_ONCE
        self._slots: list[Done | None] = [None] * AT_ONCE
        self.done: list[Done] = []

    def next_sample(self, state: int) -> int:
        """The first sample that the step from a state on leads to, and none does before."""
        return math.ceil(self._late * self._rate + state + 1 - SAME_PLACE)

    def begin(self, body: str, point: Vector, state: int) -> Done | None:
        """A force that begins with the step from a state on; None where there are too many at once."""
        if body not in self._bodies:
            raise ValueError(f"There is no body '{body}' to take hold of.")
        first = self.next_sample(state) - 1
        for slot, before in enumerate(self._slots):
            if before is None or (before.ended and first > before.first + len(before.samples) + REST):
                x, y, z = np.array(point, dtype=np.float32).tolist()
                force = Done(slot, body, (x, y, z), first)
                row = self._offset + slot
                self._pushes.body[row] = self._bodies[body]
                self._pushes.point[row] = force.point
                self._pushes.start[row] = first / self._rate - self._late if self._late else first / self._rate
                self._samples(row)[:] = 0.0
                self._slots[slot] = force
                self.done.append(force)
                return force
        return None

    def go_on(self, force: Done, newtons: Sequence[float] | Array) -> Array:
        """The next sample, and how it was taken; the length of a push is bounded by what the world was made with."""
        rounded = np.array(newtons, dtype=np.float32).astype(np.float64)
        samples = self._samples(self._offset + force.slot)
        if len(force.samples) < len(samples) - 1:
            samples[len(force.samples)] = rounded
            force.samples.append(rounded)
        return rounded

    def end(self, force: Done) -> None:
        """No more force."""
        if not force.ended:
            force.samples.append(np.zeros(3))
            force.ended = True

    def taken(self) -> tuple[Push, ...]:
        """All that was done, in the order in which a step adds it up."""
        for force in self.done:
            self.end(force)
        rate = self._rate
        return tuple(
            Push(done.body, np.array(done.samples), rate, done.first / rate, done.point, foreseen=False)
            for done in sorted(self.done, key=lambda done: (done.slot, done.first))
        )

    def _samples(self, row: int) -> Array:
        """A push's samples in the world's arrays."""
        first = int(self._pushes.first[row])
        found: Array = self._pushes.force[first : first + int(self._pushes.samples[row])]
        return found


def room_for(body: str, seconds: float, rate: float) -> tuple[Push, ...]:
    """Pushes without force, for a world to be made with."""
    samples = math.ceil(seconds * rate) + 3
    return tuple(Push(body, np.zeros((samples, 3)), rate, foreseen=False) for _ in range(AT_ONCE))
