# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles put down where a transition wants them."""

from typing import NamedTuple

import numpy as np

from ...character import Character
from ..inverse_kinematics import Targets, reach
from ..moving_frame import Glide, eased, set_into
from ..planting import Sole
from ..quaternions import Array
from ..schedule import ContactSchedule

SLACK = 1e-4  # m², of soles
ROOT_MOBILITY, TURN_MOBILITY = 0.01, 0.01  # m² and rad²; joints have 1 rad²


class Knot(NamedTuple):
    """From a frame on, a sole whose middle would be at one place is at another, turned."""

    frame: float
    own: Array  # (2,) m
    place: Array  # (2,) m
    turn: float  # rad


def columns_of(schedule: ContactSchedule, sole: Sole) -> list[int]:
    """A sole's points."""
    return [i for i, point in enumerate(schedule.points) if point.foot and point.body == sole.body]


def carried(tracks: Array, knots: list[Knot]) -> Array:
    """Tracks (nf, n, 3) of a sole, moved and turned as the knots say, and smoothly between them."""
    frames = np.arange(len(tracks), dtype=np.float64)
    known = [knot.frame for knot in knots]
    own, place = (
        np.column_stack([eased(frames, known, [float(spot[axis]) for spot in spots]) for axis in range(2)])
        for spots in ([knot.own for knot in knots], [knot.place for knot in knots])
    )
    turn = eased(frames, known, [knot.turn for knot in knots])
    return set_into(tracks, Glide(own, np.zeros(len(frames))), Glide(place, turn))


def moved(spots: Array, knot: Knot) -> Array:
    """Spots (n, 3) as a knot says."""
    here, there = Glide(knot.own[None], np.zeros(1)), Glide(knot.place[None], np.array([knot.turn]))
    found: Array = set_into(spots[None], here, there)[0]
    return found


def put_down(character: Character, q: Array, soles: list[Sole], wanted: list[Array]) -> Array:
    """Poses near q (nf, nq) with the corners of soles where they are wanted (nf, n, 3)."""
    bodies = [sole.body for sole in soles for _ in sole.corners]
    local = [corner.position for sole in soles for corner in sole.corners]
    goals = np.ascontiguousarray(np.concatenate(wanted, axis=1))
    aims = Targets(np.array(bodies, dtype=np.int64), np.array(local), goals, np.full(goals.shape, SLACK))
    mobility = np.ones(character.nv)
    mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    return reach(character, np.ascontiguousarray(q), aims, mobility)
