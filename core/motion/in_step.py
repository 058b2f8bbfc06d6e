# SPDX-License-Identifier: GPL-3.0-or-later
"""References aligned to begin at the same place and, if cyclic, at the same phase.

Clips of one action are keyed or captured anywhere, in any direction, and begin with any foot.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from .cycle import Cycle
from .cycles import planar_step
from .quaternions import Array
from .reference import Reference
from .schedule import ContactSchedule, Mask


def in_step(reference: Reference, like: Reference) -> Reference:
    """The reference begun, if it repeats, where the same feet stand as in `like`; moved to where that begins.

    One that goes somewhere is turned to go the same way; else it faces the same way at the start.
    """
    if reference.cycle is not None and like.cycle is not None:
        reference = begun_later(reference, _offset(reference, like))
    away = planar_step(reference.q[0], like.q[0])
    if reference.cycle is not None and like.cycle is not None:
        goes, wanted = np.array(reference.cycle.shift), np.array(like.cycle.shift)
        if min(np.linalg.norm(goes), np.linalg.norm(wanted)) > 0.0:
            turn = float(np.arctan2(goes[0] * wanted[1] - goes[1] * wanted[0], goes @ wanted))
            x, y, _ = Cycle((0.0, 0.0), turn).move_points(reference.q[0, :3]).tolist()
            away = Cycle((float(like.q[0, 0]) - x, float(like.q[0, 1]) - y), turn)
    return moved(reference, away)


def begun_later(reference: Reference, frames: int) -> Reference:
    """A reference that repeats, from that frame on for one period."""
    cycle = reference.cycle
    if cycle is None:
        raise ValueError("Only a cyclic motion can begin later.")
    r, character, schedule = frames % reference.steps, reference.character, reference.schedule
    if r == 0:
        return reference
    q, v = _moved_states(character, cycle, reference.q[1 : r + 1], reference.v[1 : r + 1])
    turn = cycle.rotation.T
    place = _moved_places(schedule.active[1 : r + 1], schedule.place[1 : r + 1], cycle)
    quality = replace(
        reference.quality,
        joint_change=np.concatenate((reference.quality.joint_change[r:], reference.quality.joint_change[1 : r + 1])),
        root_change=np.concatenate((reference.quality.root_change[r:], reference.quality.root_change[1 : r + 1])),
    )
    return replace(
        reference,
        q=np.concatenate((reference.q[r:], q)),
        v=np.concatenate((reference.v[r:], v)),
        torque=np.roll(reference.torque, -r, axis=0),
        schedule=ContactSchedule(
            schedule.points,
            np.concatenate((schedule.active[r:], schedule.active[1 : r + 1])),
            np.concatenate((schedule.place[r:], place)),
        ),
        normal=np.concatenate((reference.normal[r:], reference.normal[1 : r + 1] @ turn)),
        carrying=np.roll(reference.carrying, -r, axis=0),
        force=np.concatenate((reference.force[r:], reference.force[:r] @ turn)),
        quality=quality,
        first_frame=reference.first_frame + r * reference.frames_per_sample,
    )


def moved(reference: Reference, way: Cycle) -> Reference:
    """The whole motion turned about the vertical and shifted."""
    q, v = _moved_states(reference.character, way, reference.q, reference.v)
    schedule, turn, cycle = reference.schedule, way.rotation.T, reference.cycle
    if cycle is not None:  # way, then the cycle as it appears there: y' = R_c (y - t) + R s + t
        shift = np.array([*cycle.shift, 0.0]) @ turn + np.array([*way.shift, 0.0]) @ (np.eye(3) - cycle.rotation.T)
        cycle = Cycle((float(shift[0]), float(shift[1])), cycle.turn)
    place = _moved_places(schedule.active, schedule.place, way)
    return replace(
        reference,
        q=q,
        v=v,
        schedule=ContactSchedule(schedule.points, schedule.active, place),
        normal=reference.normal @ turn,
        force=reference.force @ turn,
        cycle=cycle,
    )


def _offset(reference: Reference, like: Reference) -> int:
    """The frame of a period at which to begin, so that the same bodies stand at the same phases most of the time."""
    own, wanted = _standing(reference), _standing(like)
    rows = np.arange(len(wanted)) * len(own) // len(wanted)
    alike = [float(np.mean(np.roll(own, -k, axis=0)[rows] == wanted)) for k in range(len(own))]
    best = np.flatnonzero(np.array(alike) == max(alike))
    # of several the one that asks for the least, the other way round included
    return int(best[np.argmin(np.minimum(best, len(own) - best))])


def _standing(reference: Reference) -> Mask:
    """Whether each body with a contact point bears load (N, nb); that of all of a character's bodies."""
    found = np.zeros((reference.steps, len(reference.character.bodies)), dtype=np.bool_)
    for column, point in enumerate(reference.schedule.points):
        found[:, point.body] |= reference.carrying[:, column]
    return found


def _moved_states(character: Character, way: Cycle, q: Array, v: Array) -> tuple[Array, Array]:
    states = [way.move_state(character, *state) for state in zip(q, v, strict=True)]
    return np.array([one for one, _ in states]), np.array([other for _, other in states])


def _moved_places(active: NDArray[np.bool_], place: Array, way: Cycle) -> Array:
    return np.where(active[..., None], way.move_points(place), 0.0)
