# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion used as a reference unchanged, without forces, for controllers that plan forces themselves."""

from itertools import pairwise

import numpy as np

from ..character import Character
from ..contact.terrain import Plane, Terrain, make_terrain
from ..dynamics import bias_force, difference, mass_matrix
from ..sentences import say
from .clean_up import moved_by
from .cycle import Cycle
from .fit import Trajectory
from .quaternions import Array
from .reference import Quality, Reference
from .schedule import ContactSchedule
from .spacetime.problem import allowed_forces
from .spacetime.surface import on_surface
from .tracks import ground_under, point_places

FRICTION = 1.0


def reference_as_it_is(
    character: Character,
    clip: Trajectory,
    trajectory: Trajectory,
    held: ContactSchedule,
    terrain: Terrain | None = None,
    cycle: Cycle | None = None,
) -> Reference:
    """The cleaned-up trajectory of a clip with no torques and no forces, so that it lacks all that moves the root."""
    ground = make_terrain([Plane()]) if terrain is None else terrain
    q = np.ascontiguousarray(trajectory.q)
    schedule = on_surface(character, q, trajectory.rate, held, ground, periodic=cycle is not None)
    steps, points = len(q) - 1, len(schedule.points)
    ways = trajectory.rate * np.array([difference(character, a, b) for a, b in pairwise(q)])
    v = np.concatenate((ways, ways[-1:] if cycle is None else ways[:1]))
    places = point_places(character, q, schedule.points)
    moved = moved_by(character, clip.q, q, np.zeros((len(q), 3)))
    lacking = _lacking(character, q, v, trajectory.rate)
    carrying = allowed_forces(schedule.active, periodic=cycle is not None)
    return Reference(
        character=character,
        rate=trajectory.rate,
        q=q,
        v=v,
        torque=np.zeros((steps, character.nv - 6)),
        schedule=schedule,
        normal=ground_under(ground, places, np.zeros(points), trajectory.rate).normal,
        carrying=carrying,
        force=np.zeros((steps, points, 3)),
        friction=FRICTION,
        cycle=cycle,
        quality=Quality(
            residual_newtons=float(np.linalg.norm(lacking[:, :3], axis=1).max()),
            residual_newton_metres=float(np.linalg.norm(lacking[:, 3:], axis=1).max()),
            slip_millimetres=_slip(places, schedule),
            penetration_millimetres=0.0,
            friction_use=0.0,
            end_error=0.0,
            joint_rms_degrees=float(np.degrees(moved.joint_rms)),
            root_rms_metres=float(np.sqrt(np.mean(np.sum(moved.root**2, axis=1)))),
            root_max_metres=float(np.linalg.norm(moved.root, axis=1).max()),
            peak_force_newtons=0.0,
            peak_torque_newton_metres=0.0,
            iterations=0,
            last_step=0.0,
            seconds=0.0,
            fit_for_control=True,
            sentences=(say("The keys are followed as they are: their physics was not corrected."),),
            joint_change=moved.joints,
            root_change=moved.root,
        ),
        first_frame=trajectory.first_frame,
        frames_per_sample=trajectory.frames_per_sample,
    )


def _lacking(character: Character, q: Array, v: Array, rate: float) -> Array:
    """Force and moment (N, 6) on the root by which the motion's steps are impossible without contact."""
    return np.array(
        [
            (mass_matrix(character, q[k]) @ (rate * (v[k] - v[k - 1])) + bias_force(character, q[k], v[k]))[:6]
            for k in range(1, len(q))
        ]
    )


def _slip(places: Array, schedule: ContactSchedule) -> float:
    """Greatest distance of a held point from its place, mm."""
    away = np.linalg.norm(places - schedule.place, axis=2)[schedule.active]
    return float(1000.0 * away.max(initial=0.0))
