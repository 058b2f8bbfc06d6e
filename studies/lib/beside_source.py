# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake drawn over its source."""

import numpy as np
from heft.core.job import BakeResult
from heft.core.motion.clip import Clip
from heft.core.report.strip import strip

from . import chart


def film_strip(source: Clip, result: BakeResult) -> str:
    """A film strip over the source, as a file of its own."""
    row = (result.frames - source.first_frame) / source.frames_per_sample
    there = np.clip(np.rint(row).astype(int), 0, len(source.position) - 1)
    order = [source.skeleton.names.index(bone) for bone in result.bones]
    heads = result.poses[..., :3, 3], source.position[there][:, order]
    drawn = strip(result.frames, result.figure, *heads, result.center_of_mass, result.forces, result.help_given)
    return chart.alone(drawn)
