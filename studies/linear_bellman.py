# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear Bellman equation on grids, da Silva's figures 5-1 to 5-3, 6-6 and 6-7."""

import time
from pathlib import Path

import numpy as np
from heft.core.report.svg import line_chart
from heft.research.grid import cases
from heft.research.grid.axes import Axis
from heft.research.grid.closed_form import fourier_series
from heft.research.grid.differences import central, fourier, generator, upwind
from heft.research.grid.policy import controls, roll_out
from heft.research.grid.riccati import quadratic, slope_by_riccati, value_by_riccati
from heft.research.grid.splitting import solve_by_splitting
from heft.research.grid.stepping import backward_euler, crank_nicolson, march, radau
from heft.research.grid.value_iteration import value_iteration
from heft.studies.lib.chart import alone
from heft.studies.lib.linear_bellman_robot import figure_5_1
from heft.studies.lib.linear_bellman_sine import figures_6

STARTS = 25
SAMPLES = 40  # of noise for each start
FINE = 8192  # nodes of the closed form
STEPS = (16, 32, 64, 128, 256, 512)
COUNTS = (32, 48, 64, 96, 128)  # nodes along each side of the brick's grid
SHARED = 200  # steps on all of them
FINER = 400  # steps of the simulations
BRICK = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), np.diag([200.0, 20.0]), np.diag([200.0, 20.0])
INTRODUCTION = """# The linear Bellman equation on grids

Da Silva 2010, chapter 5 and section 6.5.1, with the printed equations corrected; the functions of `research/grid` say
where. Written by `run.py study linear_bellman`.
"""
FIGURE_5_1 = """
## Figure 5-1: the three-wheeled robot
"""
FIGURE_5_2 = """
## Figure 5-2: the particle

Left, 256 nodes; Euler is the implicit one, C.-N. Crank-Nicolson. Holds: the third-order method with Fourier differences
is the most accurate, and with steps as long as the nodes are apart (64) Crank-Nicolson has a slightly larger constant
with Fourier than with central differences. Does not: with short steps Fourier differences are better, for there the
error is space's. "IRK3", as printed, is an explicit method and bound to short steps; Radau IIA is a true implicit one
of third order.

![Errors](linear_bellman_5_2_errors.svg)
"""
WAYS = """
Middle, 25 starts around the circle. Holds: ways by solved and by exact policies are the same to the eye; those of 16
nodes can just be told apart.

![Ways](linear_bellman_5_2_ways.svg)
"""
VALUES = """
Right, greatest error of v. Does not hold as said, that implicit Euler is more accurate than value iteration at equal
steps and grids: it is where steps are short for the grid, value iteration is elsewhere. The splitting scheme is far
ahead of both.

![Errors of v](linear_bellman_5_2_values.svg)
"""
FIGURE_5_3 = f"""
## Figure 5-3: the brick on ice

Errors against Riccati's v, up to 50, where |x| < 0.5 and |v| < 2; costs are means over {STARTS} starts under
{SAMPLES} noises each, as multiples of what Riccati's policy costs. A dash: the method diverged, or z was not positive
where it was needed.

Holds: implicit Euler is faster than value iteration at equal steps and grids, and stays stable with long steps, where
value iteration diverges. Does not: with 200 steps or fewer, and 48 x 48 nodes or more, value iteration is the more
accurate where it is stable, and its policies never cost more, let alone three times as much; upwind differences blur
the drift. Without noise value iteration solves another problem, and finds dearer policies. Central differences give
rewards below zero, from which no policy follows. The splitting scheme is the fastest, and has the best policies where
the noise of a step reaches about a node.

![Errors](linear_bellman_5_3_errors.svg)
![Times](linear_bellman_5_3_seconds.svg)
![Costs](linear_bellman_5_3_costs.svg)
"""
FIGURES_6 = """
## Figures 6-6 and 6-7: the sine particle

Two controllers, to 0.35 and 1.35, and their combination for targets between. Figure 6-6 reports 1.23 and 0.82 as ends
of the combination and of a linear blend for the target 1.2, and costs whose ratio is 0.907.

Figure 6-6. Does not hold as printed, K = 1 and lambda = 1: control costs more than it gains, and both end at 0.31.
Targets as narrow as in the third setting give the printed numbers, nearly, if the blend has raw weights; but then one
weight is next to none, the combination is the nearer controller alone, and its reward is far from the wanted one.

Figure 6-7. "Always lower" holds for what the combination is the optimum of, its own terminal cost under noise, within
the error of the means. It does not hold for the task without noise, where blends are often cheaper.
"""
SOLVERS = {
    "Euler, upwind": (backward_euler, upwind),
    "Euler, central": (backward_euler, central),
    "C.-N., central": (crank_nicolson, central),
    "C.-N., Fourier": (crank_nicolson, fourier),
    "Radau, Fourier": (radau, fourier),
}


