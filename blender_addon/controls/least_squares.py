# SPDX-License-Identifier: GPL-3.0-or-later
"""The last resort where corrections in closed form do not reach: least squares on the evaluated rig, frame by frame.

Levenberg-Marquardt (Nocedal & Wright 2006, section 10.3) with Jacobians by differences, kept from step to step and from
frame to frame by Broyden's update (section 11.1), and made anew where a step does not do what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.motion import quaternions
from ...core.motion.quaternions import Array
from ..rig.pose_space import RestBone, axis_angle
from .drives import Drive
from .recording import PART_OF_MODE, Recorded

MOVING = {"PLACE", "MOVE", "POLE", "TWEAK"}
TURNING = {"PLACE", "TURN", "SWING", "ROLL", "TWEAK"}

STEP = 1e-3  # of an unknown, for differences
MOST_STEPS = 12  # of a frame
DAMPING = 1e-3  # of the Jacobian's greatest diagonal, at first
GREATEST = 1e6
GOOD = 0.25  # of the promised gain, below which a Jacobian is made anew
ENOUGH = 1.0  # greatest residual that is as good as none


@dataclass(frozen=True)
class Unknown:
    """One of the three ways to move a control, or to turn it."""

    bone: RestBone
    part: str  # location or rotation
    axis: int


def unknowns_of(drives: Sequence[Drive], bones: Mapping[str, RestBone]) -> list[Unknown]:
    """Return what the drives' controls may do, once each."""
    found: dict[tuple[str, str], list[Unknown]] = {}
    for drive in drives:
        bone = bones[drive.control]
        parts = [part for part, does in (("location", MOVING), ("rotation", TURNING)) if drive.does in does]
        for part in parts:
            found[drive.control, part] = [Unknown(bone, part, axis) for axis in range(3)]
    return [one for three in found.values() for one in three]


def offset_by(base: Recorded, unknowns: Sequence[Unknown], x: Array, metre: float) -> Recorded:
    """Return a recording of one row with controls moved by metres, and turned by radians, about their own axes."""
    parts = {part: values.copy() for part, values in base.parts.items()}
    for first in range(0, len(unknowns), 3):
        bone, part, by = unknowns[first].bone, unknowns[first].part, x[first : first + 3]
        column = base.place[bone.name]
        if part == "location":
            parts[part][:, column] += by * metre
            continue
        kind = PART_OF_MODE.get(bone.rotation_mode, "rotation_euler")
        now = parts[kind][:, column]
        if kind == "rotation_quaternion":
            parts[kind][:, column] = quaternions.multiply(quaternions.normalize(now), quaternions.exp(by))
        elif kind == "rotation_euler":
            parts[kind][:, column] = now + by
        else:
            axis = now[:, 1:] / np.maximum(np.linalg.norm(now[:, 1:], axis=1), 1e-12)[:, None]
            turn = quaternions.exp(now[:, :1] * axis)
            parts[kind][:, column] = axis_angle(quaternions.multiply(turn, quaternions.exp(by)))
    return replace(base, parts=parts)


@dataclass
class LeastSquares:
    """A problem that goes on from frame to frame."""

    count: int  # of unknowns
    jacobian: Array | None = None

    def nearer(self, residuals: Callable[[Array], Array], start: Array) -> Iterator[Array]:
        """Yield unknowns, each nearer than those before, the start among them. Every evaluation is a call."""
        x, r = start, residuals(start)
        damping, is_fresh = DAMPING, False
        yield x
        for _ in range(MOST_STEPS):
            if np.abs(r).max(initial=0.0) < ENOUGH:
                return
            if self.jacobian is None:
                self.jacobian, is_fresh = self._by_differences(residuals, x, r), True
            normal, slope = self.jacobian.T @ self.jacobian, self.jacobian.T @ r
            scale = max(float(normal.diagonal().max(initial=0.0)), 1e-30)
            step = -np.linalg.solve(normal + damping * scale * np.eye(self.count), slope)
            there = residuals(x + step)
            promised = r @ r - np.sum((r + self.jacobian @ step) ** 2)
            gain = r @ r - there @ there
            self.jacobian = self.jacobian + np.outer(there - r - self.jacobian @ step, step) / max(step @ step, 1e-30)
            if gain > 0.0:
                x, r, damping = x + step, there, max(damping / 4.0, 1e-9)
                yield x
            if gain < GOOD * promised:
                if is_fresh and gain <= 0.0:
                    damping *= 16.0
                    if damping > GREATEST:
                        return
                self.jacobian = None
            is_fresh = False

    def _by_differences(self, residuals: Callable[[Array], Array], x: Array, r: Array) -> Array:
        columns = [(residuals(x + STEP * unit) - r) / STEP for unit in np.eye(self.count)]
        result: Array = np.column_stack(columns)
        return result
