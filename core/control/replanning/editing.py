# SPDX-License-Identifier: GPL-3.0-or-later
"""Going over to another motion while one is followed (Jain and Liu 2011, section 6).

The other edits need nothing of their own: FK and IK are those of a trajectory (motion/editing.py), whose poses are put
into the track, and a time warp is how it is played (motion/playback.py).
"""

from dataclasses import replace

import numpy as np

from ...character import Character
from ...dynamics import difference, integrate
from ..track import Array, Track


def transition(
    character: Character, track: Track, frame: int, state: tuple[Array, Array], other: Track, seconds: float
) -> Track:
    """The track up to `frame`, then another from its first frame on, from the state (q, v) in which the character is.

    Over some seconds its own way, on which it comes to rest, gives way to the other motion.
    """
    if abs(track.dt - other.dt) > 1e-9 * track.dt:
        raise ValueError("Motions of different rates cannot be joined: resample one of them.")
    if not seconds > 0.0:
        raise ValueError(f"A transition must last longer than 0 s, not {seconds:g} s.")
    first, second = _with_points_of(track, other), _with_points_of(other, track)
    rows = [first.row(k) for k in range(frame)]
    poses = [first.pose(character, k) for k in range(frame)]
    for k in range(len(second.q)):
        time = min(k * track.dt, seconds)
        own = integrate(character, state[0], state[1], time - 0.5 * time * time / seconds)
        x = time / seconds
        share = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        poses.append(integrate(character, own, difference(character, own, second.q[k]), share))
    return replace(
        first,
        q=np.array(poses),
        loaded=np.concatenate((first.loaded[rows], _in_order(second, first).loaded)),
        normal=np.concatenate((first.normal[rows], _in_order(second, first).normal)),
        cycle=None,
    )


def _names(track: Track) -> list[tuple[int, tuple[float, ...], bool]]:
    """What tells a track's points apart."""
    return [
        (int(body), tuple(local), bool(grip))
        for body, local, grip in zip(track.point_body, track.point_local.tolist(), track.grip, strict=True)
    ]


def _with_points_of(track: Track, other: Track) -> Track:
    """The track with the other's points too, which bear no weight in it."""
    names = _names(track)
    missing = [p for p, name in enumerate(_names(other)) if name not in names]
    frames = len(track.q)
    up = np.tile((0.0, 0.0, 1.0), (frames, len(missing), 1))
    return replace(
        track,
        loaded=np.concatenate((track.loaded, np.zeros((frames, len(missing)), dtype=np.bool_)), axis=1),
        normal=np.concatenate((track.normal, up), axis=1),
        point_body=np.concatenate((track.point_body, other.point_body[missing])),
        point_local=np.concatenate((track.point_local, other.point_local[missing])),
        grip=np.concatenate((track.grip, other.grip[missing])),
    )


def _in_order(track: Track, like: Track) -> Track:
    """The track with its points in another's order."""
    names = _names(track)
    order = [names.index(name) for name in _names(like)]
    return replace(track, loaded=track.loaded[:, order], normal=track.normal[:, order])
