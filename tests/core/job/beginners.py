# SPDX-License-Identifier: GPL-3.0-or-later
"""What beginners key on the mannequin, as clips and jobs."""

import numpy as np
from heft.core.job import BakeJob
from heft.core.motion import quaternions
from heft.core.motion.clip import LocalPoses, from_local
from heft.examples import beginners

from tests.core.motion.skeletons import still, wooden, wooden_roles

FPS = 30.0


def clip(name):
    return clip_of(beginners.ACTIONS[name])


def clip_of(keys):
    skeleton = wooden()
    place, turns = beginners.in_between(keys, FPS)
    like = still(skeleton, len(place), FPS)
    offset = np.tile(skeleton.parent_offset, (len(place), 1, 1))
    offset[:, skeleton.index("pelvis")] += place
    orientation = np.tile(skeleton.parent_orientation, (len(place), 1, 1))
    for bone, turn in turns.items():
        rest = skeleton.orientation[skeleton.index(bone)]
        spin = quaternions.exp(quaternions.rotate(quaternions.conjugate(rest), turn))
        orientation[:, skeleton.index(bone)] = quaternions.multiply(orientation[:, skeleton.index(bone)], spin)
    return from_local(like, LocalPoses(offset, quaternions.continuous(orientation)))


def job(name, **changes):
    return BakeJob(clip(name), wooden_roles(), name=name, **changes)
