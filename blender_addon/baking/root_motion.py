# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake for games: its way over the ground on the root bone, or taken off. Pure data.

The way is that of the hips, as on the ground: without their bobbing and swaying, that stay in the body. All bones stay
where they are in the world, or as they are around the hips: only what they hang from moves, or nothing does.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.reading import rotations_of

Kind = Literal["NONE", "ROOT", "IN_PLACE"]
SMOOTH = 0.15  # s: standard deviation of the way's low-pass, that a stride's swaying does not pass


class Choice(NamedTuple):
    """What becomes of the way."""

    kind: Kind
    turns: bool  # it turns with the hips
    rises: bool  # it goes up and down with them


def with_root_motion(
    pose: Array, parent: NDArray[np.int64], hips: int, up: Array, fps: float, choice: Choice, name: str
) -> Array:
    """Return poses (nf, nb, 4, 4) of which the root takes the way of the hips, or nothing does.

    `up` (3,) is the vertical in the space of the poses; ValueError, with the armature's `name`, where there is no root.
    """
    if choice.kind == "NONE":
        return pose
    above = ancestors(parent, hips)
    if choice.kind == "ROOT" and not above:
        raise ValueError(
            f"{name} has no bone above its hips to take the way: add a root bone on the ground and parent the hips to "
            "it, or choose In Place under Root Motion."
        )
    way = way_of(pose[:, hips], up, fps, choice)
    result = pose.copy()
    if choice.kind == "IN_PLACE":
        result = np.linalg.inv(way)[:, None] @ result
        result[:, above] = pose[:1, above]
    else:
        result[:, above] = way[:, None] @ pose[:1, above]
    return result


def way_of(hips: Array, up: Array, fps: float, choice: Choice) -> Array:
    """Return the motion (nf, 4, 4) over the ground from the first frame on, of hips that are posed so (nf, 4, 4)."""
    rotation = rotations_of(hips[:, :3, :3])
    change = quaternions.continuous(quaternions.from_matrix(rotation @ rotation[0].T))
    heading = np.unwrap(2.0 * np.arctan2(change[:, 1:] @ up, change[:, 0]))
    place = hips[:, :3, 3]
    if not choice.rises:
        place = place - (place @ up)[:, None] * up
    if not choice.turns:
        heading = np.zeros_like(heading)
    sigma = SMOOTH * fps
    heading, place = (gaussian_filter1d(values, sigma, axis=0, mode="nearest") for values in (heading, place))
    result = np.tile(np.eye(4), (len(hips), 1, 1))
    result[:, :3, :3] = quaternions.matrix(quaternions.exp((heading - heading[0])[:, None] * up))
    result[:, :3, 3] = place - np.einsum("fij,j->fi", result[:, :3, :3], place[0])
    return result


def ancestors(parent: NDArray[np.int64], bone: int) -> list[int]:
    """Return the bones that a bone hangs from, the nearest first."""
    found: list[int] = []
    bone = int(parent[bone])
    while bone >= 0:
        found.append(bone)
        bone = int(parent[bone])
    return found
