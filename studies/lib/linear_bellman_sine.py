# SPDX-License-Identifier: GPL-3.0-or-later
"""The sine particle, da Silva's figures 6-6 and 6-7: part of `run.py study linear_bellman`."""

from typing import NamedTuple

import numpy as np
from heft.core.control.combination.projection import Goal, project
from heft.core.report.svg import line_chart
from heft.research.grid import cases
from heft.research.grid.policy import controls, roll_out
from heft.research.grid.splitting import solve_by_splitting
from heft.studies.lib.chart import alone

GIVEN = np.array([0.35, 1.35])  # targets of the two controllers
SHOWN = 1.2  # what figure 6-6 is asked for
WANTED = np.linspace(0.35, 1.35, 11)
COUNT, STEPS = 601, 200
STARTS = np.linspace(-0.4, 0.8, 25)
SAMPLES = 40  # of noise for each start
EQUAL = 1e-3  # a cost's share that does not count


class Setting(NamedTuple):
    """K of g = K (x - target)^2 / 2, and lambda."""

    name: str
    stiffness: float
    temperature: float

    def goal(self, target):
        return Goal(np.array([target]), np.array([[self.stiffness]]))


SETTINGS = (
    Setting("as printed, K = 1, λ = 1", 1.0, 1.0),
    Setting("K = 4, λ = 1", 4.0, 1.0),
    Setting("narrow, K = 5.92, λ = 0.0502", 5.92, 0.0502),
)
WAYS = ("combination", "raw weights", "weights of sum one", "nearer controller", "solved for the target")


class Solved(NamedTuple):
    """The two controllers of a setting, or one solved for a target."""

    problem: object
    value: np.ndarray  # (steps + 1, count)
    policy: np.ndarray  # (steps, count, 1)


def solve(setting, target):
    problem = cases.sine_particle(target, setting.stiffness, setting.temperature, COUNT)
    value = solve_by_splitting(problem, STEPS)
    return Solved(problem, value, np.stack([controls(problem, each) for each in value[:-1]]))


def projected(setting, target):
    """The target's Gaussian on the given ones', section 6.3.1."""
    return project(setting.goal(target), [setting.goal(given) for given in GIVEN], setting.temperature)


def combine(setting, pair, weight):
    """v, (steps + 1, count), of the sum of rewards, and the policies blended by their shares in it, eq. 6.6.

    The weights' sum is made one: that shifts v, and nothing else.
    """
    least = np.minimum(pair[0].value, pair[1].value)
    weight = weight / weight.sum()
    shares = [w * np.exp((least - one.value) / setting.temperature) for w, one in zip(weight, pair, strict=True)]
    total = sum(shares)
    policy = sum((share / total)[:-1, :, None] * one.policy for share, one in zip(shares, pair, strict=True))
    return least - setting.temperature * np.log(total), policy


class Compared(NamedTuple):
    """Mean costs (targets, ways) and at how many starts the combination costs no more than the other blends."""

    own: np.ndarray  # by the combination's own terminal cost, under noise: what it is the optimum of
    task: np.ndarray  # by the target's terminal cost, without noise
    starts: list[int]
    excess: list[tuple[float, float]]  # greatest of the combination's own cost over another blend's, and its error


def ways_to(target, setting, pair):
    """Policies for a target, by WAYS, and the combination's value."""
    weight = projected(setting, target).weights
    value, policy = combine(setting, pair, weight)
    blend = weight[0] * pair[0].policy + weight[1] * pair[1].policy
    nearer = pair[int(np.argmin(np.abs(GIVEN - target)))].policy
    there = solve(setting, target)
    return there, value, dict(zip(WAYS, (policy, blend, blend / weight.sum(), nearer, there.policy), strict=True))


def compare(setting, pair):
    nodes = pair[0].problem.axes[0].nodes
    noise = np.random.default_rng(11).standard_normal((STEPS, len(STARTS) * SAMPLES, 1))
    many = np.repeat(STARTS, SAMPLES)[:, None]
    own, task, starts, excess = [], [], [], []
    for target in WANTED:
        there, value, tried = ways_to(target, setting, pair)
        ended = there.problem._replace(terminal=lambda x, value=value: np.interp(x[..., 0], nodes, value[-1]))
        costs = np.array([roll_out(ended, each, many, noise).costs for each in tried.values()])
        own.append(costs.mean(axis=1))
        more = costs[0] - costs[1:4]
        worst = int(np.argmax(more.mean(axis=1)))
        excess.append((more[worst].mean(), more[worst].std() / np.sqrt(more.shape[1])))
        costs = np.array([roll_out(there.problem, each, STARTS[:, None]).costs for each in tried.values()])
        task.append(costs.mean(axis=1))
        starts.append(int(np.sum(costs[0] <= costs[1:4].min(axis=0) * (1.0 + EQUAL))))
    return Compared(np.array(own), np.array(task), starts, excess)


