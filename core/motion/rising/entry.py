# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an action is gone on with by who got up: where one foot stands and the other is beside it."""

from typing import NamedTuple

import numpy as np

from ...dynamics import body_poses
from ..quaternions import Array, rotate
from ..reference import Reference

LEANS = np.cos(np.radians(40.0))  # of the trunk from the vertical, at most
LATER = 0.02  # m of distance between the feet, for which a second more may pass
BOTH = 0.1  # the same, that it costs where the other foot stands as well and the action goes on from there
MOVES = 0.3  # m/s of the root, from which on it does
USUAL = 0.05  # the same, for the foot that keys are made for


class Entry(NamedTuple):
    """A frame of an action."""

    row: int
    foot: str  # the body that stands there
    moves: bool  # whether the action is on its way there


def entry(reference: Reference, row: int) -> Entry | None:
    """The best frame, from that row on where the action does not repeat; None where it never stands on a foot."""
    character, schedule = reference.character, reference.schedule
    last = reference.steps - 1
    rows = np.arange(last + 1) if reference.cycle is not None else np.arange(min(row, last), last + 1)
    body = np.array([point.body if point.foot else -1 for point in schedule.points])
    feet = [character.index(name) for name in ("left_foot", "right_foot")]
    stands = [schedule.active[:, body == foot].all(axis=1) & (body == foot).any() for foot in feet]
    best: tuple[float, Entry] | None = None
    for k in rows.tolist():
        place, turn = body_poses(character, reference.q[k])
        ahead, _, up = rotate(turn[0], np.eye(3))
        if up[2] < LEANS:
            continue
        moves = float(np.hypot(*reference.v[k, :2])) > MOVES
        apart = abs(float((place[feet[0]] - place[feet[1]])[:2] @ _unit(ahead[:2])))
        cost = apart + (0.0 if reference.cycle is not None else LATER * (k - row) / reference.rate)
        cost += BOTH if moves and stands[0][k] and stands[1][k] else 0.0
        for foot, on in zip(feet, stands, strict=True):
            name = character.bodies[foot].name
            whole = cost + (USUAL if name.startswith("left") else 0.0)
            if on[k] and (best is None or whole < best[0]):
                best = (whole, Entry(k, name, moves))
    return None if best is None else best[1]


def _unit(way: Array) -> Array:
    result: Array = way / max(float(np.linalg.norm(way)), 1e-9)
    return result
