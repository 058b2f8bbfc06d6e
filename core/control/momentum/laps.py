# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference that repeats, played some times over."""

from dataclasses import replace

import numpy as np

from ...motion.quaternions import Array
from ...motion.reference import Reference
from ...motion.schedule import ContactSchedule


def unrolled(reference: Reference, laps: int) -> Reference:
    """So many laps of a cyclic reference in a row, as one that does not repeat; the quality told is that of one."""
    cycle, steps, schedule = reference.cycle, reference.steps, reference.schedule
    if cycle is None:
        raise ValueError("Only a cyclic motion has laps.")
    q, v, place = reference.q.copy(), reference.v.copy(), schedule.place
    normal, force = reference.normal, reference.force
    parts: dict[str, list[Array]] = {name: [] for name in ("q", "v", "place", "normal", "force")}
    for _ in range(laps):
        for name, rows in (("q", q), ("v", v), ("place", place), ("normal", normal), ("force", force)):
            parts[name].append(rows[:steps])
        last = q[steps], v[steps], place[steps], normal[steps]
        moved = [cycle.move_state(reference.character, *state) for state in zip(q, v, strict=True)]
        q, v = (np.array(column) for column in zip(*moved, strict=True))
        place = np.where(schedule.active[:, :, None], cycle.move_points(place), 0.0)
        normal, force = normal @ cycle.rotation.T, force @ cycle.rotation.T
    for name, row in zip(("q", "v", "place", "normal"), last, strict=True):
        parts[name].append(row[None])
    whole = {name: np.concatenate(rows) for name, rows in parts.items()}
    active = np.concatenate([np.tile(schedule.active[:steps], (laps, 1)), schedule.active[steps:]])

    def repeated(change: Array) -> Array:
        return np.concatenate([np.tile(change[:steps], (laps, 1)), change[steps:]])

    quality = replace(
        reference.quality,
        joint_change=repeated(reference.quality.joint_change),
        root_change=repeated(reference.quality.root_change),
    )
    return replace(
        reference,
        q=whole["q"],
        v=whole["v"],
        torque=np.tile(reference.torque, (laps, 1)),
        schedule=ContactSchedule(schedule.points, active, whole["place"]),
        normal=whole["normal"],
        carrying=np.tile(reference.carrying, (laps, 1)),
        force=whole["force"],
        cycle=None,
        quality=quality,
    )
