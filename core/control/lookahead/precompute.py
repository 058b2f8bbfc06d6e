# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track to a policy: linearise every step, sweep the Riccati recursion backwards, keep what the law needs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import FREE
from ...maths.beside import in_line
from ...motion.cycle import Cycle
from .linear_steps import LinearSteps, fill_steps, make_linear_steps
from .policy import CostToGo, Policy
from .riccati import Regulator, step_back
from .settings import Settings
from .track import Track
from .weights import Weights, make_weights

Array = NDArray[np.float64]

PIECE = 16  # steps that are linearised at a time


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
        force_effort=weights.force * np.where(track.help, settings.help, 1.0),
        joint_feature=np.sqrt(weights.joint_feature),
        feature_body=weights.feature_body,
        feature_point=weights.feature_point,
        feature_weight=np.sqrt(weights.feature_weight),
    )
    value = CostToGo(np.zeros((frames, 2 * nv, 2 * nv)), np.zeros((frames, 2 * nv)))
    turn = _lap_map(character, track)
    curvature, gradient = np.diag(weights.state), np.zeros(2 * nv)
    order = _order(track, settings)
    if end is not None:
        curvature, gradient = (part.copy() for part in end)
        value.curvature[-1], value.gradient[-1] = end
        order = range(frames - 2, -1, -1)
    linear = make_linear_steps(character.tree, policy)

    def linearize(piece: tuple[range, list[int]]) -> None:
        frames = piece[0]
        fill_steps(character.tree, policy, track.slips, track.dt, weights.stance, linear, frames.start, frames.stop)

    def regulate(piece: tuple[range, list[int]]) -> bool:
        nonlocal curvature, gradient
        for k in piece[1]:
            if track.stance and k == frames - 1 - track.stance:
                # deviations at the end cost what they would cost a stance, but the motion is not to stop before its end
                gradient = np.zeros(2 * nv)
            curvature[nv:, nv:] += linear.stance[k]
            policy.curvature_position[k], policy.curvature_velocity[k] = curvature[nv:, :nv], curvature[nv:, nv:]
            policy.gradient[k] = gradient[nv:]
            result = _regulate(track, weights, settings, policy, linear, curvature, gradient, k)
            m = len(result.feedforward)
            policy.gain[k, :m], policy.feedforward[k, :m] = result.gain, result.feedforward
            curvature, gradient = result.curvature, result.gradient
            if k == frames - 1 and track.cycle is not None:
                curvature, gradient = np.ascontiguousarray(turn @ curvature @ turn.T), turn @ gradient
            value.curvature[k], value.gradient[k] = curvature, gradient
        return True

    in_line(_pieces(order, frames), linearize, regulate)
    return policy, value


def _pieces(order: Sequence[int], frames: int) -> list[tuple[range, list[int]]]:
    """Frames to be linearised, and then the steps of the recursion that need no others, in their order."""
    pieces: list[tuple[range, list[int]]] = []
    lowest = frames
    for k in order:
        if k < lowest:
            lowest = max(k + 1 - PIECE, 0)
            pieces.append((range(lowest, k + 1), []))
        pieces[-1][1].append(k)
    return pieces


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


def _regulate(
    track: Track,
    weights: Weights,
    settings: Settings,
    policy: Policy,
    linear: LinearSteps,
    curvature: Array,
    gradient: Array,
    k: int,
) -> Regulator:
    forces = policy.force[k, policy.point[k, : policy.points[k]]].ravel()
    dear = np.repeat(policy.force_effort[policy.point[k, : policy.points[k]]], 3)
    effort = np.concatenate((weights.change + weights.effort, dear))
    pull = np.zeros(len(effort))
    if not settings.about_reference:
        pull[:] = np.concatenate((weights.effort * track.torque[k], dear * forces))
    A = linear.state[k]
    B = linear.control[k, : len(A) * len(effort)].reshape(len(A), -1)
    return step_back(A, B, linear.defect[k], weights.state, effort, pull, curvature, gradient)
