# SPDX-License-Identifier: GPL-3.0-or-later
"""Trunks put upright, whatever pose they were found in."""

import numpy as np
import pytest
from heft.core.motion import quaternions, roles
from heft.core.motion.clip import LocalPoses, from_local
from heft.core.motion.posture import LUMBAR_BEHIND, straightened

from tests.core.motion.skeletons import still, wooden, wooden_roles


def bent(turns):
    """The mannequin in a pose in which joints are turned by these vectors, rad, as a skeleton at rest."""
    some = wooden()
    turn = some.parent_orientation.copy()
    for name, vector in turns.items():
        turn[some.index(name)] = quaternions.multiply(turn[some.index(name)], quaternions.exp(np.array(vector)))
    clip = from_local(still(some, 2), LocalPoses(np.tile(some.parent_offset, (2, 1, 1)), np.tile(turn, (2, 1, 1))))
    back = quaternions.multiply(clip.orientation[0], quaternions.conjugate(some.orientation))
    tail = clip.position[0] + quaternions.rotate(back, some.tail - some.head)
    fields = {"names": some.names, "parent": some.parent, "head": clip.position[0], "tail": tail}
    posed = type(some)(**fields, orientation=clip.orientation[0])
    return posed, still(posed, 3)


@pytest.mark.parametrize(
    "turns",
    [
        {"pelvis": (0.3, 0.1, 0.0), "spine": (0.4, 0.0, 0.2), "chest": (0.2, 0.1, -0.3), "head": (0.3, 0.0, 0.4)},
        {"spine": (-0.3, 0.2, 0.0), "neck": (0.5, 0.0, 0.0)},
    ],
)
def test_a_bent_trunk_is_put_upright_over_level_hips(turns):
    posed, clip = bent(turns)
    chains = roles.checked(wooden_roles(), posed)
    some = straightened(posed, chains, clip)
    at = {name: some.head[i] for i, name in enumerate(some.names)}
    assert at["thigh.L"][2] == pytest.approx(at["thigh.R"][2], abs=1e-9)
    hips, hands = at["thigh.L"] - at["thigh.R"], at["upper_arm.L"] - at["upper_arm.R"]
    assert hips[0] * hands[1] == pytest.approx(hips[1] * hands[0], abs=1e-9)
    assert hips[:2] @ hands[:2] > 0.0
    head = some.index("head")
    way = some.tail[head] - some.head[head]
    assert way / np.linalg.norm(way) == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
    middle = 0.5 * (at["thigh.L"] + at["thigh.R"])
    lumbar = at["spine"] - middle
    leg = np.linalg.norm(at["shin.L"] - at["thigh.L"]) + np.linalg.norm(at["foot.L"] - at["shin.L"])
    backward = -np.cross(hips / np.linalg.norm(hips), [0.0, 0.0, 1.0])
    assert lumbar @ backward == pytest.approx(LUMBAR_BEHIND * leg, rel=1e-3)
    limbs = [some.index(name) for name in ("thigh.L", "shin.L", "foot.R", "upper_arm.L", "hand.R")]
    assert quaternions.angle(some.orientation[limbs], posed.orientation[limbs]) == pytest.approx(0.0, abs=1e-7)


def test_bones_stay_as_long_as_they_are():
    posed, clip = bent({"spine": (0.5, 0.1, 0.0), "neck": (0.2, 0.0, 0.3)})
    some = straightened(posed, roles.checked(wooden_roles(), posed), clip)
    for bone, parent in enumerate(some.parent):
        if parent >= 0:
            length = np.linalg.norm(posed.head[bone] - posed.head[parent])
            assert np.linalg.norm(some.head[bone] - some.head[parent]) == pytest.approx(length, abs=1e-9)
