# SPDX-License-Identifier: GPL-3.0-or-later
"""What is held and moves by itself: where it is in each step, and how it goes on from there.

It is posed as ground that moves is, by the same function, so that who stands on a boat and holds its mast is carried
along as one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..contact.terrain import Plane, Terrain, TerrainPose, make_pose, make_terrain, pose_terrain
from ..maths.kernel import kernel
from ..maths.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply, quaternion_row
from ..maths.vectors import cross, row, scale, set_row, subtract
from .grabs import Grab
from .workspace import Memory


class Leading:
    """The grabs, among all of a world, of what moves by itself."""

    def __init__(self, grabs: Sequence[Grab]) -> None:
        led = [(g, grab.motion) for g, grab in enumerate(grabs) if grab.motion is not None]
        self._rows = np.array([g for g, _ in led], dtype=np.int64)
        self._things = make_terrain([Plane(motion=motion) for _, motion in led])
        self._now, self._then = make_pose(self._things), make_pose(self._things)

    def lead(self, memory: Memory, time: float, dt: float) -> None:
        """Write where things are at a time, and the velocities that take them on by a step."""
        if len(self._rows):
            lead(self._things, self._now, self._then, self._rows, time, dt, memory)


@kernel
def lead(
    things: Terrain,
    now: TerrainPose,
    then: TerrainPose,
    rows: NDArray[np.int64],
    time: float,
    dt: float,
    memory: Memory,
) -> None:
    """Frames, pace and spin of grabs `rows` in memory, by the poses of what they hold now and a step later."""
    pose_terrain(things, time, now)
    pose_terrain(things, time + dt, then)
    for k in range(rows.shape[0]):
        g, place, turn = rows[k], row(now.position, k), quaternion_row(now.quaternion, k)
        set_row(memory.frame, g, place)
        for i in range(4):
            memory.frame[g, 3 + i] = turn[i]
        swing = quaternion_log(quaternion_multiply(quaternion_row(then.quaternion, k), quaternion_conjugate(turn)))
        spin = scale(1.0 / dt, swing)
        set_row(memory.spin, g, spin)
        way = subtract(row(then.position, k), place)
        set_row(memory.pace, g, subtract(scale(1.0 / dt, way), cross(spin, place)))
