# SPDX-License-Identifier: GPL-3.0-or-later
"""What the law reads at each step, and what the motion costs from each of its frames on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...maths.structure import Structure

Array = NDArray[np.float64]

HELP = 2  # a point's grip, where its force is given by nothing


class Policy(Structure):
    """What the law reads at step k, of nf steps. Coordinates are those of the lap of the frame that step k leads to."""

    q: Array  # (nf, nq) the frame that step k leads to
    v: Array  # (nf, nv)
    q_before: Array  # (nf, nq) the frame that step k leads from
    v_before: Array  # (nf, nv)
    torque: Array  # (nf, motors) the reference's
    force: Array  # (nf, np, 3) the reference's
    points: NDArray[np.int64]  # (nf,) points that may carry force
    point: NDArray[np.int64]  # (nf, np) which they are
    body: NDArray[np.int64]  # (np,)
    local: Array  # (np, 3) in the body's frame
    grip: NDArray[np.int64]  # (np,) 1: the point may pull as well as push, 2: and its force is what the law makes it
    curvature_position: Array  # (nf, nv, nv) rows of the velocities of [S_{k+1}], columns of the positions
    curvature_velocity: Array  # (nf, nv, nv) the same, columns of the velocities
    gradient: Array  # (nf, nv) rows of the velocities of [s_{k+1}]
    gain: Array  # (nf, m, 2 nv) of eq. 10, for the torques, then the forces of the points in turn
    feedforward: Array  # (nf, m)
    change: Array  # (motors,) [R]
    effort: Array  # (motors,) [P]
    force_effort: Array  # (np,) [P] of each component of a point's force
    joint_feature: Array  # (nv,) square roots of [W]
    feature_body: NDArray[np.int64]  # (np,)
    feature_point: Array  # (np, 3)
    feature_weight: Array  # (np, 3) square roots of [W]


class CostToGo(NamedTuple):
    """Half of what eq. 8 sums from frame k on, ½ x^T S x + s^T x, by deviations x of frame k in its lap's coordinates.

    The frame's own state is part of it; what the reference itself costs is not.
    """

    curvature: Array  # (nf, 2 nv, 2 nv) [S_k]
    gradient: Array  # (nf, 2 nv) [s_k]
