# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest motion, rung by rung: without help, with the least of it, with contacts of feet alone, as it is keyed.

Each begins where the one before it ended, and one that will not do is left after a few iterations (steering.py).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..reference import Quality
from .help import mean_share, weight_of
from .keyed import fill_as_keyed
from .problem import Iterate, Problem, make_iterate
from .request import Found, Request, attempt, departure, distance, is_near, problem_of, quality_of
from .solver import Solution
from .standing import put_onto_contacts
from .steering import Distance, Helped, Near

SOFT_GROUND = 10.0  # price of depth, where the full one fails or bends the motion
BENT = 3.0  # degrees of joints' RMS change, from which on that is tried
MOST_SUNK = 30.0  # mm: soles that are deeper are thrown out in simulation
MUCH_NEARER = 0.5  # degrees of joints' RMS change, for which a sole may be in the ground
PRESSED = 0.02  # of the frames, in which ground must push hard to bend a motion
FAR = 0.027  # m of mean distance from the clip, from which on help is asked for
CLOSE = 0.025  # m, up to which it is then to bring it
SAME = 0.035  # m, within which a motion is the same whatever its joints' angles say
SETTLED = 0.05  # rad or m, of the last step of one that is
HEAVY = 0.5  # of the weight, on average: help of more than that is to bring it to where it is the same
WORTH_HELP = 0.75  # of its distance, to which help must bring a motion that does not come so close
MISSING, PLENTY = 10.0, 3.0  # prices of help by its square: where something is missing; everywhere, to begin with
HELPED_ITERATIONS = 24
SANE_STEP = 0.3  # rad or m: what still moves more is nothing to begin with


def unaided(request: Request, within: float = np.inf) -> tuple[Found | None, Problem, Solution]:
    """Without help, on ground that gives way where firm ground bends the motion; and how the first try went.

    What will not come within that distance, m, is given up.
    """
    firm = problem_of(request)
    way = None if np.isinf(within) else Distance(request.character, request.clip.q[: request.judged])

    def tried(problem: Problem, begin: Iterate | None = None) -> tuple[Solution, Quality | None, bool]:
        if way is None:
            return *attempt(request, problem, request.settings.iterations), False
        steering = Near(way, within, again=begin is not None)
        most = request.iterations(request.settings.iterations)
        return *attempt(request, problem, most, steering, begin), steering.gave_up

    solution, quality, gave_up = tried(firm)
    problem, first = firm, solution
    failed = quality is None and not gave_up
    if failed or ((gave_up or (quality is not None and departure(request, quality) > BENT)) and _presses(solution)):
        # An ankle without roll cannot lay down an edge of its sole: asked to, it bends the whole leg, or gives up.
        soft_problem = problem_of(request._replace(settings=replace(request.settings, ground=SOFT_GROUND)))
        soft, soft_quality, _ = tried(soft_problem, _softened(solution) if gave_up else None)
        if soft_quality is not None and (
            quality is None
            or (
                soft_quality.penetration_millimetres < MOST_SUNK
                and departure(request, soft_quality) < departure(request, quality) - MUCH_NEARER
            )
        ):
            problem, solution, quality = soft_problem, soft, soft_quality
    return (None if quality is None else Found(request, problem, solution, quality)), firm, first


def _presses(solution: Solution) -> bool:
    """Whether the ground pushes harder than ground that gives way would: else both have the same answer."""
    pushed = (solution.iterate.ground_multiplier > SOFT_GROUND).any(axis=1)
    return float(pushed.mean()) > PRESSED


def _softened(solution: Solution) -> Iterate:
    """Where a try on firm ground ended, to begin with on ground that gives way."""
    begin = Iterate(*(array.copy() for array in solution.iterate))
    np.minimum(begin.ground_multiplier, 0.5 * SOFT_GROUND, out=begin.ground_multiplier)
    return begin


