# SPDX-License-Identifier: GPL-3.0-or-later
"""Strength: no joint gives more torque than this, and none is driven faster than muscles shorten.

A law that asks for more is followed as far as it goes. The step is taken again with the torque of each such joint held
at its limit, in the direction in which it was asked for, whatever the contacts answer, or at zero where it would drive
the joint too fast: a foot that has just left the ground has so little inertia that it would be flung about within a
step. Joints that ask for too much then are held too, until none does. So what was asked for is cut off before the
forces are found, and the step's contact problem is solved with the torques that act.

Whatever turns a joint far faster than any person's, tissue stops: passive damping, taken at the end of the step, which
brings it back to that speed. It is no torque of muscles, acts between two bodies, and so changes no momentum. Without
it a limp arm in a hard fall, turned by more than a radian a step, gains speed from the scheme itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..character import check
from ..character.parts import Body
from ..character.tree import Tree
from ..maths.dense import copy_into
from ..maths.kernel import kernel
from ..maths.structure import Structure

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FASTEST = 60.0  # rad/s: no joint of a person turns as fast
TORN = 100.0  # rad/s, from which on tissue brakes it
WITHIN = 1.0 - 1e-12  # of its limit, that a joint is held at: what rounding adds stays below


@dataclass(frozen=True, eq=False)
class Strength:
    """A factor over time, evenly between some times; before the first and after the last it stays."""

    time: Array = field(default_factory=lambda: np.zeros(1))  # (n,) s, not falling
    share: Array = field(default_factory=lambda: np.ones(1))  # (n,)

    def __post_init__(self) -> None:
        for name in ("time", "share"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (len(self.time),) or len(values) == 0 or not np.isfinite(values).all():
                raise ValueError(f"The {name} of a strength must be finite, one for each time.")
            object.__setattr__(self, name, values)
        if (np.diff(self.time) < 0.0).any():
            raise ValueError("The times of a strength must not decrease.")
        if self.share.min() < 0.0:
            raise ValueError("A strength must not be negative.")

    def at(self, time: Array) -> Array:
        """The factor at some times."""
        return np.asarray(np.interp(time, self.time, self.share))


@dataclass(frozen=True, eq=False)
class TorqueLimits:
    """The greatest torque of joints, whichever way they turn: about all axes of one together."""

    most: Mapping[str, float]  # N m, by the joint's name; those that are not named have none
    strength: Strength = field(default_factory=Strength)  # times as much

    def __post_init__(self) -> None:
        most = {name: check.not_negative(value, "torque", f"joint '{name}'") for name, value in self.most.items()}
        object.__setattr__(self, "most", dict(sorted(most.items())))


class Limited(Structure):
    """Joints (nj) with a limit."""

    first: Indices  # (nj,) velocity
    width: Indices  # (nj,) velocities
    most: Array  # (nj,) N m at a strength of one
    begin: Indices  # (nj,) the first of the times of its strength
    end: Indices  # (nj,) one after the last
    time: Array  # (ns,) s
    share: Array  # (ns,)


class HeldLaw(Structure):
    """A law with joints held at their limits."""

    torque: Array  # (nv,)
    gain: Array  # (motors 3 nc,)
    implicit: Array  # (nv,)
    diagonal: Array  # (nv,) of the equation of motion, without the law
    kept: Array  # (nv,) torque of joints that are held
    is_held: NDArray[np.bool_]  # (nv,)
    braked: Array  # (nv,) passive damping, N m s/rad


def make_limited(limits: Sequence[TorqueLimits], bodies: Sequence[Body], tree: Tree) -> Limited:
    """Flatten those of one or several characters; ValueError where a joint is not theirs."""
    index = {body.joint.name: b for b, body in enumerate(bodies)}
    for name in (name for each in limits for name in each.most):
        if name not in index or bodies[index[name]].joint.kind in {"free", "fixed"}:
            raise ValueError(f"A torque limit is given for '{name}', which is no joint that a motor drives.")
    owners = [index[name] for each in limits for name in each.most]
    count = np.array([len(each.strength.time) for each in limits], dtype=np.int64)
    end = np.cumsum(count)
    joints = [len(each.most) for each in limits]
    return Limited(
        first=np.array([tree.velocity_start[b] for b in owners], dtype=np.int64),
        width=np.array([int((tree.velocity_body == b).sum()) for b in owners], dtype=np.int64),
        most=np.array([most for each in limits for most in each.most.values()], dtype=np.float64),
        begin=np.repeat(end - count, joints),
        end=np.repeat(end, joints),
        time=np.concatenate([np.zeros(0), *(each.strength.time for each in limits)]),
        share=np.concatenate([np.zeros(0), *(each.strength.share for each in limits)]),
    )


def make_held_law(velocities: int, motors: int, contacts: int) -> HeldLaw:
    """Allocate."""
    return HeldLaw(
        torque=np.zeros(velocities),
        gain=np.zeros(3 * motors * contacts),
        implicit=np.zeros(velocities),
        diagonal=np.zeros(velocities),
        kept=np.zeros(velocities),
        is_held=np.zeros(velocities, np.bool_),
        braked=np.zeros(velocities),
    )


@kernel
def hold_law(held: HeldLaw, torque: Array, gain: Array, implicit: Array) -> None:
    """Begin with the law itself."""
    copy_into(torque, held.torque)
    for i in range(gain.shape[0]):
        for c in range(gain.shape[1]):
            held.gain[i * gain.shape[1] + c] = gain[i, c]
    held.implicit[:] = 0.0
    held.is_held[:] = False
    held.braked[:] = 0.0
    if implicit.shape[0] > 0:
        copy_into(implicit, held.implicit)


@kernel
def is_torn(limited: Limited, held: HeldLaw, v: Array) -> bool:
    """Whether a joint that is not braked yet turns faster than tissue lets it."""
    for j in range(limited.first.shape[0]):
        if held.braked[limited.first[j]] == 0.0 and _size(limited, v, j) > TORN:
            return True
    return False


@kernel
def brake_joints(limited: Limited, held: HeldLaw, inverse_inertia: Array, v_before: Array, v: Array, dt: float) -> None:
    """Damp such joints: a joint of this inverse inertia (diagonal of (nv, nv)) would come down to that speed."""
    for j in range(limited.first.shape[0]):
        size = _size(limited, v, j)
        if held.braked[limited.first[j]] == 0.0 and size > TORN:
            for i in range(limited.first[j], limited.first[j] + limited.width[j]):
                damping = (size / TORN - 1.0) / (inverse_inertia[i, i] * dt)
                held.braked[i] = damping
                held.torque[i] -= damping * v_before[i]
                held.implicit[i] += damping * dt


@kernel
def without_brakes(held: HeldLaw, v: Array, given: Array) -> None:
    """What joints were `given` is what muscles gave; to the bit what those held are held at, or they would be again."""
    for i in range(held.braked.shape[0]):
        if held.braked[i] > 0.0:
            given[i] = held.kept[i] if held.is_held[i] else given[i] + held.braked[i] * v[i]


@kernel
def exceeds(limited: Limited, given: Array, v: Array, time: float) -> bool:
    """Whether any joint was `given` (nv,) more than it has by then, with velocities `v` (nv,) after the step."""
    excess = 0.0
    for j in range(limited.first.shape[0]):
        excess = max(excess, _size(limited, given, j) - share_at(limited, j, time) * limited.most[j])
        if _is_flung(limited, given, v, j):
            excess = np.inf
    return excess > 0.0


@kernel
def hold_joints(
    limited: Limited,
    held: HeldLaw,
    given: Array,
    v_before: Array,
    v: Array,
    dt: float,
    time: float,
    first_motor: int,
    columns: int,
) -> None:
    """Hold the joints that were, beside what brakes them."""
    for j in range(limited.first.shape[0]):
        size, most = _size(limited, given, j), share_at(limited, j, time) * limited.most[j]
        if size > most or _is_flung(limited, given, v, j):
            part = WITHIN * (most / size) if size > most else 0.0
            for i in range(limited.first[j], limited.first[j] + limited.width[j]):
                held.kept[i], held.is_held[i] = part * given[i], True
                held.torque[i] = held.kept[i] - held.braked[i] * v_before[i]
                held.implicit[i] = held.braked[i] * dt
                for c in range(columns):
                    held.gain[(i - first_motor) * columns + c] = 0.0


@kernel
def _size(limited: Limited, values: Array, j: int) -> float:
    square = 0.0
    for i in range(limited.first[j], limited.first[j] + limited.width[j]):
        square += values[i] * values[i]
    return math.sqrt(square)


@kernel
def _is_flung(limited: Limited, given: Array, v: Array, j: int) -> bool:
    """Whether its torque drives a joint too fast."""
    power = 0.0
    for i in range(limited.first[j], limited.first[j] + limited.width[j]):
        power += given[i] * v[i]
    return power > 0.0 and _size(limited, v, j) > FASTEST


@kernel
def share_at(limited: Limited, j: int, time: float) -> float:
    """The strength of a joint at a time."""
    first = limited.begin[j]
    result: float = limited.share[first]
    for k in range(first, limited.end[j] - 1):
        begin, end = limited.time[k], limited.time[k + 1]
        if time >= end:
            result = limited.share[k + 1]
        elif time > begin:
            result += (time - begin) / (end - begin) * (limited.share[k + 1] - result)
    return result
