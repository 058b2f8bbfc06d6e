# SPDX-License-Identifier: GPL-3.0-or-later
"""The quality of a solution: its residuals in physical units, and its changes from the clip."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import VELOCITIES_OF_JOINT
from ...dynamics import body_poses, mass_matrix
from ...dynamics.kinematics import difference_positions
from ...sentences import Sentence, say
from ..fit import Trajectory
from ..reference import Quality
from ..schedule import ContactSchedule
from .ends import Ends, end_offsets
from .model import fill_defects, fill_held_offsets, make_model_workspace
from .problem import NO_CLEARANCE, Iterate, Problem
from .settings import Settings
from .solver import Solution

Array = NDArray[np.float64]

# Beyond this a reference is another motion than its clip, which lacked a support or was labelled wrongly. Control does
# not mind: look-ahead followed references 7° and 8 cm from captured squats, whose feet float, within 0.5°.
MOST_JOINT_RMS = 10.0  # degrees, see posture_rms
MOST_ROOT_RMS = 0.10  # m
EVERY = 4  # frames, between those at which distances are measured
MOST_SLIP = 1.0  # mm, and depth under the ground
MOST_RESIDUAL = 1e-6  # of the character's weight


def measure(
    character: Character,
    trajectory: Trajectory,
    problem: Problem,
    schedule: ContactSchedule,
    bounds: Ends,
    settings: Settings,
    solution: Solution,
) -> Quality:
    """Everything measured anew from the states and controls; changes are those from `trajectory`."""
    iterate = solution.iterate
    force, torque = _residuals(character, problem, iterate)
    slip, depth = _offsets(character, problem, iterate)
    joint_change, root_change = _changes(character, trajectory, iterate)
    joint_rms = _rms_degrees(joint_change[:, _moving(character)])
    distance = np.linalg.norm(root_change, axis=1)
    forces = np.linalg.norm(iterate.force, axis=2)
    doubts = _faults(character, trajectory, problem, settings, solution, (force, slip, depth))
    doubts += _departures(character, trajectory, schedule, joint_change, distance)
    near = "The joints stay within {degrees:.1f}° RMS of the action, the root within {centimetres:.1f} cm."
    verdict = doubts or [say(near, degrees=joint_rms, centimetres=100.0 * distance.max())]
    return Quality(
        residual_newtons=force,
        residual_newton_metres=torque,
        slip_millimetres=slip,
        penetration_millimetres=depth,
        friction_use=_friction_use(problem, iterate, settings.friction),
        end_error=float(np.abs(end_offsets(character, iterate.q, iterate.v, bounds)).max()),
        joint_rms_degrees=joint_rms,
        root_rms_metres=float(np.sqrt(np.mean(distance**2))),
        root_max_metres=float(distance.max()),
        peak_force_newtons=float(forces.max(initial=0.0)),
        peak_torque_newton_metres=float(np.abs(iterate.torque).max(initial=0.0)),
        iterations=len(solution.steps),
        last_step=solution.steps[-1],
        seconds=solution.seconds,
        fit_for_control=not doubts,
        sentences=tuple(verdict),
        joint_change=joint_change,
        root_change=root_change,
    )


def posture_rms(character: Character, schedule: ContactSchedule, joint_change: Array) -> float:
    """RMS change in degrees of the joints but those of feet that stand, which do what lays the soles on the ground."""
    standing = {
        point.body for i, point in enumerate(schedule.points) if point.foot and bool(schedule.active[:, i].any())
    }
    return _rms_degrees(joint_change[:, [b for b in _moving(character) if b not in standing]])


def mean_distance(character: Character, q: Array, other: Array) -> float:
    """Of the bodies' places in rows of poses (nf, nq), by some of them, m."""
    ways = [
        np.linalg.norm(body_poses(character, one)[0] - body_poses(character, another)[0], axis=1)
        for one, another in zip(np.ascontiguousarray(q[::EVERY]), np.ascontiguousarray(other[::EVERY]), strict=True)
    ]
    return float(np.mean(ways))


def _moving(character: Character) -> list[int]:
    return [b for b, joint in enumerate(character.joints) if joint.kind not in {"free", "fixed"}]


def _rms_degrees(angles: Array) -> float:
    return float(np.degrees(np.sqrt(np.mean(angles**2)))) if angles.size else 0.0


def named_frames(trajectory: Trajectory, frames: Sequence[int] | NDArray[np.int64]) -> Sentence:
    """Frames as their user numbers them: the first and the last of these."""
    first, last = (trajectory.frame(int(frame)) for frame in (frames[0], frames[-1]))
    if first == last:
        return say("frame {first:.5g}", first=first)
    return say("frames {first:.5g} to {last:.5g}", first=first, last=last)


def world_forces(problem: Problem, iterate: Iterate) -> Array:
    """Forces (N, points, 3) in the world's axes."""
    result: Array = np.einsum("kpji,kpj->kpi", problem.force_axes[1:], iterate.force)
    return result


