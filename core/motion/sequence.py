# SPDX-License-Identifier: GPL-3.0-or-later
"""A sequence of references, laps of cycles and transitions between them, as one reference that does not repeat."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .cycle import Cycle
from .cycles import power
from .quaternions import Array
from .reference import Quality, Reference
from .schedule import ContactSchedule

NOWHERE = Cycle((0.0, 0.0))
CHANGES = ("joint_change", "root_change")  # what a quality says of each frame


class Choice(NamedTuple):
    """Which motion is wanted, and from when on."""

    motion: str
    start: float  # s


class Piece(NamedTuple):
    """Frames of a reference, which count on over the laps of a cyclic one, moved."""

    name: str
    reference: Reference
    frames: range
    way: Cycle


def then(way: Cycle, step: Cycle) -> Cycle:
    """One move, seen from where another leads: first the step, then the way."""
    x, y, _ = way.move_points(np.array([*step.shift, 0.0])).tolist()
    return Cycle((x, y), way.turn + step.turn)


def back(step: Cycle) -> Cycle:
    """The move that undoes another."""
    x, y = (-np.array(step.shift) @ step.rotation[:2, :2]).tolist()
    return Cycle((x, y), -step.turn)


def laps(reference: Reference, frame: int) -> Cycle:
    """All laps before a frame."""
    return NOWHERE if reference.cycle is None else power(reference.cycle, frame // reference.steps)


def row_of(reference: Reference, frame: int) -> int:
    """The reference's own frame."""
    return frame if reference.cycle is None else frame % reference.steps


def concatenate(pieces: Sequence[Piece]) -> Reference:
    """All frames of the pieces; of the steps, all but the last one's, which leads on from the last frame."""
    first = pieces[0].reference
    points = tuple(dict.fromkeys(point for piece in pieces for point in piece.reference.schedule.points))
    parts = []
    for piece in pieces:
        columns = [points.index(point) for point in piece.reference.schedule.points]
        parts += [_frame(piece, frame, columns, len(points)) for frame in piece.frames]
    arrays: dict[str, Any] = {name: np.array([part[name] for part in parts]) for name in parts[0]}
    schedule = ContactSchedule(points, arrays.pop("active"), arrays.pop("place"))
    changes = {name: arrays.pop(name) for name in CHANGES}
    for name in ("torque", "carrying", "force"):
        arrays[name] = arrays[name][:-1]
    quality = replace(_worst([piece.reference.quality for piece in pieces]), **changes)
    return replace(first, **arrays, schedule=schedule, cycle=None, quality=quality)


def standing(reference: Reference, frames: int) -> Reference:
    """The last frame of one that ends at rest, as a cycle of as many steps that goes nowhere."""

    def held(whole: Any, names: Sequence[str], count: int) -> dict[str, Any]:
        return {name: np.repeat(getattr(whole, name)[-1:], count, axis=0) for name in names}

    return replace(
        reference,
        **held(reference, ("q", "normal"), frames + 1),
        **held(reference, ("torque", "carrying", "force"), frames),
        v=np.zeros((frames + 1, reference.v.shape[1])),
        schedule=replace(reference.schedule, **held(reference.schedule, ("active", "place"), frames + 1)),
        cycle=NOWHERE,
        quality=replace(reference.quality, **held(reference.quality, CHANGES, frames + 1)),
    )


def _frame(piece: Piece, frame: int, columns: list[int], points: int) -> dict[str, Array]:
    """What belongs to a frame and to the step from it, moved, with its points in `columns` of so many."""
    reference, row = piece.reference, row_of(piece.reference, frame)
    step = min(row, reference.steps - 1)
    way = then(piece.way, laps(reference, frame))
    q, v = way.move_state(reference.character, reference.q[row], reference.v[row])
    schedule = reference.schedule
    place = np.where(schedule.active[row][:, None], way.move_points(schedule.place[row]), 0.0)
    found = {
        "q": q,
        "v": v,
        "torque": reference.torque[step],
        "joint_change": reference.quality.joint_change[row],
        "root_change": reference.quality.root_change[row],
        "normal": np.tile((0.0, 0.0, 1.0), (points, 1)),
        "active": np.zeros(points, dtype=np.bool_),
        "carrying": np.zeros(points, dtype=np.bool_),
        "place": np.zeros((points, 3)),
        "force": np.zeros((points, 3)),
    }
    found["normal"][columns] = reference.normal[row] @ way.rotation.T
    found["active"][columns] = schedule.active[row]
    found["carrying"][columns] = reference.carrying[step]
    found["place"][columns] = place
    found["force"][columns] = reference.force[step] @ way.rotation.T
    return found


def _worst(qualities: Sequence[Quality]) -> Quality:
    """What is told of them all: of one that is doubtful if there is one, and that lacks most."""
    return max(qualities, key=lambda quality: (not quality.fit_for_control, quality.residual_newtons))
