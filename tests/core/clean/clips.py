# SPDX-License-Identifier: GPL-3.0-or-later
"""Small clips as BVH files, and a pool that bakes in this process."""

import numpy as np
from heft import core
from heft.core import archive
from heft.core.batch.pool import Event
from heft.core.job import BakeResult, result
from heft.core.job.showing import matrices
from heft.core.motion import quaternions
from heft.core.motion.bvh import UP_IS_Y, parse_bvh_file
from heft.core.motion.bvh_writing import write_bvh

from tests.core.job.jobs import waving_clip


def waving_bvh(seconds=0.4, fps=30.0, order="ZXY", up=UP_IS_Y):
    """The waving mannequin's motion as a file, in metres, Y up unless said otherwise."""
    return bvh_of(waving_clip(seconds, fps), order, up)


def bvh_of(clip, order="ZXY", up=UP_IS_Y):
    """A clip whose bones' frames are parallel to the world's at rest, as a file's bytes."""
    bones = [bone for bone, parent in enumerate(clip.skeleton.parent) if parent < 0]
    lines, order_of_bones = ["HIERARCHY"], []
    for bone in bones:
        lines += joint(clip.skeleton, bone, order, order_of_bones, up)
    frames, channels = len(clip.position), 3 * len(order_of_bones) + 3 * len(bones)
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {1.0 / clip.rate:.7f}"]
    lines += [" ".join(["0"] * channels)] * frames
    file = parse_bvh_file("\n".join(lines) + "\n", "clip.bvh")
    poses = matrices(clip.position, clip.orientation)[:, order_of_bones]
    return write_bvh(file, 1.0, up, np.arange(frames), poses)


def joint(skeleton, bone, order, order_of_bones, up):
    """The lines of a joint and all that hangs from it."""
    order_of_bones.append(bone)
    parent = int(skeleton.parent[bone])
    offset = skeleton.head[bone] - (skeleton.head[parent] if parent >= 0 else 0.0)
    kinds = [f"{axis}rotation" for axis in order]
    if parent < 0:
        kinds = ["Xposition", "Yposition", "Zposition", *kinds]
    lines = [f"{'ROOT' if parent < 0 else 'JOINT'} {skeleton.names[bone]}", "{", offset_line(offset, up)]
    lines.append(f"CHANNELS {len(kinds)} {' '.join(kinds)}")
    children = [child for child, above in enumerate(skeleton.parent) if above == bone]
    for child in children:
        lines += joint(skeleton, child, order, order_of_bones, up)
    if not children:
        lines += ["End Site", "{", offset_line(skeleton.tail[bone] - skeleton.head[bone], up), "}"]
    return [*lines, "}"]


def offset_line(offset, up):
    """A line of the hierarchy, in the file's own axes."""
    x, y, z = quaternions.rotate(quaternions.conjugate(up), offset).tolist()
    return f"OFFSET {x:.9f} {y:.9f} {z:.9f}"


class HerePool:
    """Bakes in this process, one after another; it may break down before a job."""

    size = 1

    def __init__(self, breaks_at=None):
        self.given, self._breaks_at, self._waiting = [], breaks_at, None

    def give(self, name, job):
        self._waiting = name, job

    def wait(self):
        name, job = self._waiting
        if self._breaks_at == len(self.given):
            raise KeyboardInterrupt
        self.given.append(name)
        try:
            done = core.run(job)
        except ValueError as error:
            return Event(name, why=str(error))
        content = archive.pack(done, BakeResult, result.FORMAT, result.VERSION)
        return Event(name, report=done.report, result=content)

    def close(self):
        pass
