# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference laid out in the world: where its limbs are to be, and by how much each segment is moved.

Limbs are the bodies that ever bear weight. Each stance of a limb may be moved, onto a stair or a stepping stone; its
swings are warped from one stance to the next, and the goal of each segment is moved by the mean of the stances in which
it ends (Ye and Liu 2010, section 6).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...maths.structure import Structure
from ...motion.fit import body_poses
from ...motion.footholds import stepping
from ...motion.reference import Reference
from ...motion.schedule import runs
from .model import CENTER, TURNED
from .segments import spans
from .states import Outline

Array = NDArray[np.float64]

LOWEST = 0.1  # m


class Stance(NamedTuple):
    """A limb at rest on its place for some frames."""

    limb: int
    first: int
    last: int
    place: Array  # (3,) the middle of its points, m


class Route(Structure):
    """What a step reads of the reference: N steps, ns segments, np points, nl limbs."""

    dt: float  # s
    q: Array  # (N + 1, nq)
    turned: Array  # (N + 1, 3) [Phi]
    loaded: NDArray[np.bool_]  # (N, np)
    body: NDArray[np.int64]  # (np,) of each point
    local: Array  # (np, 3)
    limb: NDArray[np.int64]  # (np,) of each point
    place: Array  # (N + 1, np, 3) of each point, moved
    limb_body: NDArray[np.int64]  # (nl,)
    limb_place: Array  # (N + 1, nl, 3) of each limb's frame, moved
    limb_turn: Array  # (N + 1, nl, 4)
    limb_point: Array  # (N + 1, nl, 3) in its frame, the middle of its points that bear weight then, or else its origin
    first: NDArray[np.int64]  # (ns,) frame in which each segment begins
    last: NDArray[np.int64]  # (ns,) frame in which it ends
    origin: Array  # (ns + 1, 3) by how much each segment is moved; and the end of the last
    lift: NDArray[np.int64]  # (N + 1, nl) where each limb's next swing begins, of those that are not over
    land: NDArray[np.int64]  # (N + 1, nl) where it ends; -1 if there is none
    newest: NDArray[np.int64]  # (N + 1,) the limb that was set down last
    pressure: Array  # (N, 3) centre of the contacts' forces
    height: float  # m, of the centre of mass over the ground, on average
    falling: float  # 1/s, at which a body of this height falls: sqrt(g / height)


def stances(outline: Outline) -> list[Stance]:
    """All stances of all limbs, in the order of limbs and then of time."""
    found = []
    for limb, body in enumerate(np.unique(outline.body)):
        points = np.flatnonzero(outline.body == body)
        for first, stop in runs(np.asarray(outline.loaded[:, points].any(axis=1))):
            held = outline.loaded[first:stop, points]
            place = outline.place[first + 1 : stop + 1, points][held].mean(axis=0)
            # a step's force acts where the next frame has its point, which holds until the frame after that
            found.append(Stance(limb, first, min(stop + 1, len(outline.loaded)), place))
    return found


def make_route(reference: Reference, outline: Outline, moves: Sequence[Array] | None = None) -> Route:
    """The route on which each of the `stances` is moved by (3,), or none is."""
    places = stances(outline)
    moved = [np.zeros(3)] * len(places) if moves is None else list(moves)
    limb_body, limb = np.unique(outline.body, return_inverse=True)
    frames = reference.steps + 1
    offset = _offsets(places, moved, len(limb_body), frames)
    place, turn = body_poses(reference.character, reference.q)
    segments = spans(outline)
    ends = [segments[0].first, *(span.last for span in segments)]
    lift, land, newest = _swings(places, len(limb_body), frames)
    points, height = outline.place + offset[:, limb], _height(outline)
    return Route(
        dt=outline.dt,
        q=np.ascontiguousarray(reference.q),
        turned=np.ascontiguousarray(outline.x[:, TURNED : TURNED + 3]),
        loaded=outline.loaded,
        body=outline.body,
        local=outline.local,
        limb=limb.astype(np.int64).reshape(-1),
        place=points,
        limb_body=limb_body,
        limb_place=place[:, limb_body] + offset,
        limb_turn=np.ascontiguousarray(turn[:, limb_body]),
        limb_point=_middles(outline, limb_body),
        first=np.array([span.first for span in segments], dtype=np.int64),
        last=np.array([span.last for span in segments], dtype=np.int64),
        origin=np.array([_goal(places, moved, offset, end) for end in ends]),
        lift=lift,
        land=land,
        newest=newest,
        pressure=_pressure(outline, points),
        height=height,
        falling=float(np.sqrt(np.linalg.norm(reference.character.gravity) / height)),
    )


