# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a simulation: pure functions of the recording and its reference.

Tracking and joint torques are measured while the character is upright; depth and residuals over all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..character.parts import Corner
from ..character.tree import FREE, VELOCITIES_OF_JOINT
from ..contact.terrain import Terrain, make_pose, nearest_points
from ..dynamics.kinematics import difference_positions
from ..simulation.outcome import Simulation

Array = NDArray[np.float64]
Outcome = Literal["completed", "fell", "diverged", "cancelled"]

LANDED = 0.001  # m: a higher point has not landed; anticipated contacts press one step before they touch
PRESSING = 1.0  # N: a contact that carries this much should not move
NOWHERE = np.zeros(3)
FULL = 1.0 - 1e-9  # of a joint's limit
STANDING = 0.05  # of the character's weight: a foot that bears less only grazes the ground
STANCE_GAP = 0.05  # s without that, after which a new stance begins
NUMBERS = (
    "upright_seconds",
    "simulated_seconds",
    "joint_rms_deg",
    "joint_max_deg",
    "root_rms_m",
    "root_max_m",
    "max_penetration_m",
    "max_foot_slide_m",
    "contact_residual_max",
    "peak_torque_nm",
    "torque_share_max",
    "help_mean",
    "help_max",
    "real_time_factor",
    "step_us_median",
    "step_us_p99",
)


@dataclass(frozen=True)
class Slide:
    """How far a foot slid while it stood."""

    body: str
    distance: float  # m
    start: float  # s, of the stance
    end: float  # s
    farthest: float  # s, when it was as far as that


class Worst(NamedTuple):
    """When a figure of a report was as large as it says, and where."""

    time: float  # s
    what: str  # body or joint; empty for the whole
    since: float = 0.0  # s, of a slide: when the foot came to stand


class Saturated(NamedTuple):
    """A joint that gave all that it has."""

    joint: str
    start: float  # s, when first
    seconds: float  # in all


def outcome_of(simulation: Simulation) -> Outcome:
    """How it ended; a fall counts, whatever came after."""
    if simulation.lost is not None:
        return "fell"
    if simulation.recording.outcome == "diverged":
        return "diverged"
    return "cancelled" if simulation.cancelled else "completed"


def measure(simulation: Simulation) -> dict[str, Any]:
    """All figures of a report except the explanation and the times of the other stages."""
    recording, upright = simulation.recording, simulation.upright
    errors = tracking_errors(simulation)[: upright + 1]
    joints, root = joint_angles(simulation.character, errors), root_distances(simulation.character, errors)
    slides, helped = foot_slides(simulation, upright), help_shares(simulation)
    micros = 1e6 * simulation.step_seconds
    total = float(simulation.step_seconds.sum())
    return {
        "outcome": outcome_of(simulation),
        "upright_seconds": upright / recording.rate,
        "simulated_seconds": simulation.seconds,
        "joint_rms_deg": float(np.degrees(_rms(errors[:, _first_joint(simulation.character) :]))),
        "joint_max_deg": float(np.degrees(joints.max(initial=0.0))),
        "root_rms_m": _rms(root),
        "root_max_m": float(root.max(initial=0.0)),
        "max_penetration_m": max_penetration(simulation),
        "max_foot_slide_m": max((slide.distance for slide in slides), default=0.0),
        "contact_residual_max": float(recording.residual.max(initial=0.0)),
        "lcp_failures": int("contact" in recording.reason),  # a step that fails its checks is the last
        "peak_torque_nm": float(joint_torques(simulation)[:upright].max(initial=0.0)),
        "torque_share_max": float(torque_shares(simulation).max(initial=0.0)),
        "help_mean": float(helped.mean()) if recording.steps else 0.0,
        "help_max": float(helped.max(initial=0.0)),
        "help_frames": 0,
        "real_time_factor": simulation.seconds / total if total > 0.0 else 0.0,
        "step_us_median": float(np.median(micros)) if len(micros) else 0.0,
        "step_us_p99": float(np.percentile(micros, 99.0)) if len(micros) else 0.0,
        "worst": worst(simulation, slides, root),
    }


def risings(simulation: Simulation) -> list[slice]:
    """The steps in which it got up after a fall."""
    rate, found = simulation.recording.rate, []
    for one in simulation.recoveries:
        if one.what == "rises":
            found.append(slice(round(one.time * rate), simulation.recording.steps))
        elif one.what == "up" and found:
            found[-1] = slice(found[-1].start, round(one.time * rate) + 1)
    return found


def saturated_joints(simulation: Simulation) -> list[Saturated]:
    """Joints that gave all that they have while it was upright, those that did longest first."""
    full = torque_shares(simulation)[: simulation.upright] > FULL
    names, rate = moving_joints(simulation.character), simulation.recording.rate
    found = [
        Saturated(names[j], float(np.argmax(full[:, j])) / rate, float(full[:, j].sum()) / rate)
        for j in np.flatnonzero(full.any(axis=0))
    ]
    return sorted(found, key=lambda one: (-one.seconds, one.start, one.joint))


