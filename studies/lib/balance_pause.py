# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk under balance control whose reference is held for some seconds: a part of the study of balance control."""

from functools import partial

import numpy as np
from heft.core.contact.detection import Contacts
from heft.core.control.balance import Balance
from heft.core.control.law import AffineLaw, NoLawError, State
from heft.core.control.track import Track
from heft.core.simulation import DivergedError, World
from heft.studies.lib.journal import Journal
from heft.studies.lib.references import walking
from heft.studies.lib.replicas import FALLEN, NOISE, REPLICAS

PHASES = (0, 6, 12, 18, 24, 36, 48, 60)  # frames from a touchdown on, in which it is held
HELD, AFTER = 4.0, 4.0  # s
LAPS = 2  # before it

TEXT = f"""
### Pause and restart

Figure 3-3 draws a state in which a walk pauses, and shows no result. Here the pose that a walk of 1 m/s is to have is
held for {HELD:.0f} s, so many seconds after a foot has landed, and then the walk goes on. Of {REPLICAS} starts with
noise of {NOISE} on every velocity those that stand through the pause, and {AFTER:.0f} s later. A pose does not take the
body's speed away: who is to stop needs steps that do, as those which the action graph below begins and ends with.

| held after, s | stand through it | and go on |
|---|---|---|"""


class Paused(Balance):
    """Whose reference can be held where it is."""

    held = False

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step, and on to the next frame unless it is held."""
        law = super().law(state, contacts)
        if self.held:
            self.frame -= 1
        return law

    def _aim(self, row: int) -> None:
        super()._aim(row)
        if self.held:
            goal = self._goal
            for still in (goal.v, goal.acceleration, goal.model_v, goal.model_acceleration, goal.glide):
                still[:] = 0.0


def stands(frame: int, seed: int) -> tuple[bool, bool]:
    """Through the pause, and after it."""
    reference = walking()
    character, track = reference.character, Track.of(reference)
    controller, world = Paused(character, track), World(character)
    controller.seek()
    q, v = controller.reference_state()
    world.reset(q, v + NOISE * np.random.default_rng(seed).normal(size=character.nv))
    begins = LAPS * len(track.q) + frame
    ends = begins + round(HELD * reference.rate)
    for step in range(ends + round(AFTER * reference.rate)):
        controller.held = begins <= step < ends
        try:
            world.step(controller)
        except (DivergedError, NoLawError):
            return step >= ends, False
        if abs(world.q[2] - controller.reference_state()[0][2]) > FALLEN:
            return step >= ends, False
    return True, True


def row(frame: int) -> str:
    """Of the replicas."""
    found = np.array([stands(frame, seed) for seed in range(REPLICAS)])
    through, on = found.sum(axis=0).tolist()
    return f"| {frame / walking().rate:.2f} | {through} of {REPLICAS} | {on} of {REPLICAS} |"


def sections(journal: Journal) -> list[str]:
    """The text and the table."""
    return [TEXT, *journal.rows({f"paused, frame {frame}": partial(row, frame) for frame in PHASES}), ""]
