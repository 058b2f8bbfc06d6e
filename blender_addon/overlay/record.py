# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake's overlay draws, frame by frame: kept as text on the action, and lines of plain data made of it."""

import base64
import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.job import BakeResult
from ...core.motion.quaternions import Array
from .data import CENTER, FOOT, Color, Lines, joined

GHOST: Color = (1.0, 0.85, 0.3, 0.6)
FORCE: Color = (1.0, 0.45, 0.1, 1.0)
HELP: Color = (0.2, 0.9, 1.0, 1.0)
PUSH: Color = (0.9, 0.2, 1.0, 1.0)
FALL: Color = (1.0, 0.1, 0.1, 1.0)
FORCE_LENGTH = 1e-3  # m for each newton: a standing person's legs have arrows of a third of a metre
PUSH_LENGTH = 4e-3  # m for each newton of a push
HEAD = 0.15  # of an arrow's length
CROSS = 0.06  # m
FALL_RADIUS = 0.25  # m
CORNERS = 24
TOLD = 10.0  # N and N m: less help is not drawn
TURNS = 0.3  # m: help that turns by more than its force does over such an arm is told as turning too
NEAR = 0.5 + 1e-6  # frames
MARK = ":"  # is in no text of the older kind


@dataclass(frozen=True, eq=False)
class Record:
    """Places in the world in metres, of nf frames; ragged rows as in BakeResult."""

    frames: Array  # (nf,)
    parent: Array  # (nb,) of the bones that belong to bodies, -1 of others
    ghost: Array  # (nf, nb, 3) heads of the reference's bones
    center: Array  # (nf, 3) of mass
    support_start: Array  # (nf + 1,)
    support: Array  # (n, 3)
    force_start: Array  # (nf + 1,)
    force_point: Array  # (m, 3)
    force: Array  # (m, 3) N
    help: Array  # (nf, 4) from nowhere, N and how much it turns, N m; (0, 4) where there is none
    fall: Array  # frame and place (4,), or (0,)

    def row(self, frame: float) -> int | None:
        """The row of a frame, None outside."""
        row = int(np.argmin(np.abs(self.frames - frame)))
        return row if abs(self.frames[row] - frame) <= NEAR else None


