# SPDX-License-Identifier: GPL-3.0-or-later
"""Footholds: where a foot should step, for methods that place feet."""

from dataclasses import dataclass

from ..character import check
from ..character.check import Vector


@dataclass(frozen=True)
class Foothold:
    """The nearest of a foot's stances is moved there."""

    body: str
    place: Vector  # of the middle of the sole, in the world, m

    def __post_init__(self) -> None:
        check.name(self.body, "foothold's body")
        object.__setattr__(self, "place", check.vector(self.place, "place", f"the foothold of '{self.body}'"))
