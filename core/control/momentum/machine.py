# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step of momentum control reads and writes."""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...dynamics.limits import JointLimits
from ...dynamics.workspace import Workspace
from ...maths.structure import Structure
from ...simulation.pushes import Pushes
from .forces import ForceWork
from .policy import Policy
from .pose import PoseWork
from .route import Route

Array = NDArray[np.float64]


class Memory(Structure):
    """The state. A step's outcome depends on nothing else."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    x: Array  # (12,) the abstract model's
    segment: NDArray[np.int64]  # (2,) the one that it is in, and the one whose gains act
    step: NDArray[np.int64]  # (1,) of the reference, whose contacts the last step had
    # (4,) [t] steps since the segment's begin; [t_d] the reference's frame; [t_c] the gains'; s since the beginning
    clock: Array
    shift: Array  # (3,) by how much all steps to come are moved to catch the body
    moved: Array  # (nl, 3) by how much each limb is
    base: Array  # (3,) and the body, and with it the segment


class Outcome(Structure):
    """What the last step found."""

    force: Array  # (np, 3) at each point, N
    place: Array  # (np, 3) of each point, m
    wrench: Array  # (2, 6) force and moment that the law asked for, and what the contacts gave
    torque: Array  # (nv,) zero in a free root's rows, but for rounding
    wanted: Array  # (nq,) the reference's pose at t_d


class Machine(Structure):
    """All that a step reads and writes."""

    tree: Tree
    limits: JointLimits
    pushes: Pushes
    policy: Policy
    route: Route
    flexible: bool  # whether the final time may change
    aside: bool  # whether steps may be moved to catch the body
    rehearsed: Array  # (N + 1, 3) unpushed, in each frame: extrapolated centre of mass (2,), and t_c - t_d
    strongest: float  # N: more the law may not ask for
    bodies: Workspace
    next: Workspace  # one step ahead
    forces: ForceWork
    pose: PoseWork
    memory: Memory
    outcome: Outcome
    local: Array  # (12,) the state as the segment sees it
    goal: Array  # (12,) change of the segment's final state
    momentum: Array  # (6,) before the step
    before: Array  # (nv,) the velocities before the step
    off: Array  # (nv,) from the pose to the reference's
    difference: Array  # (nv,) scratch
    ahead: Array  # (nq,) scratch