def torque_shares(simulation: Simulation) -> Array:
    """Torques (n, joints) by joints' limits; zero where there is none."""
    torques, limits = joint_torques(simulation), simulation.torque_limits
    if limits is None:
        return np.zeros_like(torques)
    most = np.array([limits.most.get(name, np.inf) for name in moving_joints(simulation.character)])
    most = limits.strength.at(simulation.recording.time[: len(torques)])[:, None] * most
    shares: Array = np.divide(torques, most, out=np.zeros_like(torques), where=most > 0.0)
    return shares


def worst(simulation: Simulation, slides: Sequence[Slide], root: Array) -> dict[str, Worst]:
    """Of the figures that are a maximum over bodies and time, by their names; those without any are left out."""
    recording, found = simulation.recording, {}
    slide = max(slides, key=lambda one: one.distance, default=None)
    if slide is not None:
        found["max_foot_slide_m"] = Worst(slide.farthest, slide.body, slide.start)
    found["root_max_m"] = Worst(float(np.argmax(root)) / recording.rate, "")
    if len(recording.contact_gap):
        deepest = int(np.argmin(recording.contact_gap))
        step = int(np.searchsorted(recording.contact_start, deepest, side="right")) - 1
        body = int(recording.contact_body[deepest])
        bodies = simulation.character.bodies
        found["max_penetration_m"] = Worst(step / recording.rate, bodies[body].name if body < len(bodies) else "")
    torques = joint_torques(simulation)[: simulation.upright]
    if torques.size:
        strongest, joint = divmod(int(np.argmax(torques)), torques.shape[1])
        found["peak_torque_nm"] = Worst(strongest / recording.rate, moving_joints(simulation.character)[joint])
    return found


def nothing() -> dict[str, Any]:
    """The figures of a simulation that was cancelled before it began."""
    numbers = dict.fromkeys(NUMBERS, 0.0)
    return {"outcome": "cancelled", **numbers, "lcp_failures": 0, "help_frames": 0, "worst": {}}


def help_shares(simulation: Simulation) -> Array:
    """Help in each step (n,), as a share of the weight: the larger of its force, and of its moment over a metre."""
    given = simulation.help
    if len(given) == 0:
        return np.zeros(simulation.recording.steps)
    weight = simulation.character.total_mass * float(np.linalg.norm(simulation.character.gravity))
    found: Array = np.maximum(np.linalg.norm(given[:, :3], axis=1), np.linalg.norm(given[:, 3:], axis=1)) / weight
    return found


def upheld(simulation: Simulation) -> Array:
    """All that acts on the body in each step (n,) but pushes, as a share of the weight: contacts, grips, help."""
    recording, character = simulation.recording, simulation.character
    weight = character.total_mass * float(np.linalg.norm(character.gravity))
    own = recording.contact_body < len(character.bodies)
    step = np.repeat(np.arange(recording.steps), np.diff(recording.contact_start))
    found = help_shares(simulation)
    found += np.linalg.norm(recording.grab_force[: recording.steps, :, :3], axis=2).sum(axis=1) / weight
    np.add.at(found, step[own], np.linalg.norm(recording.contact_force[own], axis=1) / weight)
    return found


def tracking_errors(simulation: Simulation) -> Array:
    """Differences from the reference (n + 1, nv), in the tangent space."""
    character, recording = simulation.character, simulation.recording
    errors = np.zeros((len(recording.q), character.nv))
    for k, wanted in enumerate(simulation.followed.q):
        difference_positions(character.tree, wanted, recording.q[k, : character.nq], errors[k])
    return errors


def joint_angles(character: Character, errors: Array) -> Array:
    """Angles (n, joints) of the joints' errors, without a free root, from errors (n, nv)."""
    return by_joint(character, errors[:, _first_joint(character) :])


def root_distances(character: Character, errors: Array) -> Array:
    """Distances (n,) of a free root from its reference, m."""
    found: Array = np.linalg.norm(errors[:, :3], axis=1) * (character.tree.joint[0] == FREE)
    return found


def joint_torques(simulation: Simulation) -> Array:
    """Torques (n, joints) that the joints' motors exert, about whichever axis, N m."""
    return by_joint(simulation.character, simulation.recording.torque)


def moving_joints(character: Character) -> tuple[str, ...]:
    """Names of the joints that the columns of angles and torques belong to."""
    return tuple(joint.name for joint in character.joints if joint.kind not in {"free", "fixed"})


def max_penetration(simulation: Simulation) -> float:
    """Greatest depth of a contact, m."""
    return max(0.0, -float(simulation.recording.contact_gap.min(initial=0.0)))


