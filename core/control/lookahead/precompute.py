# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track to a policy: linearise every step, sweep the Riccati recursion backwards, keep what the law needs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import FREE
from ...dynamics import Derivatives, PointForces, difference, point_jacobian, step_derivatives
from ...maths.products import add_transposed_product
from ...maths.structure import Structure
from ...motion.cycle import Cycle
from .riccati import Regulator, step_back
from .settings import Settings
from .track import Track
from .weights import Weights, make_weights

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
    force_effort: Array  # (1,) [P] of each component of a force
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


def precompute(character: Character, track: Track, settings: Settings) -> Policy:
    """What the law needs of `sweep`."""
    return sweep(character, track, settings)[0]


def sweep(
    character: Character,
    track: Track,
    settings: Settings,
    end: tuple[Array, Array] | None = None,
) -> tuple[Policy, CostToGo]:
    """Sweep a cyclic motion's periods, or the settled stance and then all frames, from the last to the first.

    With an `end`, the cost to go (S, s) of the last frame, the track is followed up to that frame and no further: its
    own step, which has no law then, is not swept. The law knows nothing of what forces from outside give, so it is to
    lead to where they find the body.
    """
    settings.checked()
    track = track.checked(character)
    weights = make_weights(character, settings)
    frames, nv, points = len(track.q), character.nv, len(track.point_body)
    motors = track.torque.shape[1]
    used = [np.flatnonzero(row) for row in track.loaded]
    before, after, force = _step_states(character, track)
    if track.given.any():
        after = (after[0], after[1] - track.given)
    steps = [_linearize(character, track, before, force, k, used[k]) for k in range(frames)]
    width = motors + 3 * max(len(row) for row in used)
    policy = Policy(
        q=after[0],
        v=after[1],
        q_before=before[0],
        v_before=before[1],
        torque=track.torque,
        force=force,
        points=np.array([len(row) for row in used], dtype=np.int64),
        point=np.array([np.pad(row, (0, points - len(row))) for row in used], dtype=np.int64).reshape(frames, points),
        body=track.point_body,
        local=track.point_local,
        grip=track.grip.astype(np.int64) + track.help,
        curvature_position=np.zeros((frames, nv, nv)),
        curvature_velocity=np.zeros((frames, nv, nv)),
        gradient=np.zeros((frames, nv)),
        gain=np.zeros((frames, width, 2 * nv)),
        feedforward=np.zeros((frames, width)),
        change=weights.change,
        effort=weights.effort,
        force_effort=np.array([weights.force]),
        joint_feature=np.sqrt(weights.joint_feature),
        feature_body=weights.feature_body,
        feature_point=weights.feature_point,
        feature_weight=np.sqrt(weights.feature_weight),
    )
    value = CostToGo(np.zeros((frames, 2 * nv, 2 * nv)), np.zeros((frames, 2 * nv)))
    stances = [_stance_cost(character, policy, weights.stance, k) for k in range(frames)]
    turn = _lap_map(character, track)
    curvature, gradient = np.diag(weights.state), np.zeros(2 * nv)
    order = _order(track, settings)
    if end is not None:
        curvature, gradient = (part.copy() for part in end)
        value.curvature[-1], value.gradient[-1] = end
        order = range(frames - 2, -1, -1)
    for k in order:
        if track.stance and k == frames - 1 - track.stance:
            # deviations at the end cost what they would cost a stance, but the motion is not to stop before its end
            gradient = np.zeros(2 * nv)
        curvature[nv:, nv:] += stances[k]
        policy.curvature_position[k], policy.curvature_velocity[k] = curvature[nv:, :nv], curvature[nv:, nv:]
        policy.gradient[k] = gradient[nv:]
        result = _regulate(character, track, weights, settings, policy, steps[k], curvature, gradient, k)
        m = len(result.feedforward)
        policy.gain[k, :m], policy.feedforward[k, :m] = result.gain, result.feedforward
        curvature, gradient = result.curvature, result.gradient
        if k == frames - 1 and track.cycle is not None:
            curvature, gradient = np.ascontiguousarray(turn @ curvature @ turn.T), turn @ gradient
        value.curvature[k], value.gradient[k] = curvature, gradient
    return policy, value


