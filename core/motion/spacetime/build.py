# SPDX-License-Identifier: GPL-3.0-or-later
"""From a character's trajectory and its contacts to a reference, or a refusal that names frames."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...contact.terrain import Terrain
from ..fit import Trajectory
from ..outside import NOTHING, Outside
from ..reference import Reference
from ..schedule import ContactSchedule
from .effort import Carrying, effort_of
from .ends import Ends
from .help import HELPERS, given, sentences_of_help, shares, weight_of
from .ladder import FAR, MISSING, PLENTY, as_keyed, climb, unaided
from .measure import named_frames, world_forces
from .problem import allowed_forces
from .request import USABLE_DEFECT, Found, Request, attempt, checked, is_near, problem_of
from .settings import Settings
from .solver import Progress, Solution, solve
from .steering import Budget, Distance, Helped

LESS_EFFORT = (1.0, 0.3, 0.1)  # shares of an effort, until the motion is still the clip's
ROUGH_ITERATIONS = (30, 15)  # and more from there where gaps in the motion are left
TOO_FAR = "No physically correct motion was found near this one."

Help = Literal["none", "as_needed", "as_keyed"]


class NoReferenceError(ValueError):
    """There is no possible motion near the clip; the message says around which frames."""


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
    far: float = FAR,
    within: float = math.inf,
    budget: Budget | None = None,
    strength: NDArray[np.float64] | None = None,
    carrying: Carrying | None = None,
    outside: Outside = NOTHING,
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
    Help is asked for as well where without it the motion would be `far` (m) from the clip, by its first `judged`
    frames. Helpers are points of the reference's schedule that are never active but carry (help.py). Without help, a
    motion that will not come `within` a distance is given up early. `budget` are the iterations that may be made with
    help at hand, for who asks for several.

    `strength` (motors,) is the torque, N m, beyond which every newton metre is dear: control cannot give it.
    `carrying` says what part of the character is a load, and how far the body spares itself (effort.py): it keeps the
    pose more where that leads too far. `outside` is what acts besides and where it leads points to, which are no
    contacts: the reference tells what came of it.

    Raises ValueError for arguments that make no sense, and NoReferenceError, which is one too, where no motion near the
    trajectory obeys the laws of physics. Look at `Reference.quality` for how far it had to move.
    """
    request = checked(
        character,
        trajectory,
        schedule,
        terrain,
        bounds,
        settings,
        clip,
        missing,
        judged,
        progress,
        budget,
        strength,
        outside,
    )
    if help_given == "as_keyed":
        return _reference(as_keyed(request), whole=True)
    spared = _spared(request, carrying) if without_first or help_given == "none" else None
    if spared is not None:
        return _reference(spared)
    if help_given == "as_needed":
        return _reference(climb(request, far, without_first=without_first))
    found, _, failed = unaided(request, within)
    if found is None:
        raise NoReferenceError(_refusal(request, failed) if math.isinf(within) else TOO_FAR)
    return _reference(found)


def build_roughly(
    character: Character,
    trajectory: Trajectory,
    schedule: ContactSchedule,
    *,
    terrain: Terrain,
    bounds: Ends,
    helped: bool,
    close: float,
    progress: Progress | None = None,
) -> Reference | None:
    """A possible motion in the neighbourhood of one that is no more than an idea; None where there is none.

    Where it may be `helped`, as much as brings it that `close`, m.
    """
    request = checked(character, trajectory, schedule, terrain, bounds, None, progress=progress)
    steering = Helped(Distance(character, trajectory.q), close, MISSING, PLENTY) if helped else None
    problem = problem_of(request, helped=helped)
    begin = None
    for iterations in ROUGH_ITERATIONS:
        solution, quality = attempt(request, problem, iterations, steering, begin)
        if quality is not None:
            return _reference(Found(request, problem, solution, quality))
        if not solution.finished:
            break
        begin = solution.iterate
    return None


def _reference(found: Found, *, whole: bool = False) -> Reference:
    """As controllers know it; helpers are left out where they give next to nothing, unless all of it is wanted."""
    request, problem, solution, quality = found
    schedule, iterate, cycle = request.schedule, solution.iterate, request.bounds.cycle
    points = len(schedule.points)
    force = world_forces(problem, iterate)
    acting = np.ascontiguousarray(force[:, problem.outside_first : problem.help_first])
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
        outside=request.outside._replace(force=acting),
    )


def _spared(request: Request, carrying: Carrying | None) -> Found | None:
    """Without help, and with as little effort for what is carried as that is worth; None where that leads nowhere."""
    if carrying is None or carrying.effort <= 0.0:
        return None
    bare = request._replace(character=carrying.bare)
    solution = solve(bare.character, problem_of(bare), bare.bounds, bare.settings, bare.progress, missing=bare.missing)
    if not solution.usable(USABLE_DEFECT):
        return None
    for share in LESS_EFFORT:
        effort = effort_of(carrying._replace(effort=share * carrying.effort), solution.iterate.torque)
        found = unaided(request._replace(effort=effort))[0]
        if found is not None and is_near(request, found.quality):
            return found
    return None


def _refusal(request: Request, solution: Solution) -> str:
    """Why there is no reference: solve again with help from nowhere, and say where and how much of it was needed."""
    trajectory = request.trajectory
    problem = problem_of(request, helped=True)
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