def feet(character: Character) -> tuple[int, ...]:
    """The bodies with a sole."""
    soles = {shape.body for shape in character.contacts if isinstance(shape, Corner)}
    return tuple(b for b, body in enumerate(character.bodies) if body.name in soles)


def foot_slides(simulation: Simulation, steps: int | None = None) -> list[Slide]:
    """How far each foot slid in each stance, over the ground, in the first `steps` steps.

    The way of a point counts only while it presses on the ground, and adds up over the stance, which lasts as long as
    the foot bears weight: forces wander among the corners of a sole, and the sole is not to creep meanwhile.
    """
    recording, character = simulation.recording, simulation.character
    least = STANDING * character.total_mass * float(np.linalg.norm(character.gravity))
    count = recording.steps if steps is None else min(steps, recording.steps)
    gap = round(STANCE_GAP * recording.rate)
    pressing = pressing_rows(simulation)
    found = []
    for body in feet(character):
        ways: dict[int, Array] = {}
        worst, farthest, begun, last = 0.0, 0, -1, -1
        for k in np.flatnonzero(np.linalg.norm(recording.wrench[:count, body, :3], axis=1) > least).tolist():
            if begun < 0 or k - last > gap:
                if begun >= 0:
                    found.append(_slide(simulation, body, worst, (begun, farthest, last)))
                ways, worst, farthest, begun = {}, 0.0, k, k
            last = k
            for key, move in point_ways(simulation, k, body, pressing).items():
                ways[key] = ways.get(key, NOWHERE) + move
                far = float(np.linalg.norm(ways[key]))
                if far > worst:
                    worst, farthest = far, k + 1
        if begun >= 0:
            found.append(_slide(simulation, body, worst, (begun, farthest, last)))
    return found


def _slide(simulation: Simulation, body: int, distance: float, steps: tuple[int, int, int]) -> Slide:
    rate, (begun, farthest, last) = simulation.recording.rate, steps
    return Slide(simulation.character.bodies[body].name, distance, begun / rate, (last + 1) / rate, farthest / rate)


def pressing_rows(simulation: Simulation) -> NDArray[np.bool_]:
    """Which rows of a recording's contacts are of points that press on something."""
    recording = simulation.recording
    force = np.linalg.norm(recording.contact_force, axis=1)
    rows: NDArray[np.bool_] = (recording.contact_gap < LANDED) & (force > PRESSING)
    return rows


def point_ways(simulation: Simulation, k: int, body: int, presses: NDArray[np.bool_]) -> Mapping[int, Array]:
    """Displacements over the ground from step k to k + 1 of the body's points that press in step k, by their keys."""
    recording = simulation.recording
    first, end = recording.contact_start[k], recording.contact_start[k + 1]
    pressing = first + np.flatnonzero(presses[first:end] & (recording.contact_body[first:end] == body))
    if len(pressing) == 0 or k + 1 >= recording.steps:
        return dict.fromkeys(recording.contact_key[pressing].tolist(), NOWHERE)
    last = recording.contact_start[k + 2]
    row_of = {key: end + row for row, key in enumerate(recording.contact_key[end:last].tolist())}
    ground = _ground_velocities(simulation.terrain, recording.contact_point[pressing], recording.time[k + 1])
    moves = {}
    for row, velocity in zip(pressing.tolist(), ground, strict=True):
        key = int(recording.contact_key[row])
        if key in row_of:
            # what presses does not leave the ground, so all of its way is along it
            moves[key] = recording.contact_point[row_of[key]] - recording.contact_point[row] - velocity / recording.rate
    return moves


def _ground_velocities(terrain: Terrain, points: Array, time: float) -> Array:
    """Velocity (n, 3) of the terrain's material at points that touch it."""
    velocities = np.zeros_like(points)
    if terrain.motion_count.max(initial=1) <= 1:
        return velocities
    pose, near = make_pose(terrain, time), nearest_points(terrain, points, 0.1, time)
    for i in np.flatnonzero(near.surface >= 0):
        s = near.surface[i]
        velocities[i] = pose.velocity[s] + np.cross(pose.angular_velocity[s], points[i] - pose.position[s])
    return velocities


def by_joint(character: Character, values: Array) -> Array:
    """Norms over each moving joint's own columns, of values for every velocity after a free root's."""
    first, norms = _first_joint(character), []
    for start, kind in zip(character.tree.velocity_start, character.tree.joint, strict=True):
        width = VELOCITIES_OF_JOINT[kind]
        if kind != FREE and width > 0:
            norms.append(np.linalg.norm(values[:, start - first : start - first + width], axis=1))
    return np.array(norms).T.reshape(len(values), len(norms))


def _first_joint(character: Character) -> int:
    return 6 if character.tree.joint[0] == FREE else 0


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