def exact(count, remaining=0.5):
    """z of the particle by Fourier series, at every so manyth node of a fine grid."""
    fine = cases.particle(FINE)
    return fourier_series(fine.axes[0], fine.last_reward(), 1.0, 1.0, 1.0, remaining)[:: FINE // count]


def rewards(problem, steps, method, scheme):
    return march(method(generator(problem, scheme), problem.duration / steps), problem.last_reward(), steps)


def policies(problem, value):
    return np.stack([controls(problem, each) for each in value[:-1]])


def timed(call, *given):
    start = time.perf_counter()
    found = call(*given)
    return found, time.perf_counter() - start


def figure_5_2(folder):
    count = 256
    errors = {
        name: np.array([np.abs(rewards(cases.particle(count), k, *how)[0] - exact(count)).max() for k in STEPS])
        for name, how in SOLVERS.items()
    }
    steps = np.log2(STEPS)
    chart = line_chart(
        "Figure 5-2, left: greatest error of z, 256 nodes",
        steps,
        {name: np.log10(values) for name, values in errors.items()},
        "log2 of the number of steps",
        "log10",
    )
    (folder / "linear_bellman_5_2_errors.svg").write_text(alone(chart), encoding="utf-8")
    page = ["| steps | " + " | ".join(SOLVERS) + " |", "|---" * (len(SOLVERS) + 1) + "|"]
    for k, number in enumerate(STEPS):
        page.append(f"| {number} | " + " | ".join(f"{values[k]:.1e}" for values in errors.values()) + " |")
    return page + figure_5_2_ways(folder) + figure_5_2_values(folder)


def figure_5_2_ways(folder):
    """Ways by the solved and by the exact policy."""
    steps = 400
    fine = cases.particle(FINE)
    times = np.linspace(0.0, fine.duration, steps + 1)
    truth = fine.value(np.stack([exact(FINE, fine.duration - t) for t in times]))
    starts = np.linspace(-1.0, 1.0, STARTS, endpoint=False)[:, None]
    wanted = roll_out(fine, policies(fine, truth), starts)
    page = [WAYS, "| nodes | farthest between ways, of 25 starts | dearer by at most |", "|---|---|---|"]
    lines = {}
    for count in (16, 64, 256):
        problem = cases.particle(count)
        value = problem.value(rewards(problem, steps, radau, fourier))
        found = roll_out(problem, policies(problem, value), starts)
        off = np.abs(found.states - wanted.states).max()
        page.append(f"| {count} | {off:.1e} | {(found.costs - wanted.costs).max():.1e} |")
        if count == 16:
            for k in range(0, STARTS, 8):
                lines[f"from {starts[k, 0]:.2f}, exact"] = wanted.states[:, k, 0]
                lines[f"from {starts[k, 0]:.2f}, 16 nodes"] = found.states[:, k, 0]
    chart = line_chart("Figure 5-2, middle: ways of the particle", times, lines, "s", "x")
    (folder / "linear_bellman_5_2_ways.svg").write_text(alone(chart), encoding="utf-8")
    return page


def figure_5_2_values(folder):
    """Backward Euler and value iteration at equal grids and steps."""
    names = "Euler, upwind", "value iteration", "splitting"
    page = [VALUES, "| nodes | steps | " + " | ".join(names) + " |", "|---|---|---|---|---|"]
    drawn = []
    for count in (32, 128, 512):
        truth = -np.log(exact(count))
        for steps in (25, 50, 100, 200):
            problem = cases.particle(count)
            values = (
                problem.value(rewards(problem, steps, backward_euler, upwind)),
                value_iteration(problem, steps),
                solve_by_splitting(problem, steps),
            )
            off = [np.abs(value[0] - truth).max() for value in values]
            page.append(f"| {count} | {steps} | {off[0]:.1e} | {off[1]:.1e} | {off[2]:.1e} |")
            if count == 128:
                drawn.append([np.log2(steps), *np.log10(off)])
    at, *columns = np.array(drawn).T
    lines = dict(zip(names, columns, strict=True))
    chart = line_chart("Figure 5-2, right: error of v, 128 nodes", at, lines, "log2 of the number of steps", "log10")
    (folder / "linear_bellman_5_2_values.svg").write_text(alone(chart), encoding="utf-8")
    return page


def brick_truth(problem):
    """v by Riccati, and where it is looked at: |x| < 0.5, |v| < 2, far from the grid's edges."""
    x = problem.states
    near = (np.abs(x[..., 0]) < 0.5) & (np.abs(x[..., 1]) < 2.0)
    return value_by_riccati(*BRICK, problem.duration, problem.temperature, x), near


def brick_solvers(steps):
    return {
        "Euler, upwind": lambda p: p.value(rewards(p, steps, backward_euler, upwind)),
        "C.-N., central": lambda p: p.value(rewards(p, steps, crank_nicolson, central)),
        "splitting": lambda p: solve_by_splitting(p, steps),
        "value iteration": lambda p: value_iteration(p, steps),
        "without noise": lambda p: value_iteration(p._replace(temperature=0.0), steps),
    }


def figure_5_3(folder):
    """Errors, times, and mean costs of policies over 25 starts under noise."""
    page = [
        "| nodes | steps | method | error of v | z not positive, v not finite | seconds | cost, of the best's |",
        "|---|---|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(5)
    starts = np.column_stack([rng.uniform(-0.8, 0.8, STARTS), rng.uniform(-2.0, 2.0, STARTS)])
    many = np.repeat(starts, SAMPLES, axis=0)
    noise = rng.standard_normal((FINER, len(many), 1))
    best = best_of_brick(many, noise)
    drawn = {name: [] for name in brick_solvers(1)}
    with np.errstate(all="ignore"):
        for count, steps in [(count, SHARED) for count in COUNTS] + [
            (64, 25),
            (64, 50),
            (64, 80),
            (64, 100),
            (64, 400),
        ]:
            for name, solve in brick_solvers(steps).items():
                problem = cases.brick(count)
                value, seconds = timed(solve, problem)
                truth, near = brick_truth(problem)
                off, lost = np.abs(value[0] - truth)[near].max(), np.mean(~np.isfinite(value[0]))
                policy = policies(problem, value)
                costs = roll_out(problem, np.repeat(policy, FINER // steps, axis=0), many, noise).costs
                row = off, seconds, costs.mean() / best
                page.append(
                    f"| {count}² | {steps} | {name} | {shown(row[0])} | {100 * lost:.0f} % | {seconds:.2f} | "
                    f"{shown(row[2])} |"
                )
                if steps == SHARED and count in COUNTS:
                    drawn[name].append(row)
    nodes = np.array(COUNTS, dtype=float)
    series = {name: np.array(rows) for name, rows in drawn.items()}
    steps = f"{SHARED} steps"
    draw(folder, "5_3_errors", f"left: error of v, {steps}", nodes, {n: np.log10(r[:, 0]) for n, r in series.items()})
    draw(folder, "5_3_seconds", f"middle: seconds, {steps}", nodes, {n: np.log10(r[:, 1]) for n, r in series.items()})
    iterated = series["value iteration"][:, 2]
    ratios = {n: r[:, 2] / iterated for n, r in series.items() if n not in {"value iteration", "without noise"}}
    draw(folder, "5_3_costs", f"right: cost over value iteration's, {steps}", nodes, ratios, "")
    return page


def shown(number):
    """A figure, or a dash for none."""
    return f"{number:.3f}" if np.isfinite(number) else "-"


def draw(folder, name, title, nodes, lines, y_label="log10"):
    chart = line_chart(f"Figure 5-3, {title}", nodes, lines, "nodes along a side", y_label)
    (folder / f"linear_bellman_{name}.svg").write_text(alone(chart), encoding="utf-8")


def best_of_brick(starts, noise):
    """Mean cost under the Riccati policy."""
    problem = cases.brick(64)
    slopes = [slope_by_riccati(*BRICK, problem.duration * (1.0 - k / FINER), 1.0)[0] for k in range(FINER)]
    policy = np.stack([-(problem.states @ P[1])[..., None] for P in slopes])
    return roll_out(problem, policy, starts, noise).costs.mean()


def checks():
    """What must be exact: sums of solutions, and linear-quadratic problems."""
    worst = 0.0
    targets, weights = np.linspace(-0.6, 0.6, 3), np.array([0.2, 1.1, 0.5])
    problem = cases.particle(64)
    ends = np.exp(-2.0 * (1.0 - np.cos(np.pi * (problem.axes[0].nodes[:, None] - targets))))
    for method, scheme in SOLVERS.values():
        step = method(generator(problem, scheme), 0.5 / 200)
        apart, together = march(step, ends, 200)[0] @ weights, march(step, ends @ weights, 200)[0]
        worst = max(worst, np.abs(apart / together - 1.0).max())
    line = np.array([[0.6]]), np.array([[1.3]]), np.array([[2.0]]), np.array([[3.0]])
    plane = BRICK[0], BRICK[1], np.diag([3.0, 1.0]), np.diag([4.0, 4.0])
    cases_ = (
        ("one dimension", line, 0.8, (Axis(-7.0, 7.0, 192, periodic=True),), 400, 1.2),
        ("two dimensions", plane, 0.5, (Axis(-4.2, 4.2, 34, periodic=True),) * 2, 50, 0.8),
    )
    page = [
        "| asked | measured |",
        "|---|---|",
        f"| a sum of solutions solves the sum, to 1e-12 | {worst:.0e} |",
    ]
    for name, matrices, duration, axes, steps, reach in cases_:
        problem = quadratic(*matrices, duration, 1.0, axes)
        found = problem.value(rewards(problem, steps, radau, fourier))[0]
        x = problem.states
        near = np.max(np.abs(x), axis=-1) < reach
        off = np.abs(found - value_by_riccati(*matrices, duration, 1.0, x))[near].max()
        page.append(f"| v of a linear-quadratic problem in {name} is Riccati's, to 1e-6 | {off:.0e} |")
    return page


def study(folder: Path) -> str:
    """The page; pictures go to the folder."""
    return "\n".join(
        [
            INTRODUCTION,
            *checks(),
            FIGURE_5_1,
            *figure_5_1(folder),
            FIGURE_5_2,
            *figure_5_2(folder),
            FIGURE_5_3,
            *figure_5_3(folder),
            FIGURES_6,
            *figures_6(folder),
        ]
    )
