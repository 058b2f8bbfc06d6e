# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip's motion, forces and torques as one file of arrays, which numpy reads: docs/clean.md tells what they are."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..job import BakeJob, BakeResult
from .rows import lasting

VERSION = 3  # 3: `qacc`, with which torques, help and contact forces balance exactly


def arrays_of(job: BakeJob, result: BakeResult) -> dict[str, NDArray[np.generic]]:
    """All arrays by name."""
    dynamics = result.dynamics
    if dynamics is None:
        raise ValueError("The result has no states: bake it again.")
    clip, character = job.clip, dynamics.character
    bones = [clip.skeleton.index(name) for name in result.bones]
    samples = np.rint((result.frames - clip.first_frame) / clip.frames_per_sample).astype(np.int64)
    floats: dict[str, NDArray[np.float64]] = {
        "fps": np.array(result.fps),
        "frames": result.frames,
        "joint_positions": result.poses[..., :3, 3],
        "source_joint_positions": clip.position[samples][:, bones],
        "center_of_mass": result.center_of_mass,
        "rate": np.array(dynamics.rate),
        "qpos": dynamics.q,
        "qvel": dynamics.v,
        "qacc": dynamics.accelerations(),
        "torques": dynamics.torque,
        "help": dynamics.help,
        "contact_forces": dynamics.forces(),
        "centers_of_pressure": dynamics.centers_of_pressure(),
        "contact_points": dynamics.contact_point,
        "contact_point_forces": dynamics.contact_force,
        "masses": np.array([body.mass for body in character.bodies]),
    }
    return {
        "version": np.array(VERSION),
        "joint_names": np.array(result.bones),
        "joint_parents": clip.skeleton.parent,
        "figure": result.figure,
        "body_names": np.array([body.name for body in character.bodies]),
        "torque_names": np.array(torque_names(character)),
        "contact_start": dynamics.contact_start,
        "contact_bodies": dynamics.contact_body,
        "report": np.array(json.dumps(lasting(result.report), allow_nan=False, sort_keys=True)),
        **floats,
    }


def pack_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """The file's content; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    named: dict[str, Any] = {**arrays}
    np.savez_compressed(buffer, **named)
    return buffer.getvalue()


def torque_names(character: Character) -> list[str]:
    """A name for each torque: its joint, with a number where that turns about several axes."""
    found = []
    widths = {"hinge": 1, "universal": 2, "ball": 3}
    for joint in character.joints:
        width = widths.get(joint.kind, 0)
        found += [joint.name] if width == 1 else [f"{joint.name}.{number + 1}" for number in range(width)]
    return found
