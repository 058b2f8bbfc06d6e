# SPDX-License-Identifier: GPL-3.0-or-later
"""A style of walking: key poses over one step, as TOML files in `styles`.

A file says how long a step takes, how high the swinging foot is lifted, and how much further out than in the neutral
pose each foot is set, then the poses in order of their phase, 0 as the foot leaves the ground and 1 as it lands. Angles
are in degrees; those that no pose names are zero. Between poses they change evenly, and over from the last pose to the
first at once.

    pelvis_, torso_  pitch forward, roll to the standing leg, yaw that brings the swinging side forward; in the world
    head_pitch       forward, seen from the torso
    stance_knee      bend of the standing leg, which also says how high the hips are
    swing_foot       toes down, in the world
    arms_out         away from the body
    stance_arm, swing_arm, stance_elbow, swing_elbow    forward, and bent, on either leg's side
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANNELS = (
    *("pelvis_pitch", "pelvis_roll", "pelvis_yaw", "torso_pitch", "torso_roll", "torso_yaw", "head_pitch"),
    *("stance_knee", "swing_foot", "arms_out", "stance_arm", "swing_arm", "stance_elbow", "swing_elbow"),
)
FOLDER = Path(__file__).parent / "styles"
STYLES = ("normal", "march", "sneak", "tired", "wide")
NUMBERS = {"step_seconds": (0.2, 2.0), "clearance": (0.0, 0.5), "width": (-0.2, 0.5)}  # s, m, m


@dataclass(frozen=True, eq=False)
class Style:
    """Key poses, in radians."""

    step_seconds: float  # s
    clearance: float  # of the swinging foot, m
    width: float  # by which each foot is set further out, m
    phases: NDArray[np.float64]  # (poses,) from 0 to 1
    poses: NDArray[np.float64]  # (poses, channels) as in CHANNELS


def load_style(name: str) -> Style:
    """One of STYLES."""
    if name not in STYLES:
        raise ValueError(f"There is no walking style '{name}'; choose from {', '.join(STYLES)}.")
    path = FOLDER / f"{name}.toml"
    return read_style(path.read_text(encoding="utf-8"), path.name)


def read_style(text: str, owner: str) -> Style:
    """The style that a file says; ValueError names the file and what is wrong with it."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The walking style in {owner} is not valid TOML: {error}.") from error
    poses = values.pop("pose", None)
    numbers = {name: _number(values, name, owner) for name in NUMBERS}
    if unknown := set(values) - set(NUMBERS):
        raise ValueError(f"The walking style in {owner} has an unknown entry '{min(unknown)}'.")
    if not isinstance(poses, list) or len(poses) < 2 or not all(isinstance(pose, dict) for pose in poses):
        raise ValueError(f"The walking style in {owner} needs at least two [[pose]] tables.")
    for pose in poses:
        if unknown := set(pose) - {"phase", *CHANNELS}:
            raise ValueError(f"A pose in {owner} has an unknown angle '{min(unknown)}'.")
        for name in pose:
            _finite(pose[name], name, owner)
    phases = np.array([float(pose.get("phase", math.nan)) for pose in poses])
    if not (phases[0] == 0.0 and phases[-1] == 1.0 and (np.diff(phases) > 0.0).all()):
        raise ValueError(f"The phases of the poses in {owner} must increase from 0 to 1.")
    angles = np.radians([[float(pose.get(channel, 0.0)) for channel in CHANNELS] for pose in poses])
    if not (np.abs(angles) <= np.pi).all():
        raise ValueError(f"An angle in {owner} is larger than 180 degrees.")
    return Style(phases=phases, poses=angles, **numbers)


def _number(values: Mapping[str, Any], name: str, owner: str) -> float:
    least, most = NUMBERS[name]
    value = _finite(values.get(name), name, owner)
    if not least <= value <= most:
        raise ValueError(f"The entry '{name}' in {owner} must be {least:g} to {most:g}, not {value:g}.")
    return value


def _finite(value: Any, name: str, owner: str) -> float:
    if type(value) not in {int, float} or not math.isfinite(value):
        raise ValueError(f"The entry '{name}' in {owner} must be a number, not {value!r}.")
    return float(value)
