# SPDX-License-Identifier: GPL-3.0-or-later
"""From a character's trajectory and its contacts to a reference, or a refusal that names frames."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Plane, Terrain, make_terrain
from ..cycle import Cycle
from ..fit import Trajectory
from ..reference import Quality, Reference
from ..schedule import ContactSchedule
from .ends import Ends
from .measure import measure, named_frames, posture_rms, world_forces
from .problem import HELPERS, Problem, allowed_forces, make_problem
from .settings import Settings
from .solver import Solution, solve
from .surface import on_surface

Array = NDArray[np.float64]

# Defects, rad or m and per second, up to which a motion that still changes is worth showing.
USABLE_DEFECT = 1e-10
SOFT_GROUND = 10.0  # price of depth, where the full one fails or bends the motion
BENT = 3.0  # degrees of joints' RMS change, from which on that is tried
MUCH_NEARER = 0.5  # degrees of joints' RMS change, for which a sole may be in the ground
LONGEST = 100_000  # frames


class NoReferenceError(ValueError):
    """There is no possible motion near the clip; the message says around which frames."""


class Request(NamedTuple):
    """Checked arguments of `build_reference`."""

    character: Character
    trajectory: Trajectory
    schedule: ContactSchedule
    terrain: Terrain
    bounds: Ends
    settings: Settings
    clip: Trajectory


def build_reference(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    *,
    terrain: Terrain | None = None,
    bounds: Ends | None = None,
    settings: Settings | None = None,
    clip: Trajectory | None = None,
    progress: Callable[[int], None] | None = None,
) -> Reference:
    """The motion closest to a trajectory that torques and contact forces can make.

    `schedule` says which points are held where, over the same frames; those with a radius get points at their surface
    for each contact, which the reference's own schedule has. The ground under them is `terrain`, flat at z = 0
    unless given. In a cycle (`bounds`), the last frame is the first, one period later, contacts included. Changes are
    measured from `clip`, where the trajectory is itself a clip's after clean-up. `progress` is told the number of each
    iteration before it.

    Raises ValueError for arguments that make no sense, and NoReferenceError, which is one too, where no motion near the
    trajectory obeys the laws of physics. Look at `Reference.quality` for how far it had to move.
    """
    request = _checked(character, trajectory, schedule, terrain, bounds, settings, clip)
    problem = _problem(request)
    solution, quality = _attempt(request, problem, progress)
    if quality is None or _departure(request, quality) > BENT:
        # An ankle without roll cannot lay down an edge of its sole: asked to, it bends the whole leg, or gives up.
        soft_problem = _problem(request._replace(settings=replace(request.settings, ground=SOFT_GROUND)))
        soft, soft_quality = _attempt(request, soft_problem, progress)
        if soft_quality is not None and (
            quality is None or _departure(request, soft_quality) < _departure(request, quality) - MUCH_NEARER
        ):
            problem, solution, quality = soft_problem, soft, soft_quality
    if quality is None:
        raise NoReferenceError(_refusal(request, solution))
    schedule = request.schedule
    points = len(schedule.points)
    cycle = request.bounds.cycle
    iterate = solution.iterate
    return Reference(
        character=character,
        rate=trajectory.rate,
        q=iterate.q,
        v=iterate.v,
        torque=iterate.torque,
        schedule=schedule,
        normal=np.ascontiguousarray(problem.axes[:, :points, 2]),
        carrying=allowed_forces(schedule.active, periodic=cycle is not None),
        force=np.ascontiguousarray(world_forces(problem, iterate)[:, :points]),
        friction=request.settings.friction,
        cycle=cycle,
        quality=quality,
        first_frame=trajectory.first_frame,
        frames_per_sample=trajectory.frames_per_sample,
    )


def _attempt(
    request: Request, problem: Problem, progress: Callable[[int], None] | None
) -> tuple[Solution, Quality | None]:
    """Solve; no quality where the outcome is of no use."""
    solution = solve(request.character, problem, request.bounds, request.settings, progress)
    if not solution.usable(USABLE_DEFECT):
        return solution, None
    return solution, measure(
        request.character,
        request.clip,
        problem,
        request.schedule,
        request.bounds,
        request.settings,
        solution,
    )


def _departure(request: Request, quality: Quality) -> float:
    return posture_rms(request.character, request.schedule, quality.joint_change)


def _problem(request: Request, *, helped: bool = False) -> Problem:
    trajectory = request.trajectory
    return make_problem(
        request.character,
        trajectory.q,
        trajectory.v,
        trajectory.rate,
        request.schedule,
        request.terrain,
        request.settings,
        request.bounds.cycle,
        helped=helped,
    )


def _checked(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    terrain: Terrain | None,
    bounds: Ends | None,
    settings: Settings | None,
    clip: Trajectory | None = None,
) -> Request:
    """All arguments, in contiguous arrays, or ValueError."""
    frames = len(trajectory.q)
    if not 3 <= frames <= LONGEST:
        raise ValueError(f"A trajectory must have between 3 and {LONGEST} frames, not {frames}.")
    if not (np.isfinite(trajectory.rate) and trajectory.rate > 0.0):
        raise ValueError(f"The rate must be positive, not {trajectory.rate} frames per second.")
    q = _array(trajectory.q, "positions", (frames, character.nq))
    v = _array(trajectory.v, "velocities", (frames, character.nv))
    checked = Trajectory(trajectory.rate, q, v, trajectory.first_frame, trajectory.frames_per_sample)
    if clip is not None:
        _array(clip.q, "clip's positions", (frames, character.nq))
    if len(schedule.active) != frames:
        raise ValueError(f"The contacts must cover {frames} frames, not {len(schedule.active)}.")
    for point in schedule.points:
        if not 0 <= point.body < len(character.bodies):
            raise ValueError(f"The contact point '{point.name}' belongs to no body of the character.")
    ends = Ends() if bounds is None else bounds
    for name, state in (("first", ends.start), ("last", ends.end)):
        if state is not None:
            _array(state[0], f"{name} positions", (character.nq,))
            _array(state[1], f"{name} velocities", (character.nv,))
    if ends.cycle is not None:
        _check_cycle(schedule, ends.cycle, checked)
    ground = make_terrain([Plane()]) if terrain is None else terrain
    return Request(
        character,
        checked,
        on_surface(character, q, schedule, ground, periodic=ends.cycle is not None),
        ground,
        ends,
        (Settings() if settings is None else settings).checked(),
        checked if clip is None else clip,
    )


def _check_cycle(schedule: ContactSchedule, cycle: Cycle, trajectory: Trajectory) -> None:
    """The last frame of a cycle is the first: its contacts and their places too."""
    last = named_frames(trajectory, [len(schedule.active) - 1])
    different = np.flatnonzero(schedule.active[0] != schedule.active[-1])
    if len(different) > 0:
        name = schedule.points[different[0]].name
        raise ValueError(
            f"In a cycle the contacts of the last frame ({last}) must be those of the first, but '{name}' differs."
        )
    on = schedule.active[0]
    gap = np.linalg.norm(schedule.place[-1, on] - cycle.move_points(schedule.place[0, on]), axis=-1)
    if (gap > 1e-3).any():
        raise ValueError(
            f"'{schedule.points[np.flatnonzero(on)[gap.argmax()]].name}' stands {1e3 * gap.max():.0f} mm from where "
            f"the cycle puts it at the last frame ({last})."
        )


def _array(values: Array, what: str, shape: tuple[int, ...]) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"The shape of the {what} must be {shape}, not {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"The {what} must be finite.")
    return array


def _refusal(request: Request, solution: Solution) -> str:
    """Why there is no reference: solve again with help from nowhere, and say where and how much of it was needed."""
    trajectory = request.trajectory
    problem = _problem(request, helped=True)
    helped = solve(request.character, problem, request.bounds, request.settings)
    if not helped.usable(USABLE_DEFECT):
        worst = named_frames(trajectory, [solution.worst_frame])
        return (
            f"No physically correct motion was found near this one in {len(solution.steps)} iterations; it is worst "
            f"around {worst}: look for broken keys or a missing contact there."
        )
    help_given = np.linalg.norm(world_forces(problem, helped.iterate)[:, -len(HELPERS) :].sum(axis=1), axis=1)
    frames = np.flatnonzero(help_given > 0.5 * help_given.max())
    return (
        f"No physically correct motion was found near this one in {len(solution.steps)} iterations. It lacks up to "
        f"{help_given.max():.0f} N of support, most in {named_frames(trajectory, frames)}: look for a missing contact "
        "there, or one too many."
    )
