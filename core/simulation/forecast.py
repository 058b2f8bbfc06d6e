# SPDX-License-Identifier: GPL-3.0-or-later
"""What forces a law would meet in the step about to be taken, without taking it, and what more torque would change.

Between `begin_step` and `solve` the contact problem of all groups (problem.py) is posed once. Torque at a joint changes
only its vector, in proportion: M stays, and q(extra) = q + sum over j of extra_j slope_j. So another torque costs
another solution of the same problem, which starts from the last one's basis. No step is taken, and the state stays as
it is: the step that follows gives the same bits as without.
"""

import numpy as np
from numpy.typing import NDArray

from ..contact import lcp
from ..contact.lcp.workspace import SOLVED
from ..maths.dense import copy_into
from ..maths.kernel import kernel
from ..maths.structure import Structure
from .choice import choose_groups
from .equations import impulse_to_y, rows_times
from .holding import remove_held
from .impulses import pose_problem
from .problem import set_speed
from .stepper import pose
from .workspace import Machine

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class Forecast(Structure):
    """For a system of nv velocities, nc contacts and nm unknowns."""

    torque: Array  # (nv,) of the law that is asked about
    implicit: Array  # (nv,) of the law
    normal: Array  # (nc,) normal force at each candidate, N: the answer
    extra: Array  # (joints,) torque beside the law's, N m
    slope: Array  # (joints, nm)
    vector: Array  # (2, nm) at the law's torque, and with the extra
    basis: NDArray[np.bool_]  # (nm,) of the answer at the law's torque
    diagonal: Array  # (nv,) of the equation of motion, without the law
    effect: Array  # (nv,) of one joint's torque, in y coordinates
    no_gain: Array  # (0, 0)
    counts: Indices  # (3,) unknowns, limits, rows of grabs


def make_forecast(velocities: int, contacts: int, unknowns: int, joints: int) -> Forecast:
    """Allocate."""
    return Forecast(
        torque=np.zeros(velocities),
        implicit=np.zeros(velocities),
        normal=np.zeros(contacts),
        extra=np.zeros(joints),
        slope=np.zeros((joints, unknowns)),
        vector=np.zeros((2, unknowns)),
        basis=np.zeros(unknowns, dtype=np.bool_),
        diagonal=np.zeros(velocities),
        effect=np.zeros(velocities),
        no_gain=np.zeros((0, 0)),
        counts=np.zeros(3, dtype=np.int64),
    )


@kernel
def begin(machine: Machine, forecast: Forecast) -> bool:
    """Normal forces under the law alone; False where the contact problem has no answer. The step must be begun."""
    scratch = machine.scratch
    copy_into(scratch.bodies.diagonal, forecast.diagonal)
    rows, limits, active = pose(machine, forecast.torque, forecast.implicit)
    n, warm = choose_groups(machine, limits, active, True)
    pose_problem(machine, limits, active, rows, n, forecast.no_gain)
    copy_into(forecast.diagonal, scratch.bodies.diagonal)
    forecast.counts[0], forecast.counts[1], forecast.counts[2] = n, limits, rows
    for i in range(n):
        forecast.vector[0, i] = scratch.vector[i]
    solved = _answer(machine, forecast, forecast.vector[0], warm)
    for i in range(n):
        forecast.basis[i] = scratch.lcp.basis[i]
    return solved


@kernel
def add_joint(machine: Machine, forecast: Forecast, j: int, velocity: int) -> None:
    """After `begin`: how the problem's vector changes by 1 N m at a velocity, as the j-th of the extra torques."""
    system, scratch = machine.system, machine.scratch
    groups, effect, limits = scratch.groups, forecast.effect, forecast.counts[1]
    effect[:] = 0.0
    effect[velocity] = system.settings.dt
    impulse_to_y(system.tree.velocity_parent, scratch.bodies.factor, scratch.root, effect)
    remove_held(scratch.held, forecast.counts[2], effect)
    for g in range(limits + scratch.contacts.filled[0]):
        i = groups.first[g]
        speed = rows_times(groups.support[g, : groups.support_length[g]], groups.rows[g], effect)
        set_speed(speed, g < limits, system.side, forecast.slope[j, i:])


@kernel
def with_extra(machine: Machine, forecast: Forecast) -> bool:
    """Normal forces with `forecast.extra` beside the law; False where the contact problem has no answer."""
    scratch = machine.scratch
    for i in range(forecast.counts[0]):
        q = forecast.vector[0, i]
        for j in range(forecast.extra.shape[0]):
            q += forecast.extra[j] * forecast.slope[j, i]
        forecast.vector[1, i] = q
        scratch.lcp.basis[i] = forecast.basis[i]
    return _answer(machine, forecast, forecast.vector[1], True)


@kernel
def _answer(machine: Machine, forecast: Forecast, vector: Array, warm: bool) -> bool:
    """Solve, and write the normal forces."""
    system, scratch = machine.system, machine.scratch
    n, limits = forecast.counts[0], forecast.counts[1]
    if n > 0:
        M = scratch.matrix[: n * n].reshape(n, n)
        status, _, _ = lcp.solve(scratch.lcp, M, vector, n, lcp.AUTO, warm)
        if status != SOLVED:
            return False
    rate = 1.0 / system.settings.dt
    for c in range(scratch.contacts.filled[0]):
        forecast.normal[c] = rate * scratch.lcp.z[scratch.groups.first[limits + c]]
    return True
