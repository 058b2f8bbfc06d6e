# SPDX-License-Identifier: GPL-3.0-or-later
"""Where feet are planted: one pose of the sole for each of their stances.

It lies flat on the ground, at one yaw, at the mean of where its ends are, weighted towards their slowest moments.

A foot that turns by less than 25° while it stands flat is held: its leg takes the turn, which the eye misses, while a
sole that slips it does not. One that turns by more pivots: the end of the sole that is the steadier one keeps its
place, and the other is taken out of the schedule for as long as it sweeps. A foot neither of whose ends keeps its place
glides: its stance is parted where it glides fastest. If nothing else carries the body for long meanwhile, it does, and
its places go with it (gliding.py); if not, it carries nothing there. All of that is said. A foot that turns away on its
toe alone, about to leave while the other stands, leaves as soon as it has turned so far.

A sole that stands is held at its corners. Held in the middle of one edge it could spin about it without any torque,
which in the simulation, where every corner has friction, it cannot: such feet slide and take their errors along.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character, Corner
from ..character.tree import BALL, FREE
from ..contact.terrain import Terrain, nearest_points
from ..dynamics import body_poses
from ..maths.angles import direction
from ..sentences import in_frames
from . import fit
from .fit import Trajectory
from .gliding_soles import Stretch, carrying, go_over, parted, steadiest_end, stepped
from .labels import SLOW, distance_from_support, upward_push, zero_moment_point
from .quaternions import Array, conjugate, rotate
from .resample import smoothed
from .rolling import STANDS, STAYS, ends_limb, rolled_way
from .schedule import ContactPoint, ContactSchedule, Mask, runs
from .tracks import center_of_mass_path, point_places, velocities

YAW_CUTOFF = 8.0  # Hz
MOST_TURN = np.radians(25.0)  # of a foot that stands: its ends are then still near their places
SAME_YAW = np.radians(10.0)  # a foot that turned and is as near as this to where it was has turned back
LEAST_PIVOT = np.radians(5.0)  # a turn that is a pivot
LONGEST_LEAVE = 0.1  # s: a foot that turns on one end alone for longer than this before it leaves is not leaving yet
PIVOT_RATE = 0.5  # rad/s: a foot that turns faster than this pivots
MOST_TILT = np.radians(45.0)  # sideways, of a foot that is laid flat
MOST_SPIN = np.radians(30.0)  # of a foot that stands on one end alone: leaving the ground it turns a little
MISPLACED = 0.05  # m: an end that is usually this far from where the planted sole has it has a place of its own
ROLLS = 0.5  # cosine between an ankle's axis and the sole within which it rolls the sole
SHORTEST_PLANTED = 0.1  # s, between two pivots
FALLS_SLOWLY = 0.25  # m outside its support, by which a body's balance is off that a step on the spot does not fell
LONGEST_TWIST = 1.5  # s: a foot that turns and within this turns back has not left its place


class Sole(NamedTuple):
    """A foot: the points of the schedule at its ends, its corners, and a frame on it."""

    body: int
    points: tuple[int, ...]  # columns of the schedule, heel first
    corners: tuple[ContactPoint, ...]
    middle: Array  # (3,) between the points, in the body's frame
    frame: Array  # (3, 3) rows: along the sole, to its left, out of the ground, in the body's frame
    end: NDArray[np.int64]  # (corners,) the column to which each corner belongs
    rolls: bool  # about the line along the sole, by the joint above it
    name: str


class _Piece(NamedTuple):
    """Frames start to stop - 1 of a stance."""

    start: int
    stop: int
    pivots: bool


class Planted(NamedTuple):
    """A schedule whose feet have places, and the poses of their soles in every frame of a stance."""

    schedule: ContactSchedule
    held: ContactSchedule  # the same with feet held at their corners, where they do not spin
    rotation: dict[int, Array]  # by body: (nf, 3, 3) of the planted foot
    middle: dict[int, Array]  # by body: (nf, 3) of the planted sole


def find_soles(character: Character, points: Sequence[ContactPoint]) -> list[Sole]:
    """The feet among the points."""
    _, quaternion = body_poses(character, character.neutral())
    soles = []
    for body in dict.fromkeys(point.body for point in points if point.foot):
        columns = [i for i, point in enumerate(points) if point.foot and point.body == body]
        local = np.array([points[i].position for i in columns])
        name = character.bodies[body].name
        corners = tuple(
            ContactPoint(shape.name, body, shape.position, foot=True)
            for shape in character.contacts
            if isinstance(shape, Corner) and shape.body == name
        )
        spots = np.array([corner.position for corner in corners])
        nearest = np.argmin(np.linalg.norm(spots[:, None] - local[None], axis=2), axis=1)
        up = rotate(conjugate(quaternion[body]), np.array([0.0, 0.0, 1.0]))
        ahead = rotate(conjugate(quaternion[body]), rotate(quaternion[0], np.array([1.0, 0.0, 0.0])))
        along = local[-1] - local[0] if len(columns) > 1 else ahead
        along = along / np.linalg.norm(along)
        if len(spots) > 2:  # out of the plane of the corners
            normal = np.linalg.svd(spots - spots.mean(axis=0))[2][2]
            up = normal if normal @ up > 0.0 else -normal
        up = up - (up @ along) * along
        up /= np.linalg.norm(up)
        frame = np.stack([along, np.cross(up, along), up])
        tree = character.tree
        rolls = tree.joint[body] in {BALL, FREE} or bool((np.abs(tree.axis[body] @ along) > ROLLS).any())
        soles.append(
            Sole(body, tuple(columns), corners, local.mean(axis=0), frame, np.array(columns)[nearest], rolls, name)
        )
    return soles


def plant(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, soles: list[Sole], terrain: Terrain
) -> tuple[Planted, list[str]]:
    """The schedule with planted places, without the ends of feet that sweep around the other."""
    frames = len(trajectory.q)
    schedule, lines = _without_tilted(character, trajectory, schedule, soles)
    active, place = schedule.active.copy(), schedule.place.copy()
    rotation, middle, spins = {}, {}, {}
    stretches = _gliding(character, trajectory, schedule, soles)
    for sole in soles:
        columns = list(sole.points)
        ends = [schedule.points[i] for i in columns]
        local = np.array([end.position for end in ends]) - sole.middle
        rotation[sole.body], middle[sole.body] = np.zeros((frames, 3, 3)), np.zeros((frames, 3))
        tracks = point_places(character, trajectory.q, ends)
        speed = np.linalg.norm(velocities(tracks, trajectory.rate), axis=2)
        heading, edge = (_yaw(character, trajectory, sole, axis) for axis in (0, 1))
        spins[sole.body] = np.zeros(frames, dtype=np.bool_)
        yaws = np.zeros(frames)
        frame_number = [trajectory.frame(k) for k in range(frames)]
        glides, lifted = stretches[sole.body]
        for start, stop in [*glides, *lifted]:
            active[start:stop, columns] = False
            place[start:stop, columns] = 0.0
        for start, stop in lifted:
            when = in_frames(frame_number[start], frame_number[stop - 1])
            lines.append(f"'{sole.name}' slides in {when}, so it carries no weight there.")
        standing = np.asarray(active[:, columns].any(axis=1))
        for start, stop in runs(standing):
            stance = slice(start, stop)
            touching = active[stance][:, columns]
            weight = np.where(touching, 1.0 / (speed[stance] + SLOW) ** 2, 0.0)
            flat = np.asarray(touching.all(axis=1))
            yaw = _untwisted(heading[stance], flat, trajectory.rate)
            pieces = _pieces(yaw, flat, trajectory.rate)
            planned = _planned_yaw(yaw, np.where(flat | ~flat.any(), weight.sum(axis=1), 0.0), pieces)
            kept = steadiest_end(touching, tracks[stance], speed[stance])
            pivots = any(piece.pivots for piece in pieces)
            turn, center = _on_ground(
                tracks[stance], planned, weight, local @ sole.frame[0], kept if pivots else None, terrain
            )
            turn = turn @ sole.frame
            planted = center[:, None] + np.einsum("tij,kj->tki", turn, local)
            for piece in pieces:
                if piece.pivots:
                    touching[piece.start : piece.stop] = np.arange(len(columns)) == kept
            for k in range(len(columns)):
                way = np.linalg.norm(planted[:, k] - tracks[stance, k], axis=1)[touching[:, k]]
                if k != kept and len(way) and np.median(way) > MISPLACED:
                    own = weight[:, k] @ tracks[stance, k] / weight[:, k].sum()
                    planted[:, k] = _nearest_ground(terrain, own)[0]
                    touching[touching[:, k], kept] = False
            away = (edge[stance] - planned + np.pi) % (2.0 * np.pi) - np.pi
            others = np.asarray(np.delete(schedule.active[stance], columns, axis=1).any(axis=1))
            touching[_leaves(away, touching, others, trajectory.rate)] = False
            spins[sole.body][stance] = _spins(away, touching, pieces)
            yaws[stance] = np.where(spins[sole.body][stance], planned + away, planned)
            rotation[sole.body][stance], middle[sole.body][stance] = turn, center
            active[stance, columns] = touching
            place[stance, columns] = np.where(touching[:, :, None], planted, 0.0)
            if pivots:
                when, end = in_frames(frame_number[start], frame_number[stop - 1]), ends[kept].name.rpartition("_")[2]
                lines.append(f"'{sole.name}' pivots by {np.degrees(np.ptp(yaw)):.0f}° on its {end} in {when}.")
        for start, stop in runs(np.asarray(schedule.active[:, columns].any(axis=1))):
            inner = [(max(a - start, 0), min(b, stop) - start) for a, b in glides if start <= a < stop]
            if not inner:
                continue
            stretch = slice(start, stop)
            touching = schedule.active[stretch][:, columns]
            kept = steadiest_end(touching, tracks[stretch], speed[stretch])
            arm = float(local[kept] @ sole.frame[0])
            own_yaw = np.unwrap(np.where(touching.all(axis=1), heading[stretch], edge[stretch]))
            way = np.column_stack([middle[sole.body][stretch] + arm * _ahead(yaws[stretch]), yaws[stretch]])
            own = np.column_stack([tracks[stretch, kept], own_yaw])
            changed = start + np.flatnonzero(go_over(way, own, standing[stretch], inner, trajectory.rate))
            way = way[changed - start]
            turn, center = _laid(way[:, :3] - arm * _ahead(way[:, 3]), way[:, 3], terrain)
            rotation[sole.body][changed], middle[sole.body][changed] = turn @ sole.frame, center
            planted = center[:, None] + np.einsum("tij,kj->tki", turn @ sole.frame, local)
            for a, b in inner:
                active[start + a : start + b, columns] = touching[a:b]
            touching = active[changed][:, columns]
            place[changed[:, None], columns] = np.where(touching[:, :, None], planted, 0.0)
        for start, stop in glides:
            length = np.linalg.norm(np.diff(middle[sole.body][start:stop], axis=0), axis=1).sum()
            when = in_frames(frame_number[start], frame_number[stop - 1])
            lines.append(f"'{sole.name}' glides by {100.0 * length:.0f} cm in {when}.")
    rest = [i for i, point in enumerate(schedule.points) if not (point.foot or point.grab or point.moves)]
    tracks = point_places(character, trajectory.q, [schedule.points[i] for i in rest])
    for i, track in zip(rest, np.moveaxis(tracks, 1, 0), strict=True):
        for start, stop in runs(active[:, i]):
            point, stretch = schedule.points[i], slice(start, stop)
            stays = np.inf if point.rests else STANDS if ends_limb(character, point) else STAYS
            place[stretch, i] = rolled_way(
                track, place[start, i], point.radius, trajectory.rate, stretch, terrain, stays
            )
    planned_schedule = ContactSchedule(schedule.points, active, place)
    return Planted(planned_schedule, _held(planned_schedule, soles, rotation, spins), rotation, middle), lines


def _without_tilted(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, soles: list[Sole]
) -> tuple[ContactSchedule, list[str]]:
    """The schedule without feet that lie on their sides, as those of who lies do: laid flat they would bend the leg."""
    active, lines = schedule.active.copy(), []
    _, turn = fit.body_poses(character, trajectory.q)
    for sole in soles:
        columns = list(sole.points)
        tilted = np.abs(rotate(turn[:, sole.body], sole.frame[1])[:, 2]) > np.sin(MOST_TILT)
        for start, stop in runs(np.asarray(active[:, columns].any(axis=1) & tilted)):
            active[start:stop, columns] = False
            when = in_frames(trajectory.frame(start), trajectory.frame(stop - 1))
            lines.append(f"'{sole.name}' lies on its side in {when}, so it carries no weight there.")
    return (ContactSchedule(schedule.points, active, schedule.place), lines) if lines else (schedule, lines)


def _gliding(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, soles: list[Sole]
) -> dict[int, tuple[list[Stretch], list[Stretch]]]:
    """By body the stretches in which it glides and carries, and those in which it slides and carries nothing."""
    found, rate = {}, trajectory.rate
    for sole in soles:
        tracks = point_places(character, trajectory.q, [schedule.points[i] for i in sole.points])
        found[sole.body] = parted(schedule.active[:, list(sole.points)], tracks, rate)
    columns = {sole.body: list(sole.points) for sole in soles}
    result = carrying(schedule, columns, found, rate)
    without = schedule.active.copy()
    for body, (_, lifted) in result.items():
        for start, stop in lifted:
            without[start:stop, columns[body]] = False
    for body, (glides, lifted) in result.items():
        if lifted:
            touching = np.asarray(schedule.active[:, columns[body]].any(axis=1))
            others = without.copy()
            others[:, columns[body]] = False
            result[body] = glides, stepped(lifted, touching, _balanced(character, trajectory, schedule, others), rate)
    return result


def _balanced(character: Character, trajectory: Trajectory, schedule: ContactSchedule, active: Mask) -> Mask:
    """When (nf,) a body could be carried for a moment by those contacts alone."""
    places = point_places(character, trajectory.q, schedule.points)
    path = center_of_mass_path(character, trajectory.q)
    push = upward_push(path, trajectory.rate, float(character.gravity[2]))
    acts = zero_moment_point(path, push, places, schedule.active)
    return np.asarray(distance_from_support(places, active, acts) < FALLS_SLOWLY)


def _leaves(away: Array, touching: Mask, others: Mask, rate: float) -> Mask:
    """When (n,) a foot that turns on one end has come or gone: before and after its stance, for a moment at most.

    `away` (n,) is how far its edges are turned from the planted yaw, `others` says when something else touches.
    """
    result = np.zeros(len(away), dtype=np.bool_)
    for start, stop in runs(np.asarray(~touching.all(axis=1))):
        turned = start + np.flatnonzero(np.abs(away[start:stop]) > MOST_TURN)
        if len(turned) == 0:
            continue
        first, last = (0, int(turned[-1]) + 1) if start == 0 else (int(turned[0]), stop)
        if (start == 0 or stop == len(away)) and last - first <= LONGEST_LEAVE * rate and others[first:last].all():
            result[first:last] = True
    return result


def _spins(away: Array, touching: Mask, pieces: list[_Piece]) -> Mask:
    """When (n,) a foot turns about one end: where it pivots, and where on one end it turns far from the planted yaw.

    `away` (n,) is how far its edges are turned from there.
    """
    result = np.zeros(len(touching), dtype=np.bool_)
    for start, stop, pivots in pieces:
        result[start:stop] = pivots
    for start, stop in runs(np.asarray(touching.any(axis=1) & ~touching.all(axis=1))):
        if np.abs(away[start:stop]).max() > MOST_SPIN:
            result[start:stop] = True
    return result


def _held(
    schedule: ContactSchedule, soles: list[Sole], rotation: dict[int, Array], spins: dict[int, Mask]
) -> ContactSchedule:
    """The schedule with the corners of feet in place of their ends, except where they spin, or cannot lie flat."""
    active, place = schedule.active.copy(), schedule.place.copy()
    points = list(schedule.points)
    unused = np.zeros(len(points), dtype=np.bool_)
    corners_active, corners_place = [], []
    for sole in soles:
        if not sole.rolls:
            continue
        columns = list(sole.points)
        for corner, end in zip(sole.corners, sole.end, strict=True):
            arm = np.array(corner.position) - np.array(schedule.points[end].position)
            stands = schedule.active[:, end] & ~spins[sole.body]
            points.append(corner)
            corners_active.append(stands)
            corners_place.append(np.where(stands[:, None], schedule.place[:, end] + rotation[sole.body] @ arm, 0.0))
        active[:, columns] &= spins[sole.body][:, None]
        place[:, columns] *= active[:, columns, None]
        unused[columns] = ~active[:, columns].any(axis=0)
    if len(corners_active) == 0:
        return schedule
    keep = np.flatnonzero(np.concatenate([~unused, np.ones(len(corners_active), dtype=np.bool_)]))
    return ContactSchedule(
        tuple(points[i] for i in keep),
        np.concatenate([active, np.stack(corners_active, axis=1)], axis=1)[:, keep],
        np.concatenate([place, np.stack(corners_place, axis=1)], axis=1)[:, keep],
    )


def _yaw(character: Character, trajectory: Trajectory, sole: Sole, axis: int) -> Array:
    """Where a foot points (nf,), by the axis along its sole or the one to its left; no jumps, low-passed, rad."""
    x, y, z = (sole.middle + sole.frame[axis]).tolist()
    ahead = ContactPoint("", sole.body, (x, y, z))
    x, y, z = sole.middle.tolist()
    here = ContactPoint("", sole.body, (x, y, z))
    places = point_places(character, trajectory.q, (here, ahead))
    way = places[:, 1] - places[:, 0]
    yaw = np.asarray(np.unwrap(direction(way[:, 1], way[:, 0])), dtype=np.float64)
    return smoothed(yaw - (0.0, 0.5 * np.pi)[axis], trajectory.rate, YAW_CUTOFF)


def _untwisted(yaw: Array, flat: Mask, rate: float) -> Array:
    """Yaws (n,) of a stance without the turns of a flat foot that it takes back: in squats, captured ankles twist."""
    result = yaw.copy()
    turning = runs(np.asarray((np.abs(np.gradient(yaw)) * rate > PIVOT_RATE) & flat)) if len(yaw) > 1 else []
    done = 0
    for first, _ in turning:
        if first < done:
            continue
        before = max(first - 1, 0)
        ends = [
            min(stop, len(yaw) - 1) for start, stop in turning if start > first and stop - first < LONGEST_TWIST * rate
        ]
        back = [stop for stop in ends if abs(yaw[stop] - yaw[before]) < SAME_YAW]
        if back:
            done = back[-1]
            result[before : done + 1] = np.linspace(yaw[before], yaw[done], done + 1 - before)
    return result


def _pieces(yaw: Array, flat: Mask, rate: float) -> list[_Piece]:
    """A stance parted where the foot turns while it is flat: on one end alone it may turn anyway."""
    if not flat.any() or np.ptp(yaw[flat]) <= MOST_TURN:
        return [_Piece(0, len(yaw), False)]
    first, last = np.flatnonzero(flat)[[0, -1]]
    yaw = yaw[np.clip(np.arange(len(yaw)), first, last)]
    turning = np.abs(np.gradient(yaw)) * rate > PIVOT_RATE
    for start, stop in runs(turning):
        if np.ptp(yaw[start:stop]) < LEAST_PIVOT:
            turning[start:stop] = False
    for start, stop in runs(~turning):
        if stop - start < SHORTEST_PLANTED * rate or np.ptp(yaw[start:stop]) > MOST_TURN:
            turning[start:stop] = True
    pieces = [_Piece(*run, True) for run in runs(turning)] + [_Piece(*run, False) for run in runs(~turning)]
    return sorted(pieces)


def _planned_yaw(yaw: Array, weight: Array, pieces: list[_Piece]) -> Array:
    """The mean of each planted piece; in between the foot's own, bent so that it meets its neighbours."""
    planned = yaw.copy()
    known = np.zeros(len(yaw), dtype=np.bool_)
    for start, stop, pivots in pieces:
        if not pivots:
            w = weight[start:stop] + 1e-9
            planned[start:stop] = w @ yaw[start:stop] / w.sum()
            known[start:stop] = True
    if known.any():
        frame = np.arange(len(yaw))
        planned += np.where(known, 0.0, np.interp(frame, frame[known], (planned - yaw)[known]))
    return planned