def aided(request: Request, firm: Problem | None = None, last: Solution | None = None) -> Found | None:
    """With the least help that brings it close to the clip; from where a try without help ended, if that is sane.

    Then with plenty of help to begin with, unless no step could be found. Then the same without any contacts but those
    of feet, which are the surest.
    """
    feet = _feet_alone(request)
    way = Distance(request.character, request.clip.q[: request.judged])
    best: Found | None = None
    for asked in (request,) if feet is request else (request, feet):
        problem = problem_of(asked, helped=True)
        begin = None
        if asked is request and firm is not None and last is not None and _is_sane(last):
            begin = _with_helpers(asked, problem, last)
        for plenty, start in ((0.0, begin), (PLENTY, None)):
            most = asked.iterations(HELPED_ITERATIONS)
            if most == 0:
                return best
            solution, quality = attempt(asked, problem, most, Helped(way, CLOSE, MISSING, plenty), start)
            if quality is not None:
                found = Found(asked, problem, solution, quality)
                if is_close(found):
                    return found
                best = best or found
            elif not solution.finished and asked is not feet:
                break  # contacts that ask for the impossible do so with plenty of help as well
    return best


def _is_sane(solution: Solution) -> bool:
    """Whether what a try came to is something to begin with."""
    return len(solution.steps) > 0 and solution.steps[-1] < SANE_STEP


def _with_helpers(request: Request, problem: Problem, last: Solution) -> Iterate:
    """An iterate to begin with: what was found without helpers, who give nothing yet."""
    begin = make_iterate(request.character, problem, request.settings.barrier_first)
    for wider, array in zip(begin, last.iterate, strict=True):
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


def is_close(found: Found) -> bool:
    """Whether it is the same motion, or is where that is: an arm that lies may turn about itself by any angle."""
    came_to_rest = found.quality.last_step < SETTLED
    return is_near(found.request, found.quality) or (came_to_rest and distance(found) <= SAME)


def nearest(found: Sequence[Found]) -> Found | None:
    """The first that is near enough, unless the other is much nearer; or that which is nearest."""
    near = [one for one in found if is_close(one)]
    if len(near) == 2 and distance(near[1]) < max(WORTH_HELP * distance(near[0]), CLOSE):
        return near[1]
    return next(iter(near), None) or min(
        found,
        key=lambda one: one.quality.root_rms_metres + np.radians(departure(one.request, one.quality)),
        default=None,
    )


def gains_little(away: float, helped: float) -> bool:
    """Whether help carries a body (by that share of its weight) and yet leaves it far (m) from what was keyed.

    Then what is possible without is as good: of a gallop keyed with the body rising while the feet push, either is off.
    """
    return helped > HEAVY and away > SAME


def _share_of(found: Found) -> float:
    """The share of the weight that help carries on average."""
    problem = found.problem
    return mean_share(found.solution.iterate.force[:, problem.help_first :], weight_of(found.request.character))


def climb(request: Request, far: float, *, without_first: bool) -> Found:
    """The first rung that is near the clip: without help if it comes within `far`, m, and that need be tried at all."""
    found, firm, last = unaided(request, far) if without_first else (None, None, None)
    if found is not None and is_close(found) and distance(found) <= far:
        return found
    helped = aided(request, firm, last)
    lost = helped is None or not is_close(helped)
    in_vain = helped is not None and gains_little(distance(helped), _share_of(helped))
    if (lost or in_vain) and found is None and firm is not None and last is not None:
        found = _finished(request, firm, last)
        if in_vain and found is not None and is_close(found):
            return found
    best = nearest([one for one in (found, helped) if one is not None])
    return best if best is not None and is_close(best) else as_keyed(request)


def _finished(request: Request, problem: Problem, last: Solution) -> Found | None:
    """What was given up, to its end: it is farther than it may be, and yet nothing nearer was found."""
    if not _is_sane(last):
        return None
    begin = Iterate(*(array.copy() for array in last.iterate))
    solution, quality = attempt(request, problem, request.iterations(HELPED_ITERATIONS), None, begin)
    return None if quality is None else Found(request, problem, solution, quality)


def as_keyed(request: Request) -> Found:
    """The motion as it is, on its contacts; help carries all that these cannot."""
    character, bounds = request.character, request.bounds
    trajectory = put_onto_contacts(
        character, request.trajectory, request.schedule, request.terrain, periodic=bounds.cycle is not None
    )
    request = request._replace(trajectory=trajectory)
    problem = problem_of(request, helped=True)
    iterate = make_iterate(character, problem, request.settings.barrier_last)
    fill_as_keyed(character, problem, iterate, bounds.cycle)
    solution = Solution(iterate, converged=True, steps=[0.0], defects=[0.0])
    quality = quality_of(request, problem, solution)
    return Found(request, problem, solution, quality)
