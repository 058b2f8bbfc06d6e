# SPDX-License-Identifier: GPL-3.0-or-later
"""BVH files: read, set up and written back without Blender."""

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..files import write_whole
from ..job import BakeJob, BakeResult
from ..motion import quaternions
from ..motion.bvh import UP_IS_Y, BvhFile, clip_of_bvh, read_bvh_file
from ..motion.bvh_writing import write_bvh
from ..rig.recognition import Recognised, recognise

KEPT = 16  # files: more than are baked at a time, as a rule


class Bvh:
    """The format; what was read is kept until it is written, since it is asked for again."""

    def __init__(self) -> None:
        self._read_before: OrderedDict[Path, tuple[BvhFile, Recognised]] = OrderedDict()

    def takes(self, path: Path) -> list[str]:
        """A file holds one motion."""
        del path
        return [""]

    def job(self, path: Path, take: str) -> BakeJob:
        """The motion as a job."""
        del take
        _, recognised = self._read(path)
        return BakeJob(recognised.clip, recognised.roles)

    def write(self, path: Path, results: Mapping[str, BakeResult], target: Path) -> None:
        """Frames that were left out, as a pose inserted before the motion, stay as they are."""
        file, recognised = self._read(path)
        del self._read_before[path]
        for result in results.values():
            rows = np.rint(result.frames - recognised.clip.first_frame).astype(np.int64)
            turn = quaternions.multiply(recognised.turn, UP_IS_Y)
            poses = result.poses[:, : len(file.joints)].copy()
            # a file that was stood up rests turned; in the file's own frame every joint is at rest unturned
            rest = quaternions.matrix(recognised.clip.skeleton.orientation[: len(file.joints)])
            poses[..., :3, :3] = poses[..., :3, :3] @ rest.swapaxes(-1, -2)
            write_whole(target, write_bvh(file, recognised.unit, turn, rows, poses))

    def _read(self, path: Path) -> tuple[BvhFile, Recognised]:
        if path not in self._read_before:
            file = read_bvh_file(path)
            self._read_before[path] = file, recognise(clip_of_bvh(file, 1.0, UP_IS_Y))
            if len(self._read_before) > KEPT:
                self._read_before.popitem(last=False)
        return self._read_before[path]
