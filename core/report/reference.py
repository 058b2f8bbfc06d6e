# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a reference: its quality, and its changes in each frame of the scene."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..motion.quaternions import Array
from ..motion.reference import Quality, Reference
from ..sentences import to_data

HIDDEN = ("sentences", "joint_change", "root_change")
MOVING = ("ball", "universal", "hinge")


@dataclass(frozen=True, eq=False)
class Changes:
    """How far the reference is from the clip in nf frames of the scene."""

    frames: Array  # (nf,)
    place: Array  # (nf,) m, of the root
    heading: Array  # (nf,) rad, of the root
    joints: dict[str, Array]  # (nf,) rad, by the joint's name


def summary(reference: Reference, lines: Sequence[str] = ()) -> dict[str, Any]:
    """The figures of `motion.reference.Quality` by name, and the lines on what was done to the clip."""
    names = [entry.name for entry in fields(Quality) if entry.name not in HIDDEN]
    words = {"why": reference.quality.why, "sentences": to_data(reference.quality.sentences), "lines": list(lines)}
    return {name: getattr(reference.quality, name) for name in names} | words


def changes(reference: Reference) -> Changes:
    """The changes at each whole frame, taken from the nearest sample."""
    count = len(reference.q)
    first, step = reference.first_frame, reference.frames_per_sample
    frames = np.arange(np.ceil(first - 1e-6), first + (count - 1) * step + 1e-6)
    rows = np.clip(np.round((frames - first) / step).astype(np.int64), 0, count - 1)
    quality = reference.quality
    return Changes(
        frames=frames,
        place=np.linalg.norm(quality.root_change, axis=1)[rows],
        heading=quality.joint_change[rows, 0],
        joints={
            body.joint.name: quality.joint_change[rows, index]
            for index, body in enumerate(reference.character.bodies)
            if body.joint.kind in MOVING
        },
    )
