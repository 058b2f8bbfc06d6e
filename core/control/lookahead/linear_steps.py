# SPDX-License-Identifier: GPL-3.0-or-later
"""Every step of a track to first order, about the state that it begins in: what the recursion goes back through."""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...dynamics.derivatives import DerivativeWorkspace, make_derivative_workspace
from ...dynamics.jacobians import fill_jacobian
from ...dynamics.kinematics import difference_positions, update_positions, world_point
from ...dynamics.linearization import linearize
from ...dynamics.stepping import advance
from ...dynamics.workspace import Workspace, make_workspace
from ...maths.kernel import kernel, wide_kernel
from ...maths.structure import Structure
from ...maths.vectors import row
from .policy import HELP, Policy

Array = NDArray[np.float64]


class StepWorkspace(Structure):
    """Scratch of one step."""

    dynamics: Workspace
    derivatives: DerivativeWorkspace
    torque: Array  # (nv,) after a free root's zeros
    implicit: Array  # (nv,) zero
    body: NDArray[np.int64]  # (np,)
    local: Array  # (np, 3)
    force: Array  # (np, 3)
    q_next: Array  # (nq,)
    v_next: Array  # (nv,)
    jacobian: Array  # (6, nv)


class LinearSteps(Structure):
    """nf steps: deviations follow A x + B u + d, where u are torques and then the forces of points that carry some."""

    state: Array  # (nf, 2 nv, 2 nv) [A]
    control: Array  # (nf, 2 nv most) [B] (2 nv, m), flat: m is another in every step
    defect: Array  # (nf, 2 nv) [d] where the step leads, less the frame that it is to lead to
    stance: Array  # (nf, nv, nv) [Q] on velocities after the step: points that bear load in it are not to slide
    work: StepWorkspace


def make_linear_steps(tree: Tree, policy: Policy) -> LinearSteps:
    """Allocate."""
    frames, nv = policy.v.shape
    points = len(policy.body)
    return LinearSteps(
        state=np.zeros((frames, 2 * nv, 2 * nv)),
        control=np.zeros((frames, 2 * nv * policy.feedforward.shape[1])),
        defect=np.zeros((frames, 2 * nv)),
        stance=np.zeros((frames, nv, nv)),
        work=StepWorkspace(
            dynamics=make_workspace(tree),
            derivatives=make_derivative_workspace(tree),
            torque=np.zeros(nv),
            implicit=np.zeros(nv),
            body=np.zeros(points, np.int64),
            local=np.zeros((points, 3)),
            force=np.zeros((points, 3)),
            q_next=np.zeros(policy.q.shape[1]),
            v_next=np.zeros(nv),
            jacobian=np.zeros((6, nv)),
        ),
    )


@wide_kernel
def fill_steps(
    tree: Tree, policy: Policy, slips: Array, dt: float, weight: float, steps: LinearSteps, first: int, last: int
) -> None:
    """Those from `first` up to `last`. `weight` is [Q] on each component of the velocity of a point that bears load."""
    for k in range(first, last):
        _linearize(tree, policy, slips, dt, steps, k)
        _add_stance(tree, policy, weight, steps, k)


@kernel
def _linearize(tree: Tree, policy: Policy, slips: Array, dt: float, steps: LinearSteps, k: int) -> None:
    """A, B and d. What slips pushes up, and gives hardly anything along the ground that feedback might count on."""
    work = steps.work
    nv, motors, count = policy.v.shape[1], policy.torque.shape[1], policy.points[k]
    width = motors + 3 * count
    for i in range(motors):
        work.torque[nv - motors + i] = policy.torque[k, i]
    for c in range(count):
        p = policy.point[k, c]
        work.body[c] = policy.body[p]
        for x in range(3):
            work.local[c, x] = policy.local[p, x]
            work.force[c, x] = policy.force[k, p, x]
    body, local, force = work.body[:count], work.local[:count], work.force[:count]
    q, v = policy.q_before[k], policy.v_before[k]
    B = steps.control[k, : 2 * nv * width].reshape((2 * nv, width))
    advance(tree, work.dynamics, q, v, work.torque, body, local, force, dt, work.implicit, work.q_next, work.v_next)
    linearize(
        tree,
        work.dynamics,
        work.derivatives,
        q,
        v,
        body,
        local,
        force,
        dt,
        work.q_next,
        work.v_next,
        steps.state[k],
        B,
    )
    for c in range(count):
        slip = slips[k, policy.point[k, c]]
        if slip > 0.0:
            for i in range(2 * nv):
                for axis in range(2):
                    B[i, motors + 3 * c + axis] *= 1.0 - slip
    difference_positions(tree, policy.q[k], work.q_next, steps.defect[k, :nv])
    for i in range(nv):
        steps.defect[k, nv + i] = work.v_next[i] - policy.v[k, i]


@kernel
def _add_stance(tree: Tree, policy: Policy, weight: float, steps: LinearSteps, k: int) -> None:
    """What it costs that points slide which bear load.

    The idealised system holds no foot in its place. Pushed, it would let the feet go with the body rather than the body
    stay over its feet, and count on horizontal forces that accelerate no foot but one that is free.
    """
    work, cost = steps.work, steps.stance[k]
    nv = policy.v.shape[1]
    update_positions(tree, work.dynamics, policy.q[k])
    for c in range(policy.points[k]):
        p = policy.point[k, c]
        if policy.grip[p] == HELP:
            continue
        b = policy.body[p]
        fill_jacobian(tree, work.dynamics, b, world_point(work.dynamics, b, row(policy.local, p)), work.jacobian)
        for axis in range(3):
            for i in range(nv):
                pull = weight * work.jacobian[axis, i]
                for j in range(nv):
                    cost[i, j] += pull * work.jacobian[axis, j]
