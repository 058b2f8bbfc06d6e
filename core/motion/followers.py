# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that nothing simulates, and which body each goes along with: faces, controls, props in a hand.

Such a bone is no part of the character and hangs from no bone that is: constraints move it, or keys of its own. What
carries it shows in the motion: the body in whose frame it moves least, the nearest of those that are as good. What
moves less in the world, or in a bone that stays there, stays; so does what goes its own way, and what bones with a
body hang from.
"""

import numpy as np
from numpy.typing import NDArray

from . import quaternions
from .clip import Clip
from .quaternions import Array

Bodies = NDArray[np.int64]

MOST_SAMPLES = 60  # of the motion: enough to see who goes along with whom
NEAR = 0.1  # m of motion that a distance of a metre counts for
STILL = 0.001  # m
LOOSE = 0.05  # m: what moves more in every body's frame goes its own way, unless it moves twice as much in the world


def with_followers(clip: Clip, body: Bodies, leader: Bodies, *, above: bool = False) -> Bodies:
    """The body of each bone (nb,), given those of the character's own bones, -1 for all others.

    `leader` is the bone that each body follows. With those `above`, bones that bones with a body hang from may go along
    too, but for what hangs from nothing itself: a rig's root.
    """
    skeleton = clip.skeleton
    holds = ancestors(skeleton.parent, body >= 0)
    if above:
        holds &= skeleton.parent < 0
    loose = np.flatnonzero((body < 0) & ~holds)
    if len(clip.position) < 2 or len(loose) == 0:
        return body
    rows = np.unique(np.linspace(0, len(clip.position) - 1, MOST_SAMPLES).astype(np.int64))
    place, turn = clip.position[rows], clip.orientation[rows]
    points = np.stack([place, place + quaternions.rotate(turn, np.array([LOOSE, 0.0, 0.0])[None, None])])
    points = np.concatenate([points, place[None] + quaternions.rotate(turn, np.array([[[0.0, LOOSE, 0.0]]]))[None]])
    in_body = np.array([_spread(points[:, :, loose], place[:, bone], turn[:, bone]) for bone in leader])
    away = np.array([_distances(clip, loose, np.flatnonzero(body == number)) for number in range(len(leader))])
    in_world = _spread(points[:, :, loose], np.zeros((len(rows), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1)))
    found = body.copy()
    for column, bone in enumerate(loose):  # parents come first
        best = int(np.argmin(in_body[:, column] + NEAR * away[:, column]))
        moves, still = float(in_body[best, column]), float(in_world[column])
        parent = int(skeleton.parent[bone])
        if parent >= 0 and found[parent] < 0:
            still = min(still, float(_spread(points[:, :, [bone]], place[:, parent], turn[:, parent])[0]))
        stays = still < STILL <= moves
        if not stays and moves < max(LOOSE, 0.5 * float(in_world[column])):
            found[bone] = best
    return found


def ancestors(parent: NDArray[np.int64], own: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Bones (nb,) from which some of the character's own hang."""
    found = np.zeros(len(parent), dtype=np.bool_)
    for bone in range(len(parent) - 1, -1, -1):
        if parent[bone] >= 0:
            found[parent[bone]] |= found[bone] or own[bone]
    return found


def _spread(points: Array, origin: Array, turn: Array) -> Array:
    """How far bones (n,), by points (np, nf, n, 3) of each, get from their mean place in a moving frame, m."""
    back = quaternions.conjugate(turn)[None, :, None]
    local = quaternions.rotate(back, points - origin[None, :, None])
    off = np.linalg.norm(local - local.mean(axis=1, keepdims=True), axis=3)
    return np.asarray(off.max(axis=(0, 1)))


def _distances(clip: Clip, loose: Bodies, own: Bodies) -> Array:
    """How far the heads of loose bones (n,) are from the nearest of some bones at the first sample, m."""
    if len(own) == 0:
        return np.full(len(loose), np.inf)
    skeleton = clip.skeleton
    length = skeleton.tail[own] - skeleton.head[own]
    along = quaternions.rotate(quaternions.conjugate(skeleton.orientation[own]), length)
    way = quaternions.rotate(clip.orientation[0, own], along)
    to = clip.position[0, loose][:, None] - clip.position[0, own][None]
    share = np.clip((to * way).sum(axis=2) / (way**2).sum(axis=1), 0.0, 1.0)
    return np.asarray(np.linalg.norm(to - share[..., None] * way, axis=2).min(axis=1))
