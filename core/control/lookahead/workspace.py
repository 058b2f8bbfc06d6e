# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of one evaluation of the policy."""

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.detection import Contacts
from ...dynamics.workspace import Workspace
from ...maths.structure import Structure
from .cones import Cones, make_cones
from .policy import Policy

Array = NDArray[np.float64]


class Scratch(Structure):
    """Arrays of one evaluation; flat ones are used in the size that the frame's contacts need.

    [R] turns the root's velocity from the world's axes to the reference's.
    """

    inverse: Array  # (nv, nv) M^-1
    jacobian: Array  # (nv 3 np,) J~^T of the idealised contacts, along the reference's axes
    turned: Array  # (nv, nv) [R M^-1]
    weighted: Array  # (nv, nv) [S_vv R M^-1]
    impulse_curvature: Array  # (nv, nv) [M^-1 R^T S_vv R M^-1]
    force_curvature: Array  # (3 np, nv) [J~ M^-1 R^T S_vv R M^-1]
    quu: Array  # (m m,) [R + P + G^T S G]
    control: Array  # (m,) [u~]
    position: Array  # (nq,) in the reference's coordinates
    error_position: Array  # (nv,)
    error_velocity: Array  # (nv,)
    gradient: Array  # (nv,) [s + S (h^ - x)] of the velocities
    impulse_gradient: Array  # (nv,) [M^-1 R^T] times that
    features: Array  # (nf, nv) square root of W times J_phi M^-1
    square: Array  # (nv, nv) their square, its lower triangle
    column: NDArray[np.int64]  # (nv,) of `answer`, for velocities that contacts act on; -1 for others
    answer: Array  # (motors nv,) how torque answers to a generalised force there [-C J_phi M^-1]
    factor: Array  # (motors, motors) of [1 + gamma B_m^T W B_m]
    generalized: Array  # (nv,) of the predicted contact forces
    torque: Array  # (motors,)
    gain: Array  # (motors 3 nc,)
    cones: Cones


class Choices(Structure):
    """What of the settings is asked at every step."""

    adaptation: float  # [gamma] of eq. 17
    linear: bool  # eq. 10, not 11
    about_reference: bool
    possible_forces: bool


class Machine(Structure):
    """All that a law reads and writes: a policy, what it is evaluated on, and scratch arrays."""

    tree: Tree  # the character's
    bodies: Workspace  # the world's at q_{k+1}, of which the character comes first
    contacts: Contacts
    policy: Policy
    choices: Choices
    work: Scratch


def make_scratch(tree: Tree, policy: Policy, contacts: int) -> Scratch:
    """Allocate for up to `contacts` candidates."""
    nq, nv = len(tree.rest), len(tree.velocity_body)
    motors = policy.torque.shape[1]
    most = int(policy.points.max())
    m = motors + 3 * most
    return Scratch(
        inverse=np.zeros((nv, nv)),
        jacobian=np.zeros(nv * 3 * most),
        turned=np.zeros((nv, nv)),
        weighted=np.zeros((nv, nv)),
        impulse_curvature=np.zeros((nv, nv)),
        force_curvature=np.zeros((3 * most, nv)),
        quu=np.zeros(m * m),
        control=np.zeros(m),
        position=np.zeros(nq),
        error_position=np.zeros(nv),
        error_velocity=np.zeros(nv),
        gradient=np.zeros(nv),
        impulse_gradient=np.zeros(nv),
        features=np.zeros((motors + 3 * len(policy.feature_body), nv)),
        square=np.zeros((nv, nv)),
        column=np.zeros(nv, dtype=np.int64),
        answer=np.zeros(motors * nv),
        factor=np.zeros((motors, motors)),
        generalized=np.zeros(nv),
        torque=np.zeros(motors),
        gain=np.zeros(motors * 3 * contacts),
        cones=make_cones(motors, most),
    )
