# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion for controllers that find torques and forces by themselves: poses, and which points bear weight when.

Any motion will do, and it may be exchanged for another while it is followed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..dynamics import difference, integrate
from ..motion.cycle import Cycle
from ..motion.cycles import power
from ..motion.reference import Reference

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Track:
    """nf frames, np points that may carry force. Frames count on where a cyclic motion repeats or another ends."""

    dt: float  # s
    q: Array  # (nf, nq)
    loaded: Mask  # (nf, np) the point carries force in the step from this frame
    normal: Array  # (nf, np, 3) of the ground there
    point_body: NDArray[np.int64]  # (np,)
    point_local: Array  # (np, 3) in the body's frame, m
    grip: Mask  # (np,) the point may pull as well as push
    cycle: Cycle | None = None  # how the next lap starts; None: the last frame holds

    @classmethod
    def of(cls, reference: Reference) -> "Track":
        """A reference's track: its period if it is cyclic, else all its frames."""
        schedule = reference.schedule
        frames = reference.steps if reference.cycle is not None else reference.steps + 1
        return cls(
            dt=1.0 / reference.rate,
            q=reference.q[:frames],
            loaded=np.concatenate((reference.carrying, schedule.active[-1:]))[:frames],
            normal=reference.normal[:frames],
            point_body=schedule.body,
            point_local=schedule.position,
            grip=np.array([point.grab for point in schedule.points], dtype=np.bool_),
            cycle=reference.cycle,
        )

    def checked(self, character: Character) -> "Track":
        """The same in contiguous arrays, or ValueError saying what does not fit."""
        frames, points = len(self.q), len(self.point_body)
        shapes = {
            "q": (frames, character.nq),
            "loaded": (frames, points),
            "normal": (frames, points, 3),
            "point_body": (points,),
            "point_local": (points, 3),
            "grip": (points,),
        }
        return Track(self.dt, cycle=self.cycle, **checked_arrays(self, shapes, character))

    def row(self, frame: float) -> int:
        """The row of a frame, or of the one before."""
        return int(frame) % len(self.q) if self.cycle is not None else min(int(frame), len(self.q) - 1)

    def lap(self, frame: float) -> int:
        """How many times the motion has repeated before a frame."""
        return int(frame) // len(self.q) if self.cycle is not None else 0

    def pose(self, character: Character, frame: float) -> Array:
        """Positions (nq,) at a frame, which need not be whole, moved on by all laps before; a copy."""
        whole = int(frame)
        q = self._whole(character, whole)
        if frame == whole:
            return q
        return integrate(character, q, difference(character, q, self._whole(character, whole + 1)), frame - whole)

    def _whole(self, character: Character, frame: int) -> Array:
        q: Array = self.q[self.row(frame)]
        lap = self.lap(frame)
        if self.cycle is None or lap == 0:
            return q.copy()
        return power(self.cycle, lap).move_state(character, q, np.zeros(character.nv))[0]


KINDS = {"loaded": np.bool_, "grip": np.bool_, "help": np.bool_, "point_body": np.int64}  # all others are real


def checked_arrays(track: Any, shapes: Mapping[str, tuple[int, ...]], character: Character) -> dict[str, Any]:
    """A track's arrays by name, contiguous; ValueError where one has another shape, or the track makes no sense."""
    arrays: dict[str, Any] = {}
    for name, shape in shapes.items():
        array: NDArray[Any] = np.ascontiguousarray(getattr(track, name), dtype=KINDS.get(name, np.float64))
        if array.shape != shape:
            raise ValueError(f"`{name}` of a track must have the shape {shape}, not {array.shape}.")
        if not np.isfinite(array).all():
            raise ValueError(f"`{name}` of a track must be finite.")
        arrays[name] = array
    body = arrays["point_body"]
    if ((body < 0) | (body >= len(character.bodies))).any():
        raise ValueError(f"The bodies of a track's points must be indices below {len(character.bodies)}.")
    if len(track.q) == 0 or not 0.0 < track.dt < np.inf:
        raise ValueError("A track needs at least one frame and a positive time step.")
    return arrays