def _residuals(character: Character, problem: Problem, iterate: Iterate) -> tuple[float, float]:
    """Greatest force and moment that the motion lacks: M at the next frame times what its velocity is off, over dt."""
    nv = character.nv
    defect = np.zeros((len(iterate.torque), 2 * nv))
    work = make_model_workspace(character.tree, len(problem.point_body))
    fill_defects(character.tree, problem, iterate, work, defect, 0, len(defect))
    lacking = np.array(
        [mass_matrix(character, q) @ d[nv:] / problem.dt for q, d in zip(iterate.q[1:], defect, strict=True)]
    )
    slides = 3 if problem.motors_start else 0
    force, torque = np.abs(lacking[:, :slides]).max(initial=0.0), np.abs(lacking[:, slides:]).max(initial=0.0)
    return float(force), float(torque)


def _offsets(character: Character, problem: Problem, iterate: Iterate) -> tuple[float, float]:
    """How far held points are from their places, and points of soles below the ground, mm."""
    offsets = np.zeros((*problem.held.shape, 3))
    work = make_model_workspace(character.tree, len(problem.point_body))
    fill_held_offsets(character.tree, problem, iterate, work, offsets)
    offsets[problem.held & problem.glides, :2] = 0.0
    slip = np.linalg.norm(offsets[problem.held], axis=-1).max(initial=0.0)
    watched = (problem.clearance > NO_CLEARANCE) & ~problem.held
    depth = problem.radius - offsets[:, :, 2]
    return float(1e3 * slip), float(1e3 * depth[watched].max(initial=0.0))


def _friction_use(problem: Problem, iterate: Iterate, friction: float) -> float:
    """Greatest tangential force over friction times normal force; infinite where a normal force pulls."""
    counts = problem.force_count[:, None]
    steps, places = np.nonzero(np.arange(problem.force_point.shape[1]) < counts)
    points = problem.force_point[steps, places]
    grounded = ~problem.grab[points]
    x, y, normal = iterate.force[steps[grounded], points[grounded]].T
    if not (normal > 0.0).all():
        return float(np.finfo(float).max)
    return float((np.hypot(x, y) / (friction * normal)).max(initial=0.0))


def _changes(character: Character, trajectory: Trajectory, iterate: Iterate) -> tuple[Array, Array]:
    """Angle (N + 1, bodies) by which each joint was changed, the root's own turn included; and its shift (N + 1, 3)."""
    tree = character.tree
    change = np.zeros((len(iterate.q), character.nv))
    for clip, q, row in zip(trajectory.q, iterate.q, change, strict=True):
        difference_positions(tree, clip, q, row)
    joints = np.zeros((len(iterate.q), len(character.bodies)))
    for b, start in enumerate(tree.velocity_start):
        count = VELOCITIES_OF_JOINT[tree.joint[b]]
        joints[:, b] = np.linalg.norm(change[:, start + count - min(count, 3) : start + count], axis=1)
    root = np.zeros((len(iterate.q), 3))
    if character.bodies[0].joint.kind == "free":
        root[:] = iterate.q[:, :3] - trajectory.q[:, :3]
    return joints, root


def _faults(
    character: Character,
    trajectory: Trajectory,
    problem: Problem,
    settings: Settings,
    solution: Solution,
    measured: tuple[float, float, float],
) -> list[Sentence]:
    """What is wrong with the physics."""
    force, slip, depth = measured
    weight = character.total_mass * float(np.linalg.norm(character.gravity))
    faults = []
    if not solution.converged:
        changing = (
            "The solver did not converge: after {count:.0f} iterations the motion still changed by {step:.1g} rad or m."
        )
        faults.append(say(changing, step=solution.steps[-1], count=len(solution.steps)))
    if force > MOST_RESIDUAL * weight:
        frame = named_frames(trajectory, [solution.worst_frame])
        faults.append(say("A force of {force:.2g} N is missing, most at {frame}.", force=force, frame=frame))
    if slip > MOST_SLIP:
        faults.append(say("A contact slips by {slip:.1f} mm.", slip=slip))
    if depth > MOST_SLIP:
        faults.append(say("A point of a sole is {depth:.1f} mm below the ground.", depth=depth))
    if _friction_use(problem, solution.iterate, settings.friction) > 1.0:
        faults.append(say("A contact force needs more friction than there is."))
    return faults


def _departures(
    character: Character, trajectory: Trajectory, schedule: ContactSchedule, joint_change: Array, distance: Array
) -> list[Sentence]:
    """Where it is too far from the clip to be called the same motion."""
    departures = []
    joint_rms, root_rms = posture_rms(character, schedule, joint_change), float(np.sqrt(np.mean(distance**2)))
    if joint_rms > MOST_JOINT_RMS:
        frame, b = np.unravel_index(int(joint_change[:, 1:].argmax()), joint_change[:, 1:].shape)
        departures.append(
            say(
                "The joints had to move {rms:.1f}° RMS from the action, most '{joint}' at {frame} ({most:.0f}°): check "
                "the contacts there.",
                rms=joint_rms,
                joint=character.joints[b + 1].name,
                frame=named_frames(trajectory, [int(frame)]),
                most=np.degrees(joint_change[frame, b + 1]),
            )
        )
    if root_rms > MOST_ROOT_RMS:
        far = np.flatnonzero(distance > 0.5 * distance.max())
        departures.append(
            say(
                "The root had to move up to {most:.0f} cm from the action, in {frames}: check the contacts there.",
                most=100.0 * distance.max(),
                frames=named_frames(trajectory, far),
            )
        )
    return departures
