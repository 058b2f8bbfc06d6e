# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character meets, as plain data: ground, pushes, grabs, props, loads, and what is wished of it over time."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..character import check
from ..character.check import Vector
from ..character.mass import Mass
from ..contact.terrain import Surface
from .course import Course
from .footholds import Foothold
from .grabs import Grab
from .props import Prop
from .pushes import Push
from .slider import Slider
from .strength import Strength


@dataclass(frozen=True)
class Load:
    """Something that a body carries for good: a solid ball welded to it."""

    name: str
    body: str
    mass: float  # kg
    position: Vector = (0.0, 0.0, 0.0)  # of its centre, in the body's frame, m
    radius: float = 0.1  # m, by which it resists turning; it touches nothing
    planned: bool = True  # the controller knows of it

    def __post_init__(self) -> None:
        owner = f"load '{check.name(self.name, 'load')}'"
        object.__setattr__(self, "mass", check.positive(self.mass, "mass", owner))
        object.__setattr__(self, "position", check.vector(self.position, "position", owner))
        object.__setattr__(self, "radius", check.positive(self.radius, "radius", owner))

    def as_mass(self) -> Mass:
        """In the body's frame."""
        moment = 0.4 * self.mass * self.radius * self.radius
        return Mass(self.mass, np.array(self.position), moment * np.eye(3))


@dataclass(frozen=True, eq=False)
class Scene:
    """What the character meets. Times are in seconds from the job's first frame on, places in the world, in metres."""

    surfaces: tuple[Surface, ...] = ()  # none: the level floor that the clip stands on
    friction: float = 1.0  # of that floor, and between props and whatever they touch
    pushes: tuple[Push, ...] = ()  # on bodies of the character or props, by name
    grabs: tuple[Grab, ...] = ()
    footholds: tuple[Foothold, ...] = ()  # for methods that can move steps
    course: Course = field(default_factory=Course)  # for methods that walk without a clip
    slider: Slider | None = None  # for methods that combine motions; half-way unless given
    strength: Strength | None = None  # of its joints, times the job's
    props: tuple[Prop, ...] = ()
    loads: tuple[Load, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)  # m/s²

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", check.not_negative(self.friction, "friction", "the scene"))
        object.__setattr__(self, "gravity", check.vector(self.gravity, "gravity", "the scene"))
        for name in ("surfaces", "pushes", "grabs", "footholds", "props", "loads"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def bears(self, grab: Grab) -> bool:
        """Whether what is held bears weight: the world does, what moves by itself, and what hangs; a ball does not."""
        return grab.other is None or any(prop.name == grab.other and prop.hangs for prop in self.props)

    def foreseen(self) -> "Scene":
        """What of it is known before it happens: no push that is a surprise, and nothing that is thrown."""
        pushes = tuple(push for push in self.pushes if push.foreseen)
        return replace(self, pushes=pushes, props=tuple(prop for prop in self.props if prop.thrown is None))
