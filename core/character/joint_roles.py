# SPDX-License-Identifier: GPL-3.0-or-later
"""What joint of a person a body hangs from, by the body's name: the joint of a foot is an ankle.

Characters made of rigs name their bodies as the presets do. Joints that are none of these six (neck, wrists, toes,
clavicles) count as an elbow, the lightest of them.
"""

from collections.abc import Mapping
from typing import Literal

Role = Literal["trunk", "hip", "knee", "ankle", "shoulder", "elbow"]

ROLE_OF_BODY: Mapping[str, Role] = {
    "foot": "ankle",
    "metatarsus": "ankle",
    "shank": "knee",
    "shin": "knee",
    "thigh": "hip",
    "arm": "shoulder",
    "upper_arm": "shoulder",
    "forearm": "elbow",
    "lower_arm": "elbow",
    "torso": "trunk",
    "trunk": "trunk",
    "abdomen": "trunk",
    "thorax": "trunk",
}


def role(body: str) -> Role:
    """The role of the joint from which the body of this name hangs."""
    name = body.removeprefix("left_").removeprefix("right_")
    return ROLE_OF_BODY.get(name, "elbow")
