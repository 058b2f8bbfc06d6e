# SPDX-License-Identifier: GPL-3.0-or-later
"""Sequential quadratic programming by multiple shooting: linearize all frames, solve, move, until nothing moves.

Every state is an unknown of its own, so the gaps between a step's outcome and the next state (defects) close as the
iteration goes on. Steps are full. In place of a line search, which would reject good steps because they leave the
curved constraints for a moment (N. Maratos' effect), the defects at the far end of a step are put back into the same
quadratic programme, whose factors are kept: a second-order correction, for a sixth of an iteration's cost (Nocedal and
Wright 2006, section 18.3). Small steps need none before the last.

A step bends the barrier down, and the smoothed controls that the objective pulls towards follow the iterates; both
stop before the end, and the last iterations converge to a fixed problem.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import FREE
from ...dynamics.workspace import make_workspace
from ...maths.beside import both
from ..cycle import Cycle
from ..outside import Outside
from . import ends
from .ends import Ends, end_offsets, start_offset
from .help import first_weights, mean_share, next_weights, shares_of_price, weight_of
from .model import (
    ModelWorkspace,
    fill_defects,
    fill_held_offsets,
    fill_programme,
    make_model_workspace,
    move,
    move_multipliers,
)
from .outside import Known
from .problem import Iterate, Problem, make_iterate
from .riccati import make_programme, make_riccati_workspace
from .settings import Settings
from .steering import Steering

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Progress = Callable[[int, Array], None]

# The greatest change of a pose in one iteration, rad and m: beyond it, linear models are worthless.
LONGEST_STEP = 0.5
# Corrections for curvature in one iteration, and when closing the last defects.
CORRECTIONS = 1
LAST_CORRECTIONS = 12
# A step up to which the next iteration closes its defects as well as a correction does, rad and m.
UNBENT = 0.05
# What is left of defects at the end: rad, m, and their rates.
DEFECT_TOLERANCE = 1e-11
# The targets of smooth controls follow for at least so many iterations (at first they are nothing, and pull there), and
# then until a step is below this, but not for ever.
LEAST_SMOOTHING = 5
SETTLED_STEP = 0.02
MOST_SMOOTHING = 12
# Below this step held points are pulled onto their places by multipliers.
MULTIPLIER_STEP = 0.05
# Damping of a frame that swings back by this share of its step, squared; its least and most value, per rad^2 or m^2.
SWING_BACK = 0.1
DAMPING_GAIN = 2.0
LEAST_DAMPING, MOST_DAMPING = 5.0, 1000.0
# Help's weights follow the help for so many iterations.
MOST_WEIGHING = 25
# Held points this near to their places need no further pulling, m.
PLACE_TOLERANCE = 5e-5


@dataclass(eq=False)
class Solution:
    """The last iterate, and how the iteration went."""

    iterate: Iterate
    converged: bool
    finished: bool = True  # all iterations made, or converged
    steps: list[float] = field(default_factory=list)  # greatest change of a pose, rad and m, per iteration
    defects: list[float] = field(default_factory=list)  # greatest defect after each iteration
    worst_frame: int = 0  # of the last defects
    seconds: float = 0.0

    def usable(self, defect: float) -> bool:
        """It obeys the laws of physics to that tolerance, though it may still be on its way to the best such motion."""
        return len(self.steps) > 0 and self.finished and self.defects[-1] <= defect


def solve(
    character: Character,
    problem: Problem,
    bounds: Ends,
    settings: Settings,
    progress: Progress | None = None,
    *,
    steering: Steering | None = None,
    missing: Mask | None = None,
    begin: Iterate | None = None,
    outside: Outside | None = None,
) -> Solution:
    """Iterate from the clip, or from `begin`. Numbers that stop being finite end the iteration, not converged.

    `steering` is asked after each iteration, and knows the price of help, where the problem has it; `missing` (N,) are
    the steps in which it is cheap. `outside` is what acts at the points that the problem was told of.
    `progress` is called with the number of each iteration before it, and the poses (N + 1, nq) so far; it may raise an
    exception to end it all.
    """
    begun = time.perf_counter()
    frames, nv = len(problem.held), character.nv
    known = None if outside is None else Known(problem, outside)
    subproblem = _Subproblem(character, problem, bounds, known)
    barrier = max(settings.barrier_first if begin is None else settings.barrier_last, settings.barrier_last)
    price = None if steering is None else steering.price
    iterate = make_iterate(character, problem, barrier) if begin is None else begin
    if known is not None:
        known.begin(iterate.force)
    lacking = shares_of_price(np.zeros(frames - 1, np.bool_) if missing is None else missing)
    if price is not None:
        iterate.help_weight[:] = first_weights(price, lacking, weight_of(character))
    moved = Iterate(*(array.copy() for array in iterate))
    smoothed = _Smoother(problem, bounds.cycle)
    solution = Solution(iterate, converged=False)
    frozen = False
    damping, last_change = np.zeros(frames), np.zeros((frames, nv))

    for iteration in range(settings.iterations):
        if progress is not None:
            progress(iteration, iterate.q)
        try:
            subproblem.linearize(iterate, barrier, damping)
        except ends.SingularFrameError as error:
            solution.worst_frame, solution.finished = error.frame, False
            break
        if not subproblem.solve():
            solution.finished = False
            break
        step = subproblem.longest_step
        share = min(1.0, LONGEST_STEP / step)
        size = subproblem.move(iterate, moved, share)
        settled = step <= settings.step_tolerance or (steering is not None and steering.is_faint(iteration, step))
        settled = settled and frozen and barrier <= settings.barrier_last
        thorough = settled or iteration == settings.iterations - 1
        if share == 1.0 and (thorough or step > UNBENT):
            size = subproblem.correct(iterate, moved, size, LAST_CORRECTIONS if thorough else CORRECTIONS)
        if not np.isfinite(size):
            solution.finished = False
            break
        subproblem.move_multipliers(moved, barrier)
        iterate, moved = moved, iterate
        solution.iterate = iterate
        change = share * subproblem.change
        _adapt_damping(damping, change, last_change)
        last_change = change
        solution.steps.append(step)
        solution.defects.append(size)
        solution.worst_frame = subproblem.worst_frame
        if settled:
            solution.converged = size <= 10.0 * DEFECT_TOLERANCE
            break
        if steering is not None:
            helped = mean_share(iterate.force[:, problem.help_first :], weight_of(character))
            if not steering.goes_on(iteration, iterate.q, step, helped):
                solution.finished = False
                break
            price = steering.price
        if share == 1.0:
            barrier = max(settings.barrier_last, barrier * settings.barrier_factor)
        frozen = frozen or iteration >= (LEAST_SMOOTHING if step < SETTLED_STEP else MOST_SMOOTHING)
        if not frozen:
            smoothed.update(iterate)
        if price is not None and iteration < MOST_WEIGHING:
            given = iterate.force[:, problem.help_first :]
            iterate.help_weight[:] = next_weights(price, lacking, weight_of(character), iterate.help_weight, given)
        if step < MULTIPLIER_STEP:
            subproblem.pull_to_places(iterate)
        for kept, latest in zip(moved, iterate, strict=True):
            kept[...] = latest
    solution.seconds = time.perf_counter() - begun
    return solution


class _Subproblem:
    """The quadratic programme of an iteration, its conditions on the ends, and the motion that its answer leads to."""

    def __init__(self, character: Character, problem: Problem, bounds: Ends, known: Known | None) -> None:
        """Allocate, once for all iterations."""
        self._known = known
        frames, count = problem.held.shape
        dynamics = make_workspace(character.tree)
        group = np.column_stack((dynamics.group_first, dynamics.group_last))
        controls = character.nv - problem.motors_start + 3 * problem.force_count
        self._character, self._tree, self._problem, self._bounds = character, character.tree, problem, bounds
        self._programme = make_programme(group, controls, int(controls.max()))
        self._riccati = make_riccati_workspace(character.nv, self._programme.du.shape[1])
        self._work = make_model_workspace(character.tree, count)
        self._helpers_work = make_model_workspace(character.tree, count)
        self._cycle_map = None if bounds.cycle is None else _cycle_map(character, bounds.cycle)
        self._defect = np.zeros_like(self._programme.defect)
        self._offsets = np.zeros((frames, count, 3))

    def linearize(self, iterate: Iterate, barrier: float, damping: Array) -> None:
        """All frames about an iterate, and factor; `ends.SingularFrameError` where that is not possible."""

        def fill(first: int, last: int) -> None:
            tree, problem, programme = self._tree, self._problem, self._programme
            fill_programme(tree, problem, iterate, self._work, programme, barrier, damping, first, last)

        self._system = ends.factor(
            self._programme,
            self._riccati,
            start_pinned=self._bounds.start is not None,
            end_bound=self._bounds.end is not None or self._bounds.cycle is not None,
            cycle=self._cycle_map,
            fill=fill,
            sweep=self._known is None,
        )
        self._swept = self._known is None
        if self._known is not None:
            self._known.add_to(self._programme)
        self._start = start_offset(self._character, iterate.q, iterate.v, self._bounds)
        self._residual = end_offsets(self._character, iterate.q, iterate.v, self._bounds)

    def solve(self) -> bool:
        """The answer; False where it has numbers that are not finite."""
        start, residual = self._start, self._residual
        ends.solve(self._system, self._programme, self._riccati, start, residual, swept=self._swept)
        self._swept = False
        return bool(np.isfinite(self._programme.dx).all())

    def move(self, iterate: Iterate, moved: Iterate, share: float) -> float:
        """Go a share of the way; returns the greatest defect there."""
        move(self._tree, self._problem, iterate, self._programme, self._work, share, moved)

        def fill(work: ModelWorkspace, first: int, last: int) -> None:
            fill_defects(self._tree, self._problem, moved, work, self._defect, first, last)

        frames = len(self._defect)
        both(lambda: fill(self._helpers_work, 0, frames // 2), lambda: fill(self._work, frames // 2, frames))
        return float(np.abs(self._defect).max())

    def correct(self, iterate: Iterate, moved: Iterate, size: float, most: int) -> float:
        """Second-order corrections of a full step whose defects are up to `size`; returns what is left of them."""
        for _ in range(most):
            last = size
            self._programme.defect[:] += self._defect
            self._residual = self._residual + end_offsets(self._character, moved.q, moved.v, self._bounds)
            self.solve()
            size = self.move(iterate, moved, 1.0)
            if size <= DEFECT_TOLERANCE or not size < 0.5 * last:
                break
        return size

    def move_multipliers(self, moved: Iterate, barrier: float) -> None:
        """Slacks and multipliers after the motion."""
        move_multipliers(self._tree, self._problem, moved, self._work, barrier)

    def pull_to_places(self, iterate: Iterate) -> None:
        """Update the multipliers of held points, unless all are where they should be: each update moves the optimum."""
        problem, offsets = self._problem, self._offsets
        fill_held_offsets(self._tree, problem, iterate, self._work, offsets)
        offsets[problem.held & problem.glides, :2] = 0.0  # along the ground they only follow
        if np.abs(offsets[problem.held]).max(initial=0.0) > PLACE_TOLERANCE:
            pull = np.einsum("kpji,kpj->kpi", problem.axes, offsets)
            iterate.place_multiplier[problem.held] += problem.held_weight * pull[problem.held]

    @property
    def change(self) -> Array:
        """Of the poses (N + 1, nv), by the answer."""
        changes: Array = self._programme.dx[:, : self._character.nv]
        return changes

    @property
    def longest_step(self) -> float:
        """Greatest change of a pose, rad and m."""
        return float(np.abs(self.change).max())

    @property
    def worst_frame(self) -> int:
        """Where the greatest defect is."""
        return int(np.abs(self._defect).max(axis=1).argmax())


def _adapt_damping(damping: Array, change: Array, last: Array) -> None:
    """More in frames that swing back over what they have just passed, less in those that move on.

    Gauss-Newton leaves out the constraints' curvature, so its model is too soft where their forces are large.
    """
    size, last_size = np.linalg.norm(change, axis=1), np.linalg.norm(last, axis=1)
    along = np.einsum("ki,ki->k", change, last)
    back = along < -SWING_BACK * np.maximum(size, last_size) ** 2
    damping[:] = np.where(back, np.clip(DAMPING_GAIN * damping, LEAST_DAMPING, MOST_DAMPING), damping)
    onward = ~back & (along >= 0.0)
    damping[onward] /= DAMPING_GAIN
    damping[damping < LEAST_DAMPING] = 0.0


def _cycle_map(character: Character, cycle: Cycle) -> Array:
    """F (n, n): how a change of x_0 appears in T x_0. Only what is in world axes turns: the root's place and speed."""
    n = 2 * character.nv
    F = np.eye(n)
    if character.tree.joint[0] == FREE:
        for first in (0, character.nv):
            F[first : first + 3, first : first + 3] = cycle.rotation
    return F