def pack(result: BakeResult) -> str:
    """Return a result's part that the overlay draws; of the bones, those that bodies carry."""
    fall = result.fall
    bones = np.unique(result.figure)
    parent = np.full(len(bones), -1.0)
    parent[np.searchsorted(bones, result.figure[:, 1])] = np.searchsorted(bones, result.figure[:, 0])
    record = Record(
        frames=result.frames,
        parent=parent,
        ghost=result.reference[..., :3, 3][:, bones],
        center=result.center_of_mass,
        support_start=result.support.start.astype(np.float64),
        support=result.support.point,
        force_start=result.forces.start.astype(np.float64),
        force_point=result.forces.point,
        force=result.forces.force,
        help=help_of(result),
        fall=np.array([] if fall is None else [fall.frame, *fall.place]),
    )
    arrays: dict[str, Any] = {
        entry.name: np.asarray(getattr(record, entry.name), dtype=np.float32) for entry in fields(Record)
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return MARK + base64.b64encode(buffer.getvalue()).decode()


@lru_cache(maxsize=8)
def unpack(text: str) -> Record | None:
    """Return what `pack` wrote, None for anything else; what has no mark is of an older alphabet."""
    try:
        content = base64.b64decode(text[1:]) if text.startswith(MARK) else base64.b85decode(text)
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            known = [entry.name for entry in fields(Record) if entry.name != "help" or "help" in file.files]
            kept = {name: file[name].astype(np.float64) for name in known}
            return Record(**{"help": np.zeros((0, 4)), **kept})  # older files have no help
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def ghost_lines(record: Record, row: int) -> list[tuple[Array, Color]]:
    """Return the reference as a stick figure."""
    return stick_figure(record.ghost[row], record.parent, GHOST)


def stick_figure(heads: Array, parent: Iterable[float], color: Color) -> list[tuple[Array, Color]]:
    """Return a line from every bone's head (nb, 3) to its parent's."""
    return [
        (heads[[int(above), bone]], color)
        for bone, above in enumerate(parent)
        if above >= 0 and np.linalg.norm(heads[bone] - heads[int(above)]) > 1e-6
    ]


def balance_lines(record: Record, row: int) -> list[tuple[Array, Color]]:
    """Return the centre of mass as a cross, its plumb line to the support's height, and the support's outline."""
    center = record.center[row]
    outline = record.support[int(record.support_start[row]) : int(record.support_start[row + 1])]
    ground = np.array([center[0], center[1], outline[:, 2].mean() if len(outline) else 0.0])
    found: list[tuple[Array, Color]] = [(np.array([center, ground]), CENTER)]
    found += [(np.array([center - CROSS * axis, center + CROSS * axis]), CENTER) for axis in np.eye(3)]
    found += [(np.array([ground - CROSS * axis, ground + CROSS * axis]), CENTER) for axis in np.eye(3)[:2]]
    if len(outline) > 1:
        found.append((np.concatenate([outline, outline[:1]]), FOOT))
    return found


def force_lines(record: Record, row: int) -> list[tuple[Array, Color]]:
    """Return an arrow for every contact force."""
    rows = range(int(record.force_start[row]), int(record.force_start[row + 1]))
    found = []
    for each in rows:
        found += arrow(record.force_point[each], record.force_point[each] + FORCE_LENGTH * record.force[each], FORCE)
    return found


def help_of(result: BakeResult) -> Array:
    """Return what a result's curves say of help."""
    names = ("help_x_n", "help_y_n", "help_z_n", "help_moment_nm")
    if any(name not in result.curves for name in names):
        return np.zeros((0, 4))
    return np.column_stack([result.curves[name] for name in names])


def help_lines(record: Record, row: int) -> list[tuple[Array, Color]]:
    """Return an arrow for the force from nowhere, at the centre of mass."""
    if not len(record.help) or np.linalg.norm(record.help[row, :3]) < TOLD:
        return []
    start = record.center[row]
    return arrow(start, start + FORCE_LENGTH * record.help[row, :3], HELP)


def help_label(record: Record, frame: float) -> tuple[Array, str] | None:
    """Return how much help there is at a frame, in words, and where to write it; None where there is none."""
    row = record.row(frame)
    if row is None or not len(record.help):
        return None
    force, moment = float(np.linalg.norm(record.help[row, :3])), float(record.help[row, 3])
    if max(force, moment) < TOLD:
        return None
    turning = f"{moment:.0f} N m" if moment > TURNS * force else ""
    text = ", ".join(part for part in (f"{force:.0f} N" if force >= TOLD else "", turning) if part)
    return record.center[row] + FORCE_LENGTH * record.help[row, :3], f"Help {text}"


def has_fallen(record: Record, frame: float) -> bool:
    """Whether it lies by a frame."""
    return len(record.fall) > 0 and bool(frame >= record.fall[0] - NEAR)


def fall_lines(record: Record) -> list[tuple[Array, Color]]:
    """Return a crossed circle where it fell."""
    place = record.fall[1:]
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS + 1)
    circle = place + FALL_RADIUS * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(CORNERS + 1)])
    across = circle[[CORNERS // 8, 5 * CORNERS // 8]], circle[[3 * CORNERS // 8, 7 * CORNERS // 8]]
    return [(circle, FALL), (across[0], FALL), (across[1], FALL)]


def arrow(start: Array, end: Array, color: Color) -> list[tuple[Array, Color]]:
    """Return an arrow's shaft and two barbs."""
    way = end - start
    length = float(np.linalg.norm(way))
    if length < 1e-9:
        return []
    side = np.cross(way, [0.0, 0.0, 1.0] if abs(way[2]) < 0.9 * length else [1.0, 0.0, 0.0])
    side *= HEAD * length / np.linalg.norm(side)
    back = end - HEAD * 1.5 * way
    return [(np.array([start, end]), color), (np.array([back + 0.5 * side, end, back - 0.5 * side]), color)]


def lines_at(
    record: Record, frame: float, *, ghost: bool, balance: bool, forces: bool, fall: bool, helped: bool = False
) -> Lines | None:
    """Return all that is switched on at a frame, None where there is nothing.

    Who has fallen follows the action no more, so that its ghost is gone too.
    """
    row, fallen = record.row(frame), has_fallen(record, frame)
    segments: list[tuple[Array, Color]] = []
    if row is not None:
        segments += ghost_lines(record, row) if ghost and not fallen else []
        segments += balance_lines(record, row) if balance else []
        segments += force_lines(record, row) if forces else []
        segments += help_lines(record, row) if helped else []
    segments += fall_lines(record) if fall and fallen else []
    return joined(segments) if segments else None