def superposition(setting, pair):
    """Greatest difference of v, where |x| < 1.5, of the sum and of the splitting scheme on the sum's terminal cost."""
    value, _ = combine(setting, pair, projected(setting, SHOWN).weights)
    nodes = pair[0].problem.axes[0].nodes
    summed = pair[0].problem._replace(terminal=lambda x: np.interp(x[..., 0], nodes, value[-1]))
    return np.abs(solve_by_splitting(summed, STEPS)[0] - value[0])[np.abs(nodes) < 1.5].max()


def figures_6(folder):
    """Lines of the page; pictures."""
    page = []
    for number, setting in enumerate(SETTINGS):
        pair = [solve(setting, target) for target in GIVEN]
        page += [f"### {setting.name}", ""]
        page += figure_6_6(folder, number, setting, pair)
        page += figure_6_7(folder, number, setting, pair)
    return page


def figure_6_6(folder, number, setting, pair):
    nodes = pair[0].problem.axes[0].nodes
    seen = (nodes > -0.5) & (nodes < 2.0)
    values = {
        f"to {target}, t = {t:g}": one.value[int(STEPS * t), seen]
        for one, target in zip(pair, GIVEN, strict=True)
        for t in (0.0, 0.5, 1.0)
    }
    chart = line_chart(f"Figure 6-6, above: v, {setting.name}", nodes[seen], values, "x", "v")
    (folder / f"linear_bellman_6_6_values_{number}.svg").write_text(alone(chart), encoding="utf-8")
    projection = projected(setting, SHOWN)
    weight = projection.weights
    ends = [np.exp(-one.value[-1, seen] / setting.temperature) for one in pair]
    goal = np.exp(-0.5 * setting.stiffness / setting.temperature * (nodes[seen] - SHOWN) ** 2)
    rewards = {"h1": ends[0], "h2": ends[1], "combined": weight @ ends, f"wanted, {SHOWN}": goal}
    chart = line_chart(f"Figure 6-6, below: rewards, {setting.name}", nodes[seen], rewards, "x", "h")
    (folder / f"linear_bellman_6_6_rewards_{number}.svg").write_text(alone(chart), encoding="utf-8")
    there, _, tried = ways_to(SHOWN, setting, pair)
    sentence = (
        f"Weights for {SHOWN}: {weight[0]:.2g} and {weight[1]:.2g}; the sum's reward has {projection.modes} peak(s) "
        f"and is {100 * projection.residual:.0f} % off the wanted one. Its v and that of the splitting scheme, solved "
        f"for the sum's terminal cost, differ by {superposition(setting, pair):.0e}. From the origin:"
    )
    page = [
        f"![Values](linear_bellman_6_6_values_{number}.svg)",
        f"![Rewards](linear_bellman_6_6_rewards_{number}.svg)",
        "",
        sentence,
        "",
        "| way | ends at | cost | of the raw weights' |",
        "|---|---|---|---|",
    ]
    found = {name: roll_out(there.problem, each, np.zeros((1, 1))) for name, each in tried.items()}
    for name, one in found.items():
        ratio = one.costs[0] / found["raw weights"].costs[0]
        page.append(f"| {name} | {one.states[-1, 0, 0]:.3f} | {one.costs[0]:.4f} | {ratio:.3f} |")
    return [*page, ""]


def figure_6_7(folder, number, setting, pair):
    found = compare(setting, pair)
    lines = {name: found.own[:, k] for k, name in enumerate(WAYS)}
    chart = line_chart(f"Figure 6-7: the combination's own cost, {setting.name}", WANTED, lines, "target", "cost")
    (folder / f"linear_bellman_6_7_{number}.svg").write_text(alone(chart), encoding="utf-8")
    more, error = max(found.excess)
    sentence = (
        f"Costs of the combination's own objective, {len(STARTS)} starts under {SAMPLES} noises each; on the right the "
        f"task's own, without noise. The combination is dearer than another blend by at most {more:.4f}, with a "
        f"standard error of {error:.4f}."
    )
    page = [
        f"![Costs](linear_bellman_6_7_{number}.svg)",
        "",
        sentence,
        "",
        f"| target | {' | '.join(WAYS)} | task: combination | cheapest other blend | combination no dearer |",
        "|---" * (len(WAYS) + 4) + "|",
    ]
    for target, own, task, starts in zip(WANTED, found.own, found.task, found.starts, strict=True):
        cells = " | ".join(f"{cost:.3f}" for cost in own)
        page.append(f"| {target:.2f} | {cells} | {task[0]:.3f} | {task[1:4].min():.3f} | {starts} of {len(STARTS)} |")
    return [*page, ""]
