# SPDX-License-Identifier: GPL-3.0-or-later
"""How high the ground is where the character stands, and where it will, against where the reference stands.

Without this a descent pulls the root up by the height of every step, until the character hangs from its reference.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Terrain
from ...dynamics.kinematics import world_point
from ...maths.kernel import kernel
from ...maths.vectors import dot, row, subtract
from ...motion.cycles import power
from ...motion.fit import body_poses
from ...motion.footholds import HIGHEST, heights_below
from ...motion.quaternions import rotate
from ...motion.schedule import runs
from .track import Track
from .workspace import Machine

# A point that is nearer than this to the terrain stands on it, m.
TOUCHING = 0.003


class Landing(NamedTuple):
    """A foot's next stance, seen from a frame."""

    frames: int  # until it begins
    place: NDArray[np.float64]  # (3,) the middle of its points, in the coordinates of the frame's lap, m


def point_places(character: Character, track: Track) -> NDArray[np.float64]:
    """The track's points (nf, np, 3) in its own coordinates, m."""
    position, orientation = body_poses(character, track.q)
    places: NDArray[np.float64] = position[:, track.point_body]
    return places + rotate(orientation[:, track.point_body], track.point_local)


def next_landings(track: Track, places: NDArray[np.float64]) -> list[Landing | None]:
    """Of every frame the next, by whichever body; None where no more comes."""
    frames = len(track.q)
    laps = 1 if track.cycle is None else 3
    landings, touching = [], track.touching
    for body in np.unique(track.point_body):
        own = track.point_body == body
        for start, stop in runs(np.asarray(np.tile(touching[:, own].any(axis=1), laps))):
            middle = (start + stop) // 2
            spots = places[middle % frames, own & touching[middle % frames]]
            lap = middle // frames
            if track.cycle is not None:
                spots = power(track.cycle, lap).move_points(spots)
            landings.append(Landing(start, spots.mean(axis=0)))
    landings.sort(key=lambda landing: landing.frames)
    found: list[Landing | None] = []
    for k in range(frames):
        after = [landing for landing in landings if landing.frames > k]
        found.append(Landing(after[0].frames - k, after[0].place) if after else None)
    return found


def height_at(terrain: Terrain, x: float, y: float, near: float, time: float) -> float:
    """Height of the ground there that is met from above `near`; NaN where there is none."""
    return float(heights_below(terrain, np.array([[x, y, near + HIGHEST]]), time)[0])


@kernel
def ground_height(machine: Machine, loaded: NDArray[np.bool_], heights: NDArray[np.float64]) -> float:
    """Mean height of the ground where it is touched, less that of the reference's points that stand there; or NaN.

    `loaded` (np,) says which of the policy's points bear load at this frame; `heights` (np,) are the reference's own.
    Each contact is compared with the nearest point of its own body: on a slope heel and toe differ.
    """
    bodies, contacts, policy = machine.bodies, machine.contacts, machine.policy
    found = 0.0
    count = 0
    for c in range(contacts.filled[0]):
        if contacts.other[c] >= 0 or not contacts.gap[c] < TOUCHING:
            continue
        touch = row(contacts.point, c)
        nearest, own = np.inf, 0.0
        for p in range(loaded.shape[0]):
            if loaded[p] and policy.body[p] == contacts.body[c]:
                arm = subtract(world_point(bodies, policy.body[p], row(policy.local, p)), touch)
                if dot(arm, arm) < nearest:
                    nearest, own = dot(arm, arm), heights[p]
        if nearest < np.inf:
            found += touch[2] - contacts.gap[c] * contacts.normal[c, 2] - own
            count += 1
    return found / count if count > 0 else np.nan
