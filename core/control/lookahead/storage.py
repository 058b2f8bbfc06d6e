# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in files, each with the key of all that it depends on."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ... import archive
from ...character import Character
from .policy import Policy
from .settings import Settings
from .track import Track

FORMAT = "heft.policy"
VERSION = 4


class Origin(NamedTuple):
    """Everything that `precompute` depends on."""

    character: Character
    track: Track
    settings: Settings


@dataclass(frozen=True, eq=False)
class Kept:
    """What is in a file."""

    key: str
    policy: Policy

    def __post_init__(self) -> None:
        """Shapes that kernels rely on; the key stands for the rest."""
        _check(self.policy)


def policy_key(character: Character, track: Track, settings: Settings) -> str:
    """A digest of everything that `precompute` depends on: equal keys mean the same policy."""
    return archive.digest(Origin(character, track, settings), Origin, f"{FORMAT} {VERSION}")


def save_policy(policy: Policy, path: str | Path, key: str) -> None:
    """Write the file, whole or not at all."""
    archive.save(Kept(key, policy), Kept, path, FORMAT, VERSION)


def load_policy(path: str | Path, key: str) -> Policy:
    """Read a file that `save_policy` wrote under this key; ValueError says in one line what is wrong with it."""
    kept = archive.load(Kept, path, FORMAT, VERSION, "a policy")
    if kept.key != key:
        raise ValueError(f"{Path(path).name} is not the policy that is wanted: it was made for something else.")
    return kept.policy


def _check(policy: Policy) -> None:
    data = policy._asdict()
    for name, array in data.items():
        if not np.isfinite(array).all():
            raise ValueError(f"the numbers in its {name} must be finite.")
    (frames, nv), motors, count = data["v"].shape, data["torque"].shape[1], len(data["body"])
    width = motors + 3 * int(data["points"].max(initial=0))
    positions, features = data["q"].shape[1], len(data["feature_body"])
    expected = {
        "q": (frames, positions),
        "q_before": (frames, positions),
        "v_before": (frames, nv),
        "torque": (frames, motors),
        "force": (frames, count, 3),
        "points": (frames,),
        "point": (frames, count),
        "local": (count, 3),
        "grip": (count,),
        "curvature_position": (frames, nv, nv),
        "curvature_velocity": (frames, nv, nv),
        "gradient": (frames, nv),
        "gain": (frames, width, 2 * nv),
        "feedforward": (frames, width),
        "change": (motors,),
        "effort": (motors,),
        "force_effort": (count,),
        "joint_feature": (nv,),
        "feature_point": (features, 3),
        "feature_weight": (features, 3),
    }
    for name, shape in expected.items():
        if data[name].shape != shape:
            raise ValueError(f"the shape of its {name} is {data[name].shape} instead of {shape}.")
    if frames == 0 or (data["point"] < 0).any() or (data["point"] >= max(count, 1)).any():
        raise ValueError("its points make no sense.")
