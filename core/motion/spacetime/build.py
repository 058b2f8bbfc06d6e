# SPDX-License-Identifier: GPL-3.0-or-later
"""From a character's trajectory and its contacts to a reference, or a refusal that names frames."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from ...character import Character
from ...contact.terrain import Plane, Terrain, make_terrain
from ...dynamics import difference
from ..clean_up import CUTOFF, low_passed
from ..cycle import Cycle
from ..fit import Trajectory, velocities
from ..reference import Quality, Reference
from ..schedule import ContactSchedule, contact_points
from ..tracks import ground_under, point_places
from .effort import Carrying, Effort, effort_of
from .ends import Ends
from .help import HELPERS, Price, given, sentences_of_help, shares, weight_of
from .keyed import fill_as_keyed
from .measure import MOST_JOINT_RMS, MOST_ROOT_RMS, mean_distance, measure, named_frames, posture_rms, world_forces
from .problem import Iterate, Problem, allowed_forces, make_iterate, make_problem
from .settings import Settings
from .solver import Progress, Solution, solve
from .surface import on_surface

Array = NDArray[np.float64]

# Defects, rad or m and per second, up to which a motion that still changes is worth showing.
USABLE_DEFECT = 1e-10
SOFT_GROUND = 10.0  # price of depth, where the full one fails or bends the motion
BENT = 3.0  # degrees of joints' RMS change, from which on that is tried
MOST_SUNK = 30.0  # mm: soles that are deeper are thrown out in simulation
MUCH_NEARER = 0.5  # degrees of joints' RMS change, for which a sole may be in the ground
FAR = 0.027  # m of mean distance from the clip, from which on help is asked for
CLOSE = 0.025  # m, up to which it is then to bring it
WORTH_HELP = 0.75  # of its distance, to which help must bring a motion that does not come so close
AS_CLOSE = 1.1  # times the distance with more help
PRESSED = 0.02  # of the frames, in which ground must push hard to bend a motion
LEAP = 20.0  # rad/s or m/s by which a velocity changes from one frame to the next
DEEP = 0.03  # m under the ground, from which on it is lifted out
LIFTING = 0.15  # s before and after
LONGEST = 100_000  # frames
# Of help: by its size where it may be missing, else by the square of it; then dearer from there on, as far as it goes.
SCARCE = Price(300.0, 0.03, 30.0)
PLENTY = Price(3.0, 0.03)
DEARER = (Price(30.0, 0.03), Price(300.0, 0.03, 8.0), SCARCE)  # as long as it stays so close
CHEAPER = tuple(Price(300.0, 0.03, slope) for slope in (8.0, 2.0, 0.5))  # while it is not close
HELPED_ITERATIONS, MORE_ITERATIONS = 30, 12
# All of it together takes no more iterations than this for a person's 31 velocities, and fewer for more: their number,
# not a clock, so that the same job has the same answer. Fewer than the least are not worth beginning.
MOST_ITERATIONS, LEAST_ITERATIONS, USUAL_VELOCITIES = 130, 8, 31

LESS_EFFORT = (1.0, 0.3, 0.1)  # shares of an effort, until the motion is still the clip's

Help = Literal["none", "as_needed", "as_keyed"]


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
    missing: NDArray[np.bool_]  # (N,)
    judged: int  # frames, from the first on, whose distance from the clip counts
    progress: Progress | None
    effort: Effort | None = None  # that what it carries takes


class Found(NamedTuple):
    """A problem, its solution, and what that is worth."""

    request: Request
    problem: Problem
    solution: Solution
    quality: Quality


def build_reference(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    *,
    terrain: Terrain | None = None,
    bounds: Ends | None = None,
    settings: Settings | None = None,
    clip: Trajectory | None = None,
    help_given: Help = "none",
    missing: NDArray[np.bool_] | None = None,
    judged: int | None = None,
    without_first: bool = True,
    carrying: Carrying | None = None,
    progress: Progress | None = None,
) -> Reference:
    """The motion closest to a trajectory that torques and contact forces can make.

    `schedule` says which points are held where, over the same frames; those with a radius get points at their surface
    for each contact, which the reference's own schedule has. The ground under them is `terrain`, flat at z = 0
    unless given. In a cycle (`bounds`), the last frame is the first, one period later, contacts included. Changes are
    measured from `clip`, where the trajectory is itself a clip's after clean-up. `progress` is called with the number
    of each iteration before it, and the poses so far.

    `help_given` says what becomes of a motion that nothing possible is near: "none" refuses it, "as_needed" lets the
    least help carry it, and "as_keyed" keeps every motion as it is. `missing` (frames,) says where something lacks that
    the body rests on; where it is known that nothing helps but help, nothing else need be tried (`without_first`).
    Help is asked for as well where without it the motion would be far from the clip, by its first `judged` frames.
    Helpers are points of the reference's schedule that are never active but carry (help.py).

    `carrying` says what part of the character is a load, and how far the body spares itself (effort.py): it keeps the
    pose more where that leads too far.

    Raises ValueError for arguments that make no sense, and NoReferenceError, which is one too, where no motion near the
    trajectory obeys the laws of physics. Look at `Reference.quality` for how far it had to move.
    """
    request = _checked(character, trajectory, schedule, terrain, bounds, settings, clip, missing, judged, progress)
    if help_given == "as_keyed":
        return _reference(_as_keyed(request), whole=True)
    spent = _Spent()
    found, failed = None, None
    if without_first or help_given == "none":
        found = _spared(request, carrying)
        if found is not None:
            return _reference(found)
        found, failed = _unaided(request, spent)
    if help_given == "as_needed" and (found is None or not _is_near(request, found.quality) or _distance(found) > FAR):
        found = _nearest([one for one in (found, _aided(request, spent, found)) if one is not None])
        if found is None or not _is_near(found.request, found.quality):
            found = _as_keyed(request)
    if found is None:
        assert failed is not None
        raise NoReferenceError(_refusal(request, failed))
    return _reference(found)


def _reference(found: Found, *, whole: bool = False) -> Reference:
    """As controllers know it; helpers are left out where they give next to nothing, unless all of it is wanted."""
    request, problem, solution, quality = found
    schedule, iterate, cycle = request.schedule, solution.iterate, request.bounds.cycle
    points = len(schedule.points)
    force = world_forces(problem, iterate)
    carrying = allowed_forces(schedule.active, periodic=cycle is not None)
    normal = problem.axes[:, :points, 2]
    helps = given(force[:, problem.help_first :], request.character, request.trajectory.rate)
    if whole:
        helps[:] = True
    if helps.any():
        frames, more = len(schedule.active), len(HELPERS)
        schedule = ContactSchedule(
            (*schedule.points, *HELPERS),
            np.column_stack((schedule.active, np.zeros((frames, more), dtype=np.bool_))),
            np.concatenate((schedule.place, np.zeros((frames, more, 3))), axis=1),
        )
        carrying = np.column_stack((carrying, np.repeat(helps[:, None], more, axis=1)))
        helpers = np.where(helps[:, None, None], force[:, problem.help_first :], 0.0)
        force = np.concatenate((force[:, :points], helpers), axis=1)
        normal = np.concatenate((normal, np.tile((0.0, 0.0, 1.0), (frames, more, 1))), axis=1)
        share = shares(helpers, weight_of(request.character))
        told = sentences_of_help(share, request.character, iterate.q, request.trajectory.frame)
        quality = replace(quality, sentences=(*quality.sentences, *told))
    return Reference(
        character=request.character,
        rate=request.trajectory.rate,
        q=iterate.q,
        v=iterate.v,
        torque=iterate.torque,
        schedule=schedule,
        normal=np.ascontiguousarray(normal),
        carrying=carrying,
        force=np.ascontiguousarray(force[:, : len(schedule.points)]),
        friction=request.settings.friction,
        cycle=cycle,
        quality=quality,
        first_frame=request.trajectory.first_frame,
        frames_per_sample=request.trajectory.frames_per_sample,
    )


def _spared(request: Request, carrying: Carrying | None) -> Found | None:
    """Without help, and with as little effort for what is carried as that is worth; None where that leads nowhere."""
    if carrying is None or carrying.effort <= 0.0:
        return None
    bare = request._replace(character=carrying.bare)
    solution = solve(bare.character, _problem(bare), bare.bounds, bare.settings, bare.progress, missing=bare.missing)
    if not solution.usable(USABLE_DEFECT):
        return None
    for share in LESS_EFFORT:
        effort = effort_of(carrying._replace(effort=share * carrying.effort), solution.iterate.torque)
        found, _ = _unaided(request._replace(effort=effort), _Spent())
        if found is not None and _is_near(request, found.quality):
            return found
    return None


def _unaided(request: Request, spent: "_Spent") -> tuple[Found | None, Solution]:
    """Without help, on ground that gives way where firm ground bends the motion; and how the first try went."""
    problem = _problem(request)
    solution, quality = _attempt(request, problem, spent)
    if quality is None or (_departure(request, quality) > BENT and _presses(solution)):
        # An ankle without roll cannot lay down an edge of its sole: asked to, it bends the whole leg, or gives up.
        soft_problem = _problem(request._replace(settings=replace(request.settings, ground=SOFT_GROUND)))
        soft, soft_quality = _attempt(request, soft_problem, spent)
        if soft_quality is not None and (
            quality is None
            or (
                soft_quality.penetration_millimetres < MOST_SUNK
                and _departure(request, soft_quality) < _departure(request, quality) - MUCH_NEARER
            )
        ):
            problem, solution, quality = soft_problem, soft, soft_quality
    return (None if quality is None else Found(request, problem, solution, quality)), solution


def _presses(solution: Solution) -> bool:
    """Whether the ground pushes harder than ground that gives way would: else both have the same answer."""
    pushed = (solution.iterate.ground_multiplier > SOFT_GROUND).any(axis=1)
    return float(pushed.mean()) > PRESSED


def _aided(request: Request, spent: "_Spent", unaided: Found | None) -> Found | None:
    """With the least help: scarce from the start, where it ended without, and cheaper until it is close to the clip.

    Else with plenty of it, then as little as still converges so near. Then the same without any contacts but those of
    feet, which are the surest.
    """
    feet = _feet_alone(request)
    for contacts in (request,) if feet is request else (request, feet):
        known = unaided if contacts is request else None
        asked = spent.limited(contacts, HELPED_ITERATIONS if known is None else MORE_ITERATIONS)
        problem = _problem(asked, helped=True)
        begin = None if known is None else _with_helpers(asked, problem, known)
        solution, quality = _attempt(asked, problem, spent, SCARCE, begin)
        if quality is not None and _is_near(asked, quality):
            return _closer(Found(asked, problem, solution, quality), spent)
        asked = spent.limited(contacts, HELPED_ITERATIONS)
        solution, quality = _attempt(asked, problem, spent, PLENTY)
        if quality is None:
            continue
        found = Found(asked, problem, solution, quality)
        for price in DEARER:
            asked = spent.limited(contacts, MORE_ITERATIONS)
            if not _is_near(asked, found.quality):
                break
            begin = Iterate(*(array.copy() for array in found.solution.iterate))
            solution, quality = _attempt(asked, problem, spent, price, begin)
            if quality is None or not _is_near(asked, quality):
                break
            dearer = Found(asked, problem, solution, quality)
            if _distance(dearer) > max(CLOSE, AS_CLOSE * _distance(found)):
                break
            found = dearer
        return found
    return None


def _closer(found: Found, spent: "_Spent") -> Found:
    """With help that is cheaper and cheaper, until it is close to the clip."""
    for price in CHEAPER:
        if _distance(found) <= CLOSE:
            break
        asked = spent.limited(found.request, MORE_ITERATIONS)
        begin = Iterate(*(array.copy() for array in found.solution.iterate))
        solution, quality = _attempt(asked, found.problem, spent, price, begin)
        if quality is None or not _is_near(asked, quality):
            break
        found = Found(asked, found.problem, solution, quality)
    return found


def _with_helpers(request: Request, problem: Problem, found: Found) -> Iterate:
    """An iterate to begin with: what was found without helpers, who give nothing yet."""
    begin = make_iterate(request.character, problem, request.settings.barrier_first)
    for wider, array in zip(begin, found.solution.iterate, strict=True):
        if wider.shape == array.shape:
            wider[...] = array
        else:
            wider[:, : array.shape[1]] = array  # helpers are the last of the points
    return begin


def _feet_alone(request: Request) -> Request:
    """The same with no contacts but those of feet, and of what is held by hand."""
    schedule = request.schedule
    sure = np.array([point.foot or point.grab for point in schedule.points], dtype=np.bool_)
    if not schedule.active[:, ~sure].any():
        return request
    return request._replace(schedule=replace(schedule, active=schedule.active & sure))


def _as_keyed(request: Request) -> Found:
    """The motion as it is; help carries all that contacts cannot.

    But for what no force brings about within a frame: a leg that clean-up cannot stretch so far may leap.
    """
    ways = [difference(request.character, a, b) for a, b in pairwise(request.trajectory.q)]
    leaps = np.abs(np.diff(ways, axis=0)).max(initial=0.0) * request.trajectory.rate > LEAP
    if leaps and request.bounds.cycle is None:
        q = low_passed(request.character, request.trajectory.q, request.trajectory.rate, CUTOFF)
        v = velocities(request.character, q, request.trajectory.rate)
        request = request._replace(trajectory=replace(request.trajectory, q=q, v=v))
    request = _lifted(request)
    problem = _problem(request, helped=True)
    iterate = make_iterate(request.character, problem, request.settings.barrier_last)
    fill_as_keyed(request.character, problem, iterate, request.bounds.cycle)
    solution = Solution(iterate, converged=True, steps=[0.0], defects=[0.0])
    quality = _quality(request, problem, solution)
    return Found(request, problem, solution, quality)


def _lifted(request: Request) -> Request:
    """The same where nothing of the body is deep in the ground, which no help could do."""
    character, trajectory = request.character, request.trajectory
    points = contact_points(character)
    if character.bodies[0].joint.kind != "free" or not points:
        return request
    radius = np.array([point.radius for point in points])
    places = point_places(character, trajectory.q, points)
    height = ground_under(request.terrain, places, radius, trajectory.rate).height
    depth = np.maximum(-height, 0.0).max(axis=1)
    if depth.max() < DEEP:
        return request
    near = round(LIFTING * trajectory.rate)
    q = trajectory.q.copy()
    q[:, 2] += gaussian_filter1d(maximum_filter1d(depth, 2 * near + 1), 0.5 * near, mode="nearest", truncate=2.0)
    v = velocities(character, q, trajectory.rate)
    return request._replace(trajectory=replace(trajectory, q=q, v=v))


def _distance(found: Found) -> float:
    judged = found.request.judged
    return mean_distance(found.request.character, found.request.clip.q[:judged], found.solution.iterate.q[:judged])


def _nearest(found: Sequence[Found]) -> Found | None:
    """The first that is near enough, unless the other is much nearer; or that which is nearest."""
    near = [one for one in found if _is_near(one.request, one.quality)]
    if len(near) == 2 and _distance(near[1]) < max(WORTH_HELP * _distance(near[0]), CLOSE):
        return near[1]
    return next(iter(near), None) or min(
        found,
        key=lambda one: one.quality.root_rms_metres + np.radians(_departure(one.request, one.quality)),
        default=None,
    )


def _is_near(request: Request, quality: Quality) -> bool:
    """Whether it is the same motion."""
    return _departure(request, quality) <= MOST_JOINT_RMS and quality.root_rms_metres <= MOST_ROOT_RMS


class _Spent:
    """Iterations that were made for a reference."""

    def __init__(self) -> None:
        self.iterations = 0

    def limited(self, request: Request, most: int) -> Request:
        """The request with as many iterations as are left, at most so many."""
        whole = MOST_ITERATIONS * min(1.0, (USUAL_VELOCITIES / request.character.nv) ** 2)
        left = max(int(whole) - self.iterations, 0)
        iterations = min(most, left) if left >= LEAST_ITERATIONS else 0
        return request._replace(settings=replace(request.settings, iterations=iterations))


def _attempt(
    request: Request, problem: Problem, spent: _Spent, price: Price | None = None, begin: Iterate | None = None
) -> tuple[Solution, Quality | None]:
    """Solve; no quality where the outcome is of no use."""
    solution = solve(
        request.character,
        problem,
        request.bounds,
        request.settings,
        request.progress,
        price=price,
        missing=request.missing,
        begin=begin,
    )
    spent.iterations += len(solution.steps)
    return solution, _quality(request, problem, solution) if solution.usable(USABLE_DEFECT) else None


def _quality(request: Request, problem: Problem, solution: Solution) -> Quality:
    return measure(
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
        effort=request.effort,
    )


def _checked(
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
        np.zeros(frames - 1, np.bool_) if missing is None else missing[1:] | missing[:-1],
        frames if judged is None else min(judged, frames),
        progress,
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
    lacking = np.linalg.norm(world_forces(problem, helped.iterate)[:, problem.help_first :].sum(axis=1), axis=1)
    frames = np.flatnonzero(lacking > 0.5 * lacking.max())
    return (
        f"No physically correct motion was found near this one in {len(solution.steps)} iterations. It lacks up to "
        f"{lacking.max():.0f} N of support, most in {named_frames(trajectory, frames)}: look for a missing contact "
        "there, or one too many."
    )