def _order(track: Track, settings: Settings) -> Sequence[int]:
    """Steps in the order of the recursion; what it finds last of a step is what stays."""
    frames = len(track.q)
    once = list(range(frames - 1, -1, -1))
    if track.cycle is not None:
        return once * (settings.cycles + 1)
    return [frames - 1] * round(settings.settle / track.dt) + once


def _step_states(character: Character, track: Track) -> tuple[tuple[Array, Array], tuple[Array, Array], Array]:
    """States before and after each step, and its forces, in the coordinates of the lap that the step leads to."""
    last = (track.q[:1], track.v[:1]) if track.cycle is not None else (track.q[-1:], track.v[-1:])
    after = (np.concatenate((track.q[1:], last[0])), np.concatenate((track.v[1:], last[1])))
    q, v, force = track.q.copy(), track.v.copy(), track.force.copy()
    if track.cycle is not None:
        q[-1], v[-1] = _inverse(track.cycle).move_state(character, q[-1], v[-1])
        force[-1] = force[-1] @ track.cycle.rotation
    return (q, v), after, force


def _inverse(cycle: Cycle) -> Cycle:
    """A period back."""
    x, y = (-np.array(cycle.shift) @ cycle.rotation[:2, :2]).tolist()
    return Cycle((x, y), -cycle.turn)


def _lap_map(character: Character, track: Track) -> Array:
    """How tangent vectors of one lap appear in the coordinates of the lap before (2 nv, 2 nv)."""
    nv = character.nv
    turn = np.eye(2 * nv)
    if track.cycle is not None and character.tree.joint[0] == FREE:
        for first in (0, nv):
            turn[first : first + 3, first : first + 3] = track.cycle.rotation
    return turn


def _linearize(
    character: Character,
    track: Track,
    before: tuple[Array, Array],
    force: Array,
    k: int,
    used: NDArray[np.int64],
) -> Derivatives:
    contacts = PointForces(track.point_body[used], track.point_local[used], force[k, used])
    step = step_derivatives(character, before[0][k], before[1][k], track.torque[k], track.dt, contacts)
    if (track.slips[k, used] > 0.0).any():
        # what slips pushes up, and gives hardly anything along the (level) ground that feedback might count on
        first = track.torque.shape[1]
        for axis in range(2):
            step.B[:, first + axis :: 3] *= 1.0 - track.slips[k, used]
    return step


def _stance_cost(character: Character, policy: Policy, weight: float, k: int) -> Array:
    """[Q] (nv, nv) on velocities after step k: points that bear load in it are not to slide.

    The idealised system holds no foot in its place. Pushed, it would let the feet go with the body rather than the body
    stay over its feet, and count on horizontal forces that accelerate no foot but one that is free.
    """
    cost = np.zeros((character.nv, character.nv))
    for p in policy.point[k, : policy.points[k]]:
        if policy.grip[p] == HELP:
            continue
        J = point_jacobian(character, policy.q[k], int(policy.body[p]), policy.local[p])
        add_transposed_product(weight * J, J, cost, character.nv, 3, character.nv)
    return cost


def _regulate(
    character: Character,
    track: Track,
    weights: Weights,
    settings: Settings,
    policy: Policy,
    step: Derivatives,
    curvature: Array,
    gradient: Array,
    k: int,
) -> Regulator:
    forces = policy.force[k, policy.point[k, : policy.points[k]]].ravel()
    effort = np.concatenate((weights.change + weights.effort, np.full(len(forces), weights.force)))
    pull = np.zeros(len(effort))
    if not settings.about_reference:
        pull[:] = np.concatenate((weights.effort * track.torque[k], weights.force * forces))
    defect = np.concatenate((difference(character, policy.q[k], step.q), step.v - policy.v[k]))
    return step_back(step.A, step.B, defect, weights.state, effort, pull, curvature, gradient)