def _on_ground(
    tracks: Array, yaw: Array, weight: Array, along: Array, kept: int | None, terrain: Terrain
) -> tuple[Array, Array]:
    """Rotations (n, 3, 3) and middles (n, 3) of a sole that lies on the ground through a stance.

    Its ends, `along` (2,) from its middle, are at `tracks` (n, 2, 3) in the clip. The end `kept` keeps its place; if
    there is none, the sole as a whole.
    """
    heading = _ahead(yaw)
    if kept is not None:
        weight = np.where(np.arange(len(along)) == kept, weight, 0.0)
    arm = float(weight.sum(axis=0) @ along / weight.sum())  # from the middle to what bears weight
    place = np.einsum("tk,tki->i", weight, tracks - (along[None, :, None] - arm) * heading[:, None]) / weight.sum()
    place, normal = _nearest_ground(terrain, place)
    rotation = _rotation(heading, heading @ normal, normal)
    return rotation, place - arm * rotation[:, :, 0]


def _laid(middle: Array, yaw: Array, terrain: Terrain) -> tuple[Array, Array]:
    """The same of a sole whose middle (n, 3) and yaw (n,) are known in each frame."""
    heading = _ahead(yaw)
    near = nearest_points(terrain, np.ascontiguousarray(middle))
    there = (near.surface >= 0)[:, None]
    normal = np.where(there, near.normal, (0.0, 0.0, 1.0))
    return _rotation(heading, (heading * normal).sum(axis=1), normal), np.where(there, near.point, middle)


def _ahead(yaw: Array) -> Array:
    """Level directions (n, 3)."""
    return np.stack([np.cos(yaw), np.sin(yaw), np.zeros(len(yaw))], axis=1)


def _rotation(heading: Array, rise: Array, normal: Array) -> Array:
    """Frames (n, 3, 3) on the ground: ahead, to the left, up. `rise` (n,) of the heading is along the normal."""
    ahead = heading - rise[:, None] * normal
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    return np.stack([ahead, np.cross(normal, ahead), np.broadcast_to(normal, ahead.shape)], axis=2)


def _nearest_ground(terrain: Terrain, place: Array) -> tuple[Array, Array]:
    """The ground's nearest point (3,) and its normal (3,); the place itself where nothing is near."""
    near = nearest_points(terrain, place[None])
    if near.surface[0] < 0:
        return place, np.array([0.0, 0.0, 1.0])
    return near.point[0], near.normal[0]
