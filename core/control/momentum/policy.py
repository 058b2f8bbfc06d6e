# SPDX-License-Identifier: GPL-3.0-or-later
"""The feedback law of every segment: eq. 4 to 11 of Ye and Liu 2010, ready to be looked up by frame."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...maths.structure import Structure
from .ddp import FINAL_TIME, MULTIPLIERS, Expansion, Solution, solve
from .model import ANGULAR, LINEAR, STATE
from .problem import make_problem
from .segments import rows, spans
from .settings import Settings
from .states import Outline, Rays, make_rays

Array = NDArray[np.float64]

FROZEN = 6  # steps at the end of a motion in which gains would grow without bound
SETTLED = 1.0  # s: the final time may change where the cost curves by it as if standing cost its whole in this time


class Policy(Structure):
    """Rows (nr) are frames of all segments, one segment after another; m rays."""

    row: NDArray[np.int64]  # (ns + 1,) where each segment's rows begin
    first: NDArray[np.int64]  # (ns,) the reference's frame in each segment's first row
    x: Array  # (nr, 12) [X*]
    rate: Array  # (nr, 12) its rate of change
    ray: Array  # (nr, m) [F*]; zero in a segment's last row
    gain: Array  # (nr, m, 12) of the state: K_x with the multipliers' answer put in
    goal_gain: Array  # (nr, m, 12) of a change of the final state
    time_gain: Array  # (nr, 12) [K_d]
    time_goal: Array  # (nr, 12) [K_c]
    metric: Array  # (nr, 6, 6) what it costs to miss the law's force and moment in a step from here
    rays: Rays  # of the reference's steps


class Gains(NamedTuple):
    """What a solution says about n frames, the last step's excluded."""

    ray: Array  # (n, m, 12)
    goal: Array  # (n, m, 12)
    time: Array  # (n, 12) [K_d]
    time_goal: Array  # (n, 12) [K_c]
    metric: Array  # (n, 6, 6)


def gains(solution: Solution, settled: float = 0.0) -> Gains:
    """Eq. 5 put into eq. 4 at a fixed final time, and eq. 7 and 10, for all steps.

    With V_mumu dmu + V_mux dx + V_mut dt_f = dPsi, and the same of V_t, which keeps its value. `settled` is the least
    curvature by the final time at which it may change: what ends at rest may end at any time, and the curvature is
    nothing, or negative. The time of such a segment is fixed.
    """
    expansion = solution.expansion
    steps = len(solution.ray)
    by_x, by_mu = expansion.gain[:, :, :STATE], expansion.gain[:, :, MULTIPLIERS]
    curvature, by_parameters = expansion.curvature[:steps], expansion.parameter_curvature[:steps]
    inverse = np.linalg.inv(by_parameters[:, :STATE, :STATE])  # [V_mumu^-1]
    mu_x, t_x = curvature[:, :, MULTIPLIERS].transpose(0, 2, 1), curvature[:, :, FINAL_TIME]
    t_mu, t_t = by_parameters[:, STATE, :STATE], by_parameters[:, STATE, STATE]
    carried = np.einsum("ki,kij->kj", t_mu, inverse)  # [V_tmu V_mumu^-1]
    divisor = np.einsum("ki,ki->k", carried, t_mu) - t_t
    flexible = 1.0 if bool((-divisor > settled).all()) else 0.0
    goal = by_mu @ inverse
    return Gains(
        ray=by_x - goal @ mu_x,
        goal=goal,
        time=flexible * (t_x - np.einsum("ki,kij->kj", carried, mu_x)) / divisor[:, None],
        time_goal=flexible * carried / divisor[:, None],
        metric=_metric(expansion),
    )


def _metric(expansion: Expansion) -> Array:
    """The curvature of the cost-to-go by linear and angular momentum after each step, the multipliers' answer put in.

    Scaled to a mean of one on the diagonal: only what is dear against what counts.
    """
    curvature, by_multipliers = expansion.curvature[1:], expansion.parameter_curvature[1:, :STATE, :STATE]
    mu_x = curvature[:, :, MULTIPLIERS].transpose(0, 2, 1)
    whole = curvature[:, :, :STATE] - mu_x.transpose(0, 2, 1) @ np.linalg.solve(by_multipliers, mu_x)
    rows = np.r_[LINEAR : LINEAR + 3, ANGULAR : ANGULAR + 3]
    own = whole[:, rows[:, None], rows[None, :]]
    found: Array = own * (6.0 / np.trace(own, axis1=1, axis2=2))[:, None, None]
    return found


def precompute(character: Character, outline: Outline, settings: Settings) -> Policy:
    """Solve every segment in turn, each from the state in which the one before it passes its first frame."""
    rays, segments = make_rays(outline), spans(outline)
    row = rows(segments)
    most = rays.direction.shape[1]
    policy = Policy(
        row=row,
        first=np.array([span.first for span in segments], dtype=np.int64),
        x=np.zeros((row[-1], STATE)),
        rate=np.zeros((row[-1], STATE)),
        ray=np.zeros((row[-1], most)),
        gain=np.zeros((row[-1], most, STATE)),
        goal_gain=np.zeros((row[-1], most, STATE)),
        time_gain=np.zeros((row[-1], STATE)),
        time_goal=np.zeros((row[-1], STATE)),
        metric=np.zeros((row[-1], 6, 6)),
        rays=rays,
    )
    start, weight = outline.x[0], character.total_mass * float(np.linalg.norm(character.gravity))
    for span, after, begin, end in zip(segments, [*segments[1:], None], row, row[1:], strict=False):
        problem = make_problem(character, outline, rays, settings, span.first, span.last)
        solution = solve(problem, start, rays.length[span.first : span.last])
        if not solution.converged:
            raise ValueError(
                f"Momentum control found no optimal forces for steps {span.first} to {span.last} of the motion: raise "
                "the tracking weight, or use look-ahead."
            )
        if after is not None:
            start = solution.x[after.first - span.first]
        found = gains(solution, settings.effort * weight * weight / SETTLED)
        steps = slice(begin, end - 1)
        policy.x[begin:end] = solution.x
        policy.rate[steps] = np.diff(solution.x, axis=0) / outline.dt
        policy.ray[steps] = solution.ray
        policy.gain[steps], policy.goal_gain[steps] = found.ray, found.goal
        policy.time_gain[steps], policy.time_goal[steps] = found.time, found.time_goal
        policy.metric[steps] = found.metric
    _freeze(policy, int(row[-2]), int(row[-1]) - 1)
    return policy


def _freeze(policy: Policy, begin: int, end: int) -> None:
    """Let the last rows of the last segment have the gains of one before, if they have its contacts, or else none."""
    frozen = max(end - FROZEN, begin)
    kept = policy.rays.point[policy.first[-1] + frozen - begin]
    for r in range(frozen + 1, end):
        same = (policy.rays.point[policy.first[-1] + r - begin] == kept).all()
        for gain in (policy.gain, policy.goal_gain):
            gain[r] = gain[frozen] if same else 0.0
        policy.time_gain[r], policy.time_goal[r] = policy.time_gain[frozen], policy.time_goal[frozen]
