# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion rests on and its scene lacks: seats, ledges, walls for a hand, bars.

Where the body is held up by nothing that is known, something is under what stays in its place meanwhile: hips that sit
(seats.py), hands that press or hold on (holds.py). What is put there is as large as the room that the body leaves it at
all times.
"""

import numpy as np

from ..character import Character
from ..contact.terrain import Terrain
from .fit import Trajectory
from .holds import find_holds
from .schedule import ContactSchedule
from .seats import find_seats
from .support import Support, is_there


def find_supports(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, terrain: Terrain
) -> list[Support]:
    """What a motion rests on besides the terrain that its contacts were found on, in the order of time."""
    if character.bodies[0].joint.kind != "free":
        return []
    seats = find_seats(character, trajectory, schedule, terrain)
    taken = np.zeros(len(trajectory.q), dtype=np.bool_)
    for _, rests in seats:
        taken |= rests
    holds = find_holds(character, trajectory, schedule, terrain, taken)
    return sorted((*(seat for seat, _ in seats if seat is not None), *holds), key=lambda one: one.frames)


def lies_there(support: Support, terrain: Terrain, rate: float) -> bool:
    """Whether what a motion tells of is part of a terrain."""
    return any(is_there(terrain, rate, box, support.kind == "wall") for box in support.objects)
