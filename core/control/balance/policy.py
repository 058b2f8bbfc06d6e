# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track to what the law reads at each of its steps, and the regulators of its single supports."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.three_link import NO_LINK, feet, three_link
from ...dynamics import difference, inverse_dynamics
from ...dynamics.kinematics import update_kinematics
from ...dynamics.workspace import make_workspace
from ...motion.fit import body_poses
from ...motion.quaternions import conjugate, multiply, rotate
from ...motion.schedule import runs
from ..corners import spread_over_corners
from ..track import Track
from .law import Points
from .mapping import Model, make_model, map_to_model, update_accelerations
from .regulator import HIPS, TRACKING, full_gain, linearise, regulate, standing_curvature

Array = NDArray[np.float64]

SHORTEST = 3  # steps of a single support that is balanced


class Policy(NamedTuple):
    """Of nf steps; step k leads from frame k to k + 1. Coordinates are those of the lap of frame k."""

    points: Points
    models: tuple[Model, ...]  # that stand on each foot in turn
    q: Array  # (nf, nq) at k + 1
    v: Array  # (nf, nv) that leads there
    acceleration: Array  # (nf, nv) from there
    loaded: NDArray[np.bool_]  # (nf, np)
    normal: Array  # (nf, np, 3) of the ground
    place: Array  # (nf, np, 3) of the points at k + 1
    glide: Array  # (nf, np, 3) their velocities along the ground from there, where a foot turns or slides as it stands
    stance: NDArray[np.int64]  # (nf,) model that balances; -1: none does
    heading: Array  # (nf,) rad, of the model
    model_q: Array  # (nf, 4 nl)
    model_v: Array  # (nf, 3 nl)
    model_torque: Array  # (nf, 3 nl)
    model_gain: Array  # (nf, 3 nl, 6 nl)
    model_acceleration: Array  # (nf, nl, 3)


