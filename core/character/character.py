# SPDX-License-Identifier: GPL-3.0-or-later
"""`Character`: a validated, immutable tree of bodies, and what everything else asks of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import check
from .check import Vector
from .flatten import flatten, neutral_positions
from .parts import Body, ContactShape, Joint
from .tree import Tree


@dataclass(frozen=True)
class Character:
    """Bodies hanging from one root by joints, and the shapes with which they may touch.

    Bodies may be given in any order; they are kept depth first, each body's children in the order given, which is the
    order of positions and velocities here and in MuJoCo. X points forward, Y left, Z up.

    There is no planar joint: a planar body that flies or walks has a free root and stays in its plane because nothing
    pushes it out; one that hangs from a bar or stands on a pivot has a hinge for its root.
    """

    name: str
    bodies: tuple[Body, ...]
    contacts: tuple[ContactShape, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)  # m/s²

    def __post_init__(self) -> None:
        check.name(self.name, "character")
        object.__setattr__(self, "bodies", _depth_first(tuple(self.bodies)))
        object.__setattr__(self, "contacts", tuple(self.contacts))
        object.__setattr__(self, "gravity", check.vector(self.gravity, "gravity", f"character '{self.name}'"))
        _refuse_duplicates("joint", (joint.name for joint in self.joints))
        _refuse_duplicates("contact", (contact.name for contact in self.contacts))
        names = {body.name for body in self.bodies}
        for contact in self.contacts:
            if contact.body not in names:
                raise ValueError(f"Contact '{contact.name}' belongs to an unknown body '{contact.body}'.")

    @classmethod
    def preset(cls, name: str) -> "Character":
        """One of the built-in characters; see `presets.NAMES`."""
        from .presets import make

        return make(name)

    @classmethod
    def load(cls, path: str | Path) -> "Character":
        """Read a character from a JSON file; ValueError says in one line what is wrong with it."""
        from .storage import load

        return load(Path(path))

    def save(self, path: str | Path) -> None:
        """Write the character to a JSON file, replacing it at once or not at all."""
        from .storage import save

        save(self, Path(path))

    def to_data(self) -> dict[str, Any]:
        """What its JSON file says, as it also stands in files of other things."""
        from .storage import to_data

        return to_data(self)

    @classmethod
    def from_data(cls, data: Any) -> "Character":
        """And back; ValueError says in one line what is wrong."""
        from .storage import from_data

        return from_data(data)

    def to_mjcf(self, *, contacts: bool = True, motors: bool = False) -> str:
        """MuJoCo's XML of the same bodies, joints and order of q and v; see mjcf.py."""
        from .mjcf import to_mjcf

        return to_mjcf(self, contacts=contacts, motors=motors)

    @cached_property
    def tree(self) -> Tree:
        """The character as kernels see it; its arrays are read-only."""
        return flatten(self.bodies, self.gravity)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joint of each body, in the bodies' order."""
        return tuple(body.joint for body in self.bodies)

    @property
    def nq(self) -> int:
        """Number of positions."""
        return self.tree.rest.size

    @property
    def nv(self) -> int:
        """Number of velocities: degrees of freedom."""
        return self.tree.velocity_body.size

    @property
    def total_mass(self) -> float:
        """Sum of all masses, kg."""
        return sum(body.mass for body in self.bodies)

    def neutral(self) -> NDArray[np.float64]:
        """Positions (nq,) of the rest pose: a preset person stands upright, feet flat on z = 0, arms hanging."""
        return neutral_positions(self.bodies)

    def index(self, body: str) -> int:
        """Where the body of that name stands in `bodies` and in the rows of `tree`."""
        for index, candidate in enumerate(self.bodies):
            if candidate.name == body:
                return index
        raise KeyError(body)

    def with_contacts(self, contacts: Iterable[ContactShape]) -> Self:
        """The same character with other contact shapes."""
        return type(self)(self.name, self.bodies, tuple(contacts), self.gravity)


def _depth_first(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """Check that the bodies form one tree; return them parents first, each subtree in one piece."""
    _refuse_duplicates("body", (body.name for body in bodies))
    roots = [body for body in bodies if body.parent is None]
    if not roots:
        raise ValueError("The character has no root: give it one body without a parent.")
    if len(roots) > 1:
        raise ValueError(
            f"A character has exactly one root, but bodies '{roots[0].name}' and '{roots[1].name}' have no parent."
        )
    names = {body.name for body in bodies}
    children: dict[str, list[Body]] = {name: [] for name in names}
    for body in bodies:
        if body.parent is None:
            continue
        if body.parent not in names:
            raise ValueError(f"The parent of body '{body.name}' is unknown: '{body.parent}'.")
        if body.joint.kind == "free":
            raise ValueError(f"Only the root may be free, but body '{body.name}' has a parent and a free joint.")
        children[body.parent].append(body)
    ordered: list[Body] = []
    waiting = [roots[0]]
    while waiting:
        body = waiting.pop()
        ordered.append(body)
        waiting.extend(reversed(children[body.name]))
    if len(ordered) < len(bodies):
        reached = {body.name for body in ordered}
        lost = next(body.name for body in bodies if body.name not in reached)
        raise ValueError(f"Body '{lost}' is attached to a loop: following its parents never reaches the root.")
    if all(body.joint.kind == "fixed" for body in ordered):
        raise ValueError("All joints are fixed: a character needs at least one that moves.")
    return tuple(ordered)


def _refuse_duplicates(what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"The name '{name}' is used by {count} {'bodies' if what == 'body' else what + 's'}.")
