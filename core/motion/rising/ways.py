# SPDX-License-Identifier: GPL-3.0-or-later
"""How a person gets up, as key poses: over the side or from the belly to hands and knees, on one knee, and up.

Made by hand for this, over the right side and with the right foot first; the other way about they are mirrored.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .figure import Figure, Limbs


class Key(NamedTuple):
    """A pose, and how it is come to."""

    seconds: float  # that it takes to get there
    figure: Figure
    over: str  # the body whose place is kept on the way there
    holds: tuple[str, ...]  # bodies and knees that bear weight there, and stay where they are until the next
    leans: tuple[str, ...] = ()  # of those before it, that do so half of the way there

    @property
    def mirrored(self) -> "Key":
        """Left and right exchanged."""
        holds, leans = (tuple(other(name) for name in names) for names in (self.holds, self.leans))
        return Key(self.seconds, self.figure.mirrored, other(self.over), holds, leans)


def other(name: str) -> str:
    """The body on the other side."""
    side, _, part = name.partition("_")
    return {"left": f"right_{part}", "right": f"left_{part}"}.get(side, name)


def mirrored(keys: Sequence[Key]) -> tuple[Key, ...]:
    """All of them."""
    return tuple(key.mirrored for key in keys)


_KNEELING = Limbs((0.05, 0.08, -1.0), (-1.0, 0.0, 0.2), (-0.2, 0.0, -1.0), (0.3, 0.05, -1.0), (0.0, 0.0, -1.0))
_AT_REST = Limbs((-1.0, 0.3, -0.05), (-1.0, 0.1, 0.05), (-0.6, 0.0, -0.8), (-0.5, 0.8, 0.0), (1.0, 0.0, -0.3))

_KNEES = ("left_knee", "right_knee")

ON_SIDE = Key(
    1.2,
    Figure(
        trunk=(1.0, 0.0, 0.12),
        belly=(0.0, 1.0, -0.2),
        left=Limbs((0.2, 1.0, -0.2), (-0.9, 0.5, -0.15), (-0.5, 0.8, 0.0), (0.3, 1.0, -0.3), (0.9, 0.5, -0.5)),
        right=Limbs((0.2, -1.0, -0.1), (-0.9, -0.5, -0.05), (-0.5, -0.8, 0.0), (0.6, -1.0, -0.1), (0.8, -0.4, -0.1)),
    ),
    "pelvis",
    ("right_knee",),
)
ON_BELLY = Key(
    0.9,
    Figure(trunk=(1.0, 0.0, 0.05), belly=(0.05, 0.0, -1.0), left=_AT_REST, right=_AT_REST),
    "pelvis",
    ("left_hand", "right_hand"),
)
ON_ALL_FOURS = Key(
    1.1,
    Figure((1.0, 0.0, 0.1), (0.1, 0.0, -1.0), _KNEELING, _KNEELING),
    "right_shank",
    ("left_hand", "right_hand", *_KNEES, "left_foot"),
)
FOOT_FORWARD = Key(
    0.9,
    Figure(
        trunk=(0.85, 0.0, 0.55),
        belly=(0.55, 0.0, -0.85),
        left=Limbs((0.0, 0.08, -1.0), (-1.0, 0.0, 0.2), (-0.2, 0.0, -1.0), (0.3, 0.1, -1.0), (0.2, 0.0, -1.0)),
        right=Limbs((0.85, 0.15, 0.0), (-0.1, 0.0, -1.0), (1.0, 0.05, 0.0), (0.5, 0.15, -0.9), (0.6, 0.0, -0.8)),
    ),
    "left_shank",
    ("left_knee", "left_foot", "right_foot"),
    ("left_hand", "right_hand"),
)
ON_ONE_KNEE = Key(
    0.7,
    Figure(
        trunk=(0.4, 0.0, 0.95),
        belly=(0.95, 0.0, -0.4),
        left=Limbs((0.05, 0.08, -1.0), (-1.0, 0.0, 0.2), (-0.2, 0.0, -1.0), (0.1, 0.15, -1.0), (0.5, 0.0, -0.9)),
        right=Limbs((0.95, 0.1, -0.1), (-0.05, 0.0, -1.0), (1.0, 0.05, 0.0), (0.4, 0.15, -0.9), (0.8, -0.1, -0.4)),
    ),
    "left_shank",
    ("left_knee", "left_foot", "right_foot"),
)
ON_ITS_FEET = Key(
    0.6,
    Figure(
        trunk=(0.5, 0.0, 0.9),
        belly=(0.9, 0.0, -0.5),
        left=Limbs((-0.25, 0.08, -1.0), (-0.75, 0.0, -0.7), (0.6, 0.0, -0.8), (-0.1, 0.15, -1.0), (0.3, 0.0, -1.0)),
        right=Limbs((0.75, 0.1, -0.7), (-0.3, 0.0, -1.0), (1.0, 0.05, 0.0), (0.2, 0.15, -1.0), (0.6, -0.1, -0.8)),
    ),
    "right_foot",
    ("right_foot",),
    ("left_foot",),
)
UP = 0.7  # s, from there to the action

OVER_SIDE = (ON_SIDE, ON_ALL_FOURS)
FROM_BELLY = (ON_BELLY, ON_ALL_FOURS._replace(over="pelvis"))
TO_ITS_FEET = (FOOT_FORWARD, ON_ONE_KNEE, ON_ITS_FEET)