def make_policy(character: Character, track: Track, *, arms: bool = False) -> Policy:
    """All that can be computed beforehand; `arms` are links of their own of the models."""
    soles = feet(character)
    if len(soles) != 2:
        raise ValueError(f"Balance control needs a character with two feet; '{character.name}' has {len(soles)}.")
    frames = len(track.q)
    q, v, acceleration = _motion(character, track)
    points, loaded, normal = _points(character, track)
    place = _places(character, points, q[:frames])
    links = [three_link(character, *pair, arms=arms) for pair in (soles, soles[::-1])]
    nv = links[0].model.nv
    policy = Policy(
        points=points,
        models=tuple(make_model(link) for link in links),
        q=q[:frames],
        v=v[:frames],
        acceleration=acceleration,
        loaded=loaded,
        normal=normal,
        place=place,
        glide=_glides(place, loaded, normal, track.dt),
        stance=_stance(points, loaded, [link.link == NO_LINK for link in links]),
        heading=np.zeros(frames),
        model_q=np.zeros((frames, links[0].model.nq)),
        model_v=np.zeros((frames, nv)),
        model_torque=np.zeros((frames, nv)),
        model_gain=np.zeros((frames, nv, 2 * nv)),
        model_acceleration=np.zeros((frames, nv // 3, 3)),
    )
    for start, stop in _phases(policy.stance, track.cycle is not None):
        if stop - start < SHORTEST:
            policy.stance[np.arange(start, stop) % frames] = -1
            continue
        ends = track.cycle is None and stop == frames
        own = links[policy.stance[start % frames]].model
        _regulate_phase(character, track, policy, own, range(start, stop), (q, v), ends)
    return policy


def _motion(character: Character, track: Track) -> tuple[Array, Array, Array]:
    """Positions after each step, velocities to them, accelerations from them; of steps of the next lap, too."""
    frames = len(track.q)
    poses = [track.pose(character, k) for k in range(frames + 2 if track.cycle is None else 2 * frames + 2)]
    v = np.array([difference(character, a, b) for a, b in pairwise(poses)]) / track.dt
    acceleration = np.diff(v[: frames + 1], axis=0) / track.dt
    if track.cycle is None:
        acceleration[-2:] = 0.0  # it ends there, whatever its speed
    return np.array(poses[1:]), v, acceleration


def _points(character: Character, track: Track) -> tuple[Points, NDArray[np.bool_], Array]:
    """The corners of soles of which the track's points are the middles, and its other points as they are."""
    places, shares = spread_over_corners(character, track.point_body, track.point_local)
    sources = [[p for p, _ in own] for own in shares]
    points = Points(
        np.array([body for body, _ in places], dtype=np.int64),
        np.array([place for _, place in places], dtype=np.float64).reshape(-1, 3),
        np.array([track.grip[some].any() for some in sources], dtype=np.bool_),
    )
    loaded, normal = np.zeros((len(track.q), len(places)), np.bool_), np.zeros((len(track.q), len(places), 3))
    for i, some in enumerate(sources):
        loaded[:, i] = track.loaded[:, some].any(axis=1)
        normal[:, i] = track.normal[:, some[0]]
    return points, loaded, normal


def _places(character: Character, points: Points, q: Array) -> Array:
    position, quaternion = body_poses(character, q)
    places: Array = position[:, points.body] + rotate(quaternion[:, points.body], points.local)
    return places


def _glides(place: Array, loaded: NDArray[np.bool_], normal: Array, dt: float) -> Array:
    """Of corners that bear load in a step and the next: about the middle of a toe, its corners turn."""
    glide = np.zeros_like(place)
    way = np.diff(place, axis=0) / dt
    way -= (way * normal[:-1]).sum(axis=2, keepdims=True) * normal[:-1]
    glide[:-1] = np.where((loaded[:-1] & loaded[1:])[:, :, None], way, 0.0)
    return glide


def _stance(points: Points, loaded: NDArray[np.bool_], feet: list[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """Which foot, of two masks of bodies, is the only thing that a step stands on; -1 where none is."""
    on = [loaded[:, foot[points.body]].any(axis=1) for foot in feet]
    other = loaded[:, ~(feet[0] | feet[1])[points.body]].any(axis=1)
    return np.where(on[0] & ~on[1] & ~other, 0, np.where(on[1] & ~on[0] & ~other, 1, -1))


def _phases(stance: NDArray[np.int64], cyclic: bool) -> list[tuple[int, int]]:
    """First and last step, plus one, of each single support; one that goes on in the next lap ends there."""
    frames, found = len(stance), []
    for foot in (0, 1):
        own = runs(stance == foot)
        wraps = cyclic and len(own) > 1 and own[0][0] == 0 and own[-1][1] == frames
        if wraps:
            own = [*own[1:-1], (own[-1][0], frames + own[0][1])]
        found += own
    return sorted(found)


def _regulate_phase(
    character: Character,
    track: Track,
    policy: Policy,
    own: Character,
    phase: range,
    motion: tuple[Array, Array],
    ends: bool,
) -> None:
    """The model's motion in a single support, and its regulator: eq. 3.4, or 3.6 from where the motion stands still."""
    q, v = motion
    frames, dt = len(track.q), track.dt
    model = policy.models[policy.stance[phase.start]]
    heading = _heading(character, q[phase[len(phase) // 2]])
    turn = 0.0 if track.cycle is None else track.cycle.turn
    mapped_q, mapped_v = np.zeros((len(phase) + 1, own.nq)), np.zeros((len(phase) + 1, own.nv))
    work = make_workspace(character.tree)
    for i, k in enumerate((*phase, phase.stop)):
        update_kinematics(character.tree, work, q[k], v[k])
        map_to_model(character.tree, work, model, heading)
        mapped_q[i], mapped_v[i] = model.q, model.v
    steps = []
    for i, k in enumerate(phase):
        row = k % frames
        rate = (mapped_v[i + 1] - mapped_v[i]) / dt
        torque = np.zeros(own.nv)
        torque[HIPS] = inverse_dynamics(own, mapped_q[i], mapped_v[i], rate)[HIPS]
        steps.append(linearise(own, mapped_q[i], mapped_v[i], torque, dt))
        model.q[:], model.v[:] = mapped_q[i], mapped_v[i]
        update_accelerations(model, torque)
        policy.heading[row] = heading - turn * (k // frames)
        policy.model_q[row], policy.model_v[row] = mapped_q[i], mapped_v[i]
        policy.model_torque[row] = torque
        policy.model_acceleration[row] = model.acceleration
    last = standing_curvature(*steps[-1]) if ends else np.eye(len(steps[0][0]))
    for k, gain in zip(phase, regulate(steps, np.full(len(last), TRACKING), last), strict=True):
        policy.model_gain[k % frames] = full_gain(gain, dt)


def _heading(character: Character, q: Array) -> float:
    """Where the root faces, rad about the vertical from its neutral pose."""
    neutral = character.neutral()
    forward = rotate(multiply(q[3:7], conjugate(neutral[3:7])), np.array([1.0, 0.0, 0.0]))
    return float(np.arctan2(forward[1], forward[0]))
