# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a reference, checked, and one attempt at it with what that is worth."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Plane, Terrain, make_terrain
from ..cycle import Cycle
from ..fit import Trajectory, body_poses
from ..outside import NOTHING, Outside
from ..reference import Quality
from ..schedule import ContactSchedule
from .effort import Effort
from .ends import Ends
from .measure import MOST_JOINT_RMS, MOST_ROOT_RMS, mean_distance, measure, named_frames, posture_rms
from .problem import Iterate, Problem, make_problem
from .settings import Settings
from .solver import Progress, Solution, solve
from .steering import Budget, Steering
from .surface import on_surface

Array = NDArray[np.float64]

# Defects, rad or m and per second, up to which a motion that still changes is worth showing.
USABLE_DEFECT = 1e-8
LONGEST = 100_000  # frames


class Request(NamedTuple):
    """Checked arguments of `build_reference`."""

    character: Character
    trajectory: Trajectory
    schedule: ContactSchedule
    terrain: Terrain
    bounds: Ends
    settings: Settings
    clip: Trajectory
    missing: NDArray[np.bool_]  # (N,)
    judged: int  # frames, from the first on, whose distance from the clip counts
    progress: Progress | None
    budget: Budget  # of iterations
    strength: NDArray[np.float64] | None = None  # N m, that each motor can give
    effort: Effort | None = None  # that what it carries takes
    outside: Outside = NOTHING  # what acts besides

    @property
    def length(self) -> float:
        """Times as long as what is asked for: a motion that ends at rest is solved with a second of rest behind it."""
        return len(self.trajectory.q) / self.judged

    def iterations(self, most: int) -> int:
        """How many the budget allows, at most so many."""
        return self.budget.of(most, self.length)


class Found(NamedTuple):
    """A problem, its solution, and what that is worth."""

    request: Request
    problem: Problem
    solution: Solution
    quality: Quality


def checked(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    terrain: Terrain | None,
    bounds: Ends | None,
    settings: Settings | None,
    clip: Trajectory | None = None,
    missing: NDArray[np.bool_] | None = None,
    judged: int | None = None,
    progress: Progress | None = None,
    budget: Budget | None = None,
    strength: Array | None = None,
    outside: Outside = NOTHING,
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
    if outside.points:
        outside.check(character, frames)
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
        on_surface(character, q, trajectory.rate, schedule, ground, periodic=ends.cycle is not None),
        ground,
        ends,
        (Settings() if settings is None else settings).checked(),
        checked if clip is None else clip,
        np.zeros(frames - 1, np.bool_) if missing is None else missing[1:] | missing[:-1],
        frames if judged is None else min(judged, frames),
        progress,
        Budget(character.nv, trajectory.rate) if budget is None else budget,
        strength,
        outside=outside,
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


def problem_of(request: Request, *, helped: bool = False) -> Problem:
    """The same in flat arrays."""
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
        places=_places(request),
        strength=request.strength,
        effort=request.effort,
        outside=request.outside,
    )


def _places(request: Request) -> Array | None:
    """Where the clip has the bodies (N + 1, nb, 3), if that counts; feet, which sink there, as high as cleaned up."""
    if request.settings.place == 0.0 or request.bounds.cycle is not None:
        return None
    places = body_poses(request.character, request.clip.q)[0]
    feet = sorted({point.body for point in request.schedule.points if point.foot})
    places[:, feet, 2] = body_poses(request.character, request.trajectory.q)[0][:, feet, 2]
    return places


def attempt(
    request: Request, problem: Problem, most: int, steering: Steering | None = None, begin: Iterate | None = None
) -> tuple[Solution, Quality | None]:
    """Solve in at most so many iterations; no quality where the outcome is of no use."""
    settings = request.settings
    if most < settings.iterations:
        settings = replace(settings, iterations=most)
    solution = solve(
        request.character,
        problem,
        request.bounds,
        settings,
        request.progress,
        steering=steering,
        missing=request.missing,
        begin=begin,
        outside=request.outside if request.outside.points else None,
    )
    request.budget.spend(len(solution.steps), request.length)
    return solution, quality_of(request, problem, solution) if solution.usable(USABLE_DEFECT) else None


def quality_of(request: Request, problem: Problem, solution: Solution) -> Quality:
    """What a solution is worth."""
    return measure(
        request.character,
        request.clip,
        problem,
        request.schedule,
        request.bounds,
        request.settings,
        solution,
    )


def departure(request: Request, quality: Quality) -> float:
    """Degrees by which the joints changed, RMS."""
    return posture_rms(request.character, request.schedule, quality.joint_change)


def is_near(request: Request, quality: Quality) -> bool:
    """Whether it is the same motion."""
    return departure(request, quality) <= MOST_JOINT_RMS and quality.root_rms_metres <= MOST_ROOT_RMS


def distance(found: Found) -> float:
    """Mean distance of the bodies from the clip, m."""
    judged = found.request.judged
    return mean_distance(found.request.character, found.request.clip.q[:judged], found.solution.iterate.q[:judged])