class _Smoother:
    """Low-passed controls as targets of the next iteration: twice (1, 2, 1) / 4, forces within a stance only."""

    PASSES = 2

    def __init__(self, problem: Problem, cycle: Cycle | None) -> None:
        steps, count = len(problem.force_count), len(problem.point_body)
        self.allowed = np.zeros((steps, count, 1))
        for k in range(steps):
            self.allowed[k, problem.force_point[k, : problem.force_count[k]]] = 1.0
        self.wrap_torque = cycle is not None
        # along the seam of a turning cycle the contacts' axes do not continue
        self.wrap_force = cycle is not None and cycle.turn == 0.0

    def update(self, iterate: Iterate) -> None:
        torque, force = iterate.torque, iterate.force
        ones = np.ones((len(torque), 1))
        for _ in range(self.PASSES):
            torque = _blurred(torque, ones, wrap=self.wrap_torque)
            force = _blurred(force, self.allowed, wrap=self.wrap_force)
        iterate.torque_target[:] = torque
        iterate.force_target[:] = force


def _blurred(values: Array, present: Array, *, wrap: bool) -> Array:
    """(1, 2, 1) / 4 along the first axis, over those neighbours that are present."""
    total = weight = np.zeros(1)
    for shift, share in ((-1, 0.25), (0, 0.5), (1, 0.25)):
        neighbor, there = np.roll(values, shift, axis=0), np.roll(present, shift, axis=0)
        if not wrap and shift != 0:
            there = there.copy()
            there[0 if shift > 0 else -1] = 0.0
        total = total + share * there * neighbor
        weight = weight + share * there
    result: Array = np.divide(total, weight, out=np.zeros_like(values), where=(weight * present) > 0.0)
    return result