def _swings(
    places: Sequence[Stance], limbs: int, frames: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where each limb's next swing begins and ends, and which limb was set down last."""
    lift, land = np.full((frames, limbs), -1), np.full((frames, limbs), -1)
    for limb in range(limbs):
        own = [one for one in places if one.limb == limb]
        for before, after in reversed(list(pairwise(own))):
            lift[: after.first, limb], land[: after.first, limb] = before.last, after.first
    newest = np.zeros(frames, dtype=np.int64)
    for one in sorted(places, key=lambda one: one.first):
        newest[one.first :] = one.limb
    return lift, land, newest


def _pressure(outline: Outline, points: Array) -> Array:
    """Where the reference's forces act in each step, on average by their strength (N, 3)."""
    strength = np.linalg.norm(outline.force, axis=2)
    whole = np.einsum("kp,kpi->ki", strength, points[1:])
    found: Array = whole / np.maximum(strength.sum(axis=1), 1e-9)[:, None]
    return found


def _height(outline: Outline) -> float:
    ground = outline.place[1:][outline.loaded]
    floor = float(ground[:, 2].mean()) if len(ground) else 0.0
    return max(float(outline.x[:, CENTER + 2].mean()) - floor, LOWEST)


def _offsets(places: Sequence[Stance], moves: Sequence[Array], limbs: int, frames: int) -> Array:
    """By how much each limb (frames, nl, 3) is moved: its stance's move, and between stances a smooth way."""
    offset = np.zeros((frames, limbs, 3))
    latest = max(range(len(places)), key=lambda i: places[i].first, default=0)
    for limb in range(limbs):
        own = [(one, move) for one, move in zip(places, moves, strict=True) if one.limb == limb]
        if not own:
            continue
        offset[:, limb] = own[0][1]
        for (before, low), (after, high) in pairwise(own):
            x = np.linspace(0.0, 1.0, after.first - before.last + 1)[:, None]
            offset[before.last : after.first + 1, limb] = stepping(low, high, x)
            offset[after.first :, limb] = high
        before, low = own[-1]
        if before.last < frames - 1:  # a swing that the motion does not end: along with what stands then
            x = np.linspace(0.0, 1.0, frames - before.last)[:, None]
            offset[before.last :, limb] = stepping(low, moves[latest], x)
    return offset


def _middles(outline: Outline, limb_body: NDArray[np.int64]) -> Array:
    """Of each limb's points, the middle of those that bear weight in the step before each frame (frames, nl, 3)."""
    middle = np.zeros((len(outline.loaded) + 1, len(limb_body), 3))
    for limb, body in enumerate(limb_body):
        loaded = outline.loaded * (outline.body == body)
        middle[1:, limb] = loaded @ outline.local / np.maximum(loaded.sum(axis=1), 1)[:, None]
    return middle


def _goal(places: Sequence[Stance], moves: Sequence[Array], offset: Array, frame: int) -> Array:
    """By how much the centre of mass is moved in a frame: as the limbs that stand, or else as all.

    Up and down as the lowest of them: legs can bend, but not stretch.
    """
    standing = [move for one, move in zip(places, moves, strict=True) if one.first <= frame <= one.last]
    own = np.array(standing) if standing else offset[frame]
    return np.array([*own[:, :2].mean(axis=0), own[:, 2].min()])
