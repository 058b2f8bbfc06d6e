# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference: a motion with the torques and contact forces that make it happen, step by step; and its file.

Frames are 0 to N and steps 0 to N - 1; step k leads from frame k to frame k + 1 by the one integrator
(dynamics/stepping.py), with forces acting at the positions of frame k + 1.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import archive
from ..character import Character
from ..sentences import Sentence, join
from .cycle import Cycle
from .outside import NOTHING, Outside
from .schedule import ContactSchedule

Array = NDArray[np.float64]

FORMAT = "heft.reference"
VERSION = 5


@dataclass(frozen=True, eq=False)
class Quality:
    """How good a reference is, in units that people know, and what became of the clip."""

    residual_newtons: float  # greatest force that the motion lacks, over all steps
    residual_newton_metres: float  # greatest torque that it lacks
    slip_millimetres: float  # greatest distance of a held point from its place
    penetration_millimetres: float  # greatest depth of a point under the ground
    friction_use: float  # greatest tangential force as a share of what Coulomb's cone allows
    end_error: float  # the last state's greatest distance from where it is bound, rad, m and per second
    joint_rms_degrees: float  # change of the joints' rotations, over all joints and frames
    root_rms_metres: float  # change of the root's place
    root_max_metres: float
    peak_force_newtons: float  # of the ground on one point
    peak_torque_newton_metres: float  # of one motor
    iterations: int
    last_step: float  # greatest change of a pose in the last iteration, rad and m
    seconds: float  # of computation
    fit_for_control: bool
    sentences: tuple[Sentence, ...]  # how good it is, or what is doubtful
    joint_change: Array = field(repr=False)  # (N + 1, bodies) angle between the reference's joint and the clip's, rad
    root_change: Array = field(repr=False)  # (N + 1, 3) of the root's place, m

    @property
    def why(self) -> str:
        """The sentences in English."""
        return join(self.sentences)


@dataclass(frozen=True, eq=False)
class Reference:
    """A physically consistent motion of a character."""

    character: Character
    rate: float  # steps per second
    q: Array  # (N + 1, nq)
    v: Array  # (N + 1, nv)
    torque: Array  # (N, motors) of every velocity after a free root's six
    schedule: ContactSchedule  # over N + 1 frames and np points, as it was asked for
    normal: Array  # (N + 1, np, 3) of the ground at each point
    carrying: NDArray[np.bool_]  # (N, np) the point may carry force in this step
    force: Array  # (N, np, 3) on the points, in the world's axes, N
    friction: float  # coefficient to which the forces keep
    cycle: Cycle | None  # how the motion moves on in one period; None where it does not repeat
    quality: Quality
    first_frame: float = 0.0  # the source's own number of frame 0
    frames_per_sample: float = 1.0
    outside: Outside = NOTHING  # what acts besides, over the same steps and frames

    def __post_init__(self) -> None:
        frames, points = len(self.q), len(self.schedule.points)
        first = 6 if self.character.bodies[0].joint.kind == "free" else 0
        shapes = {
            "q": (frames, self.character.nq),
            "v": (frames, self.character.nv),
            "torque": (frames - 1, self.character.nv - first),
            "normal": (frames, points, 3),
            "carrying": (frames - 1, points),
            "force": (frames - 1, points, 3),
        }
        if frames < 2:
            raise ValueError(f"A reference needs at least 2 frames, not {frames}.")
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape:
                raise ValueError(f"The shape of {name} must be {shape}, not {array.shape}.")
            if array.dtype != (np.bool_ if name == "carrying" else np.float64):
                raise ValueError(f"{name} cannot hold {array.dtype}.")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite.")
        if self.schedule.active.shape[0] != frames:
            raise ValueError(f"The contacts must cover {frames} frames, not {self.schedule.active.shape[0]}.")
        for point in self.schedule.points:
            if not 0 <= point.body < len(self.character.bodies):
                raise ValueError("A contact point belongs to no body of the character.")
            if not np.isfinite(point.position).all():
                raise ValueError(f"The place of contact point {point.name[:40]!r} must be finite.")
        if self.outside.points:
            self.outside.check(self.character, frames)
        for name, change in (("joint", self.quality.joint_change), ("root", self.quality.root_change)):
            if change.ndim != 2 or len(change) != frames or not np.isfinite(change).all():
                raise ValueError(f"The change of the {name} must have one finite row for every frame.")
        if not (np.isfinite(self.rate) and self.rate > 0.0 and np.isfinite(self.friction) and self.friction >= 0.0):
            raise ValueError(
                f"The rate must be positive and the friction at least 0, not {self.rate} and {self.friction}."
            )

    @property
    def steps(self) -> int:
        """N: one less than frames."""
        return len(self.torque)

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        archive.save(self, Reference, path, FORMAT, VERSION)

    @classmethod
    def load(cls, path: str | Path) -> "Reference":
        """Read a file that `save` wrote; ValueError says in one line what is wrong with it."""
        return archive.load(cls, path, FORMAT, VERSION, "a reference", OLDER)


def _from_4(reference: dict[str, Any], keep: archive.Keep) -> dict[str, Any]:
    """A reference of version 4, as version 5 says the same: nothing acted from outside."""
    return {**reference, "outside": keep(Outside, NOTHING)}


OLDER = {4: _from_4}
