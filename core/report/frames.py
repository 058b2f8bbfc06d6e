# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation at the animation's frame rate: what the overlay draws, and curves."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dynamics import center_of_mass_jacobian
from ..motion.tracks import center_of_mass_path
from ..simulation import Frames
from ..simulation.outcome import Simulation
from . import metrics

Array = NDArray[np.float64]

FAINTEST = 1.0  # N: forces below it are left out
FREE = 0.02  # of the weight: who is held up by less flies
NEAR = 0.002  # m: a point this near to the ground supports if its body carries weight


@dataclass(frozen=True, eq=False)
class Forces:
    """Contact forces over frames: those of frame k are rows start[k] to start[k + 1], one for each touching body."""

    start: NDArray[np.int64]  # (nf + 1,)
    body: tuple[str, ...]  # (n,) the body of the character or the prop that is pushed
    point: Array  # (n, 3) where, in the world, m
    force: Array  # (n, 3) mean over about a frame, N


@dataclass(frozen=True, eq=False)
class Support:
    """The outline of what carries the character, anticlockwise: frame k has rows start[k] to start[k + 1]."""

    start: NDArray[np.int64]  # (nf + 1,)
    point: Array  # (n, 3) in the world, m


@dataclass(frozen=True)
class Fall:
    """Where and when the character fell."""

    frame: float  # of the scene
    seconds: float  # from the first frame
    place: tuple[float, float, float]  # under the centre of mass, m


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """What goes with every frame."""

    center_of_mass: Array  # (nf, 3)
    support: Support
    forces: Forces
    curves: Mapping[str, Array]  # (nf,) each
    torques: Mapping[str, Array]  # (nf,) each joint's, N m


def diagnose(simulation: Simulation, frames: Frames, bodies: tuple[str, ...]) -> Diagnostics:
    """All of it, for frames resampled from the simulation's recording; `bodies` names those of its tree."""
    character = simulation.character
    q, v = np.ascontiguousarray(frames.q[:, : character.nq]), frames.v[:, : character.nv]
    center = center_of_mass_path(character, q)
    velocity = np.array([center_of_mass_jacobian(character, q[f]) @ v[f] for f in range(len(q))]).reshape(-1, 3)
    windows = [_steps_about(simulation, time) for time in frames.time]
    forces, support = _forces(simulation, frames, windows, bodies), _support(simulation, windows)
    gravity = float(np.linalg.norm(character.gravity))
    errors = metrics.tracking_errors(simulation)[_nearest_states(simulation, frames.time)]
    joints = metrics.joint_angles(character, errors)
    help_shares = metrics.help_shares(simulation)
    curves = {
        "tracking_error_deg": np.degrees(np.sqrt(np.mean(joints**2, axis=1))) if joints.size else np.zeros(len(q)),
        "root_error_m": metrics.root_distances(character, errors),
        "help_share": np.array([help_shares[steps].max(initial=0.0) for steps in windows]),
        "balance_margin_m": np.array([_margin(support, f, center[f], velocity[f], gravity) for f in range(len(q))]),
    }
    curves |= _help(simulation, windows)
    for body in metrics.feet(character):
        strength = np.linalg.norm(frames.wrench[:, body, :3], axis=1)
        curves[f"contact_force_{bodies[body]}_n"] = np.where(strength > FAINTEST, strength, 0.0)
    strengths = metrics.by_joint(character, frames.torque)
    torques = dict(zip(metrics.moving_joints(character), strengths.T, strict=True))
    return Diagnostics(center, support, forces, curves, torques)


def _help(simulation: Simulation, windows: list[NDArray[np.int64]]) -> dict[str, Array]:
    """The force from nowhere, N in the world's axes, and how much it turns, N m; nothing where there never is any."""
    if not simulation.help.any():
        return {}
    mean = np.array([simulation.help[steps].mean(axis=0) if len(steps) else np.zeros(6) for steps in windows])
    named = {f"help_{axis}_n": np.ascontiguousarray(mean[:, k]) for k, axis in enumerate("xyz")}
    return named | {"help_moment_nm": np.linalg.norm(mean[:, 3:], axis=1)}


def flying(simulation: Simulation, time: Array) -> NDArray[np.bool_]:
    """At which times (nf,) nothing holds the body up: it touches and grips nothing, and nothing helps it."""
    free = metrics.upheld(simulation) < FREE
    if len(free) == 0:
        return np.zeros(len(time), dtype=np.bool_)
    states, last = _nearest_states(simulation, time), len(free) - 1
    found: NDArray[np.bool_] = free[np.clip(states - 1, 0, last)] & free[np.clip(states, 0, last)]
    return found


