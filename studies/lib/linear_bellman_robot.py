# SPDX-License-Identifier: GPL-3.0-or-later
"""The omni-wheeled robot, da Silva's figure 5-1: part of `run.py study linear_bellman`."""

import time

import numpy as np
from heft.core.report.svg import plan_chart
from heft.research.grid import cases
from heft.research.grid.axes import Axis, states
from heft.research.grid.minimum_time import fastest, minimum_time
from heft.research.grid.policy import controls, roll_out
from heft.research.grid.splitting import solve_by_splitting
from heft.studies.lib.chart import alone

STARTS = 25
AWAY, CLOSE = 3.0, 0.1  # m, of the goal at first and at last
DT = 0.02  # s
COUNTS, TEMPERATURE, SECONDS = (61, 61, 48), 0.15, 4.0
STEPS, FINER = 40, 10
POSTS = np.array([[-0.6, -0.65], [-0.6, 0.65]])
RADIUS, HALF_LENGTH = 0.45, 0.5  # m, of a post and of the rod
PRICE, PULL = 200.0, 4.0  # of touching a post, of being away from the goal

LEAST_TIME = """Middle. Holds: in the least time the robot goes along circular arcs, and along straight lines where
these are as fast. Does not: equation 5.9 cannot give such ways. Its B B' is the same at every heading, so v does not
know the heading (below, first row), and its wheels have a price but no greatest speed. What is drawn comes from another
solver: value iteration for wheels of at most unit speed, in the robot's own frame, for goals 3 m away all around.

![Ways in the least time](linear_bellman_5_1_arcs.svg)
"""
AMONG_POSTS = f"""
Right. Holds: a robot that knows of the obstacle turns and makes room for itself on its way to the origin. Does not: the
obstacle must know the heading for v to know it, and the thesis does not describe one. Here it is two posts 40 cm apart,
between which a rod of 1 m along the robot's heading fits only lengthways; q = (1 + {PULL:g} r^2 + obstacle) / 2,
lambda = {TEMPERATURE}, {SECONDS:g} s, 61 x 61 x 48 nodes.

![Ways of the rod](linear_bellman_5_1_posts.svg)
"""


def figure_5_1(folder):
    """Lines of the page; two pictures."""
    return [LEAST_TIME, *arcs(folder), AMONG_POSTS, *among_posts(folder)]


def arcs(folder):
    """Goals all around a robot whose wheels turn at most at unit speed, reached in the least time."""
    axes = Axis(-4.0, 4.0, 161), Axis(-4.0, 4.0, 161)
    goal = states(axes)
    h = axes[0].spacing / (4.0 / 3.0)
    times = minimum_time(axes, cases.fast_wheels(goal)[1], np.all(np.abs(goal) < 1e-9, axis=-1), h)
    ways, gained, turning = {}, [], []
    for angle in 2.0 * np.pi * np.arange(STARTS) / STARTS:
        way, speeds = drive(axes, times, h, AWAY * np.array([np.cos(angle), np.sin(angle)]))
        ahead = np.linalg.solve(cases.wheels(np.array(0.0)), [np.cos(angle), np.sin(angle), 0.0])
        straight = (AWAY - CLOSE) * np.abs(ahead).max()  # s, with the heading it has
        gained.append(1.0 - DT * len(speeds) / straight)
        turning.append(np.mean(np.abs(speeds.sum(axis=1)) > 0.5))
        if np.abs(np.sin(angle)) < 0.6 and len(gained) % 2:
            ways[f"goal at {np.degrees(angle):.0f}°"] = way
    chart = plan_chart("Figure 5-1, middle: least time, wheels of bounded speed", [], ways)
    (folder / "linear_bellman_5_1_arcs.svg").write_text(alone(chart), encoding="utf-8")
    return [
        "| goals | sooner than straight ahead, mean (range) | share of time on arcs, mean (range) |",
        "|---|---|---|",
        f"| {STARTS} | {spread(gained)} | {spread(turning)} |",
    ]


def drive(axes, times, h, seen):
    """The way (k, 2) from the origin, looking along x, and the wheels' speeds, with the goal seen at first there."""
    pose, way, speeds = np.zeros(3), [np.zeros(2)], []
    while np.hypot(*seen) > CLOSE and len(speeds) < 1000:
        choices, rates = cases.fast_wheels(seen)
        best = fastest(axes, times, seen, rates, h)
        seen, pose = seen + DT * rates[best], pose + DT * cases.wheels(pose[2]) @ choices[best]
        way.append(pose[:2])
        speeds.append(choices[best])
    return np.array(way), np.array(speeds)


def spread(values):
    """Shares."""
    return f"{100 * np.mean(values):.0f} % ({100 * abs(np.min(values)):.0f} to {100 * np.max(values):.0f})"


def clearance(x):
    """Least distance of the rod from a post at states (..., 3), metres."""
    rod = cases.rod_among(POSTS[:1], 10.0, HALF_LENGTH, 10.0)
    return np.min([10.0 - one(x) for one in (rod, cases.rod_among(POSTS[1:], 10.0, HALF_LENGTH, 10.0))], 0) - RADIUS


def among_posts(folder):
    """A rod that must turn to get between two posts, from 25 starts, with and without knowing of them."""
    rng = np.random.default_rng(7)
    starts = np.column_stack(
        [rng.uniform(-1.8, -1.55, STARTS), rng.uniform(-0.5, 0.5, STARTS), rng.uniform(0.0, np.pi, STARTS)]
    )
    noise = rng.standard_normal((STEPS * FINER, STARTS, 3))
    rod = cases.rod_among(POSTS, RADIUS, HALF_LENGTH, PRICE)

    def away(x):
        return PULL * np.sum(x[..., :2] ** 2, axis=-1)

    page = [
        "| policy | v changes with the heading by | starts untouched | under noise | ends off by | seconds to solve |",
        "|---|---|---|---|---|---|",
    ]
    ways = {}
    for name, price in (("knows no obstacle", away), ("knows the posts", lambda x: away(x) + rod(x))):
        problem = cases.robot(price, COUNTS, TEMPERATURE)._replace(duration=SECONDS)
        begin = time.perf_counter()
        value = solve_by_splitting(problem, STEPS)
        seconds = time.perf_counter() - begin
        policy = np.repeat(np.stack([controls(problem, each) for each in value[1:]]), FINER, axis=0)
        calm, shaken = (roll_out(problem, policy, starts, kicks).states for kicks in (None, noise))
        free = [int(np.sum(clearance(each).min(axis=0) > 0.0)) for each in (calm, shaken)]
        off = np.linalg.norm(calm[-1, :, :2], axis=-1).mean()
        page.append(
            f"| {name} | {np.ptp(value[0], axis=2).max():.1e} | {free[0]} of {STARTS} | {free[1]} of {STARTS} | "
            f"{off:.2f} m | {seconds:.2f} |"
        )
        ways |= {f"{name}, {k + 1}": calm[:, k, :2] for k in range(4)}
    around = np.linspace(0.0, 2.0 * np.pi, 49)
    rings = [post + RADIUS * np.column_stack([np.cos(around), np.sin(around)]) for post in POSTS]
    chart = plan_chart("Figure 5-1, right: a rod and two posts", rings, ways)
    (folder / "linear_bellman_5_1_posts.svg").write_text(alone(chart), encoding="utf-8")
    return page
