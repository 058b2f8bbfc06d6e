# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs as a method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...cache import Cache
from ...character.tree import carried_mass
from ...contact.detection import Contacts
from ...dynamics import difference
from ...motion.reference import Reference
from ...settings import Choice, Described, setting
from ..law import AffineLaw, State
from ..method import Follower, Method, Needs, Preset, Tell
from ..stage import Stage
from ..track import Track

ROOT = 6  # velocities that no motor drives


@dataclass(frozen=True)
class Settings(Described):
    """How the springs are."""

    owner: ClassVar[str] = "spring control"

    stiffness: float = setting(
        0.5, "Spring Stiffness", "Higher pulls harder", shown="basic", unit="s⁻²", bounds=(0.0, 2.0), digits=3
    )
    turns: int = setting(3, "Spring Turns", "How many windings a spring has", bounds=(1, 9))
    metal: str = setting(
        "steel",
        "Metal",
        "What springs are made of",
        choices=(Choice("steel", "Steel", "Hard"), Choice("tin", "Tin", "Soft")),
    )
    rusty: bool = setting(False, "Rusty", "As nobody wants them", shown="hidden")


class Springs(Follower):
    """Pulls and brakes."""

    lap = 0

    @property
    def row(self) -> int:
        """The motion's frame now."""
        return min(self.frame, len(self.track.q) - 1)

    def __init__(self, track: Track, reference: Reference, settings: Settings) -> None:
        self.track, self.character, self.frame = track, reference.character, 0
        self.stiffness = 1000.0 * settings.stiffness * carried_mass(self.character.tree)[ROOT:]

    def reference_state(self):
        """The motion's pose, at rest."""
        return self.track.pose(self.character, self.row), np.zeros(self.character.nv)

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """A spring and a damper at each joint."""
        del contacts
        off = difference(self.character, state.q_next, self.reference_state()[0])[ROOT:]
        damping = 0.1 * self.stiffness
        self.frame += 1
        return AffineLaw(self.stiffness * off - damping * state.v[ROOT:], implicit=state.dt * damping)

    def notes(self, simulation) -> tuple[str]:
        """A word at the end."""
        return (f"The springs were pulled for {simulation.recording.steps} steps.",)


def plan(motions: Sequence[Reference], settings: Settings, cache: Cache, tell: Tell) -> Springs:
    """There is nothing to plan."""
    del cache, tell
    return Springs(Track.of(motions[0]), motions[0], settings)


def start(springs: Springs, stage: Stage) -> Springs:
    """Nor to start."""
    del stage
    return springs


METHOD = Method(
    name="toy",
    number=99,
    label="Springs",
    description="Pulls every joint by a spring",
    paper="Hooke 1678",
    settings=Settings,
    plan=plan,
    start=start,
    needs=Needs(follows_keys=True, least_rate=240.0),
    presets=(Preset("Tin Toy", "Soft springs.", {"metal": "tin"}, rate=300, optimise=False),),
)