def hull(points: Array) -> Array:
    """The corners (m, 3) of the convex outline of points (n, 3) seen from above, anticlockwise (A. Andrew's chains)."""
    order = sorted(map(tuple, points.tolist()))
    if len(order) < 3:
        return np.array(order).reshape(-1, 3)
    chains: list[list[tuple[float, ...]]] = []
    for direction in (order, order[::-1]):
        chain: list[tuple[float, ...]] = []
        for point in direction:
            while len(chain) > 1 and _left_turn(chain[-2], chain[-1], point) <= 0.0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1]).reshape(-1, 3)


def signed_distance(outline: Array, point: Array) -> float:
    """How far (m) inside an outline (n, 3) a point of the ground (2,) is: negative outside, NaN without an outline."""
    if len(outline) == 0:
        return float("nan")
    start, end = outline[:, :2], np.roll(outline[:, :2], -1, axis=0)
    along, away = end - start, point - start
    part = np.clip(np.einsum("ij,ij->i", away, along) / np.maximum(np.sum(along**2, axis=1), 1e-12), 0.0, 1.0)
    distance = float(np.linalg.norm(away - part[:, None] * along, axis=1).min())
    inside = len(outline) > 2 and bool((along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0] >= 0.0).all())
    return distance if inside else -distance


def _margin(support: Support, frame: int, center: Array, velocity: Array, gravity: float) -> float:
    """How far inside its support the extrapolated centre of mass is (A. Hof et al. 2005): c + c' sqrt(height / g)."""
    outline = support.point[support.start[frame] : support.start[frame + 1]]
    if len(outline) == 0 or gravity <= 0.0:
        return float("nan")
    height = max(float(center[2] - outline[:, 2].mean()), 0.0)
    return signed_distance(outline, center[:2] + velocity[:2] * np.sqrt(height / gravity))


def _steps_about(simulation: Simulation, time: float) -> NDArray[np.int64]:
    """The steps whose forces act about a time: those that lead to the state there and on from it."""
    recording = simulation.recording
    if recording.steps == 0:
        return np.zeros(0, dtype=np.int64)
    state, last = round((time - float(recording.time[0])) * recording.rate), recording.steps - 1
    before, after = min(max(state - 1, 0), last), min(max(state, 0), last)
    return np.array([before] if before == after else [before, after], dtype=np.int64)


def _nearest_states(simulation: Simulation, time: Array) -> NDArray[np.int64]:
    recording = simulation.recording
    states = np.rint((time - recording.time[0]) * recording.rate).astype(np.int64)
    result: NDArray[np.int64] = np.clip(states, 0, recording.steps)
    return result


def _rows(simulation: Simulation, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """The contacts of some steps."""
    start = simulation.recording.contact_start
    return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(start[k], start[k + 1]) for k in steps)])


def _forces(
    simulation: Simulation, frames: Frames, windows: list[NDArray[np.int64]], bodies: tuple[str, ...]
) -> Forces:
    recording, start = simulation.recording, [0]
    names: list[str] = []
    points, forces = [], []
    for f, steps in enumerate(windows):
        rows = _rows(simulation, steps)
        strength = np.linalg.norm(recording.contact_force[rows], axis=1)
        for body in np.unique(recording.contact_body[rows[strength > FAINTEST]]):
            own = recording.contact_body[rows] == body
            force = frames.wrench[f, body, :3]
            if np.linalg.norm(force) > FAINTEST:
                names.append(bodies[body])
                points.append(strength[own] @ recording.contact_point[rows[own]] / strength[own].sum())
                forces.append(force)
        start.append(len(names))
    return Forces(
        np.array(start, dtype=np.int64),
        tuple(names),
        np.array(points).reshape(-1, 3),
        np.array(forces).reshape(-1, 3),
    )


def _support(simulation: Simulation, windows: list[NDArray[np.int64]]) -> Support:
    recording, start = simulation.recording, [0]
    corners = []
    for steps in windows:
        rows = _rows(simulation, steps)
        rows = rows[recording.contact_body[rows] < len(simulation.character.bodies)]
        body = recording.contact_body[rows]
        carrying = np.unique(body[np.linalg.norm(recording.contact_force[rows], axis=1) > FAINTEST])
        rows = rows[np.isin(body, carrying) & (recording.contact_gap[rows] < NEAR)]
        corners.append(hull(recording.contact_point[rows]))
        start.append(start[-1] + len(corners[-1]))
    return Support(np.array(start, dtype=np.int64), np.concatenate([np.zeros((0, 3)), *corners]))


def _left_turn(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
