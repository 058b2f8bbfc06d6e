# SPDX-License-Identifier: GPL-3.0-or-later
"""What walks under gait control are asked: courses, ground, pushes, and who walks."""

import numpy as np
from heft.core.contact.terrain import HeightGrid
from heft.core.motion.body_plan import make_body_plan
from heft.core.simulation import Course, Push
from numpy.typing import NDArray

from tests.core.motion.skeletons import wooden, wooden_roles

Array = NDArray[np.float64]

STRIDE = 1.3  # s, of the normal style
SEEDS = (31, 32, 33, 34, 35)  # none of those that the gains were found or chosen with
DIRECTIONS = {"forward": (1.0, 0.0), "backward": (-1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}


def cycled(speed: float, steps: float = 0.65) -> Course:
    """Sideways 0, 0.2 and -0.2 m/s, each for about five steps (Carensac et al., section 5.1)."""
    time = np.arange(400) * 5.0 * steps
    left = np.array([0.0, 0.2, -0.2])[np.arange(400) % 3]
    # a command holds to the next
    held = np.repeat(time, 2)[1:]
    return Course(held, np.full(len(held), speed), np.repeat(left, 2)[:-1], np.zeros(len(held)))


def turning(speed: float, degrees: float, at: float) -> Course:
    """All at once; the gait spreads it."""
    time = np.array([0.0, at, at, at + 100.0])
    return Course(time, np.full(4, speed), np.zeros(4), np.radians([0.0, 0.0, degrees, degrees]))


def pushed(name: str, force: float, at: float) -> tuple[Push]:
    """0.1 s on the trunk, in one of DIRECTIONS."""
    x, y = DIRECTIONS[name]
    return (Push("trunk", np.tile([force * x, force * y, 0.0], (2, 1)), rate=10.0, start=at),)


def bumps(seed: int) -> HeightGrid:
    """3 cm up or down every half metre, around a level start."""
    heights = np.random.default_rng(seed).uniform(-0.03, 0.03, size=(241, 41))
    heights[38:44] = 0.0
    return HeightGrid(heights, 0.5, (-20.0, -10.0), 1.0)


def slope(degrees: float) -> HeightGrid:
    """Level until the walk is under way."""
    ahead = np.arange(241) * 0.5 - 20.0
    height = np.tan(np.radians(degrees)) * np.maximum(ahead - 1.0, 0.0)
    return HeightGrid(np.repeat(height[:, None], 41, axis=1), 0.5, (-20.0, -10.0), 1.0)


def table(title: str, *columns: str) -> str:
    """A heading and the head of a table."""
    return f"\n## {title}\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"


# a character as a rig gives it, with balls at its ankles
MANNEQUIN = make_body_plan(wooden(), wooden_roles()).character
FITTED = {"character": MANNEQUIN}
