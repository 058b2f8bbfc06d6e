# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers combined by their value functions: the gymnast, the diver, SIMBICON's planar body."""

from functools import partial
from pathlib import Path

import numpy as np
from heft.core.character import Character
from heft.core.control.combination.projection import Goal, project
from heft.research.combination import ddp
from heft.research.combination.planar import PlanarSystem
from heft.research.combination.task import Cost
from heft.research.combination.trajectories import Combination, Tracker, coordination_temperature
from heft.studies.lib.chart import figures_chart, rods_of
from heft.studies.lib.combination_planar import jumps, pushes
from heft.studies.lib.journal import Journal

DT = 0.02
UPRIGHT = np.array([np.pi, 0.0, 0.0, 0.0])
NEAR = np.array([0.2, 0.2, 1.0, 1.0])  # rad and rad/s from the handstand, from where a stabiliser takes over
SWING = 175  # steps
DIVE = 60
RATE = np.pi / (DIVE * DT)  # of a straight diver that makes half a turn, rad/s

INTRODUCTION = """# Combination of controllers

Da Silva 2010, chapter 6, with `research/combination`. Weights are w exp(-v / lambda), normalised. Written by
`run.py study combination`. [Walks](combination_walks.md) and
[hills](combination_hills.md) have pages of their own.
"""

GYMNAST = """
## Gymnast: swing-up from 25 starts

Two trackers of optimal swing-ups (3.5 s, full second order) and 25 starts with bar and hip at -24° to 4°; the trackers
themselves start from 0°, 0° and -20°, -20°. A start succeeds if it ends within 0.2 rad and 1 rad/s of the handstand.
Homotopic: the first tracker's trajectory is the second's, continued from start to start. Not homotopic: optimised
again from the first start. Switching picks the tracker with the lowest value; trust penalises distance from the
trajectory.
"""

DIVER = """\
## Diver: goals between two dives

Dives of 1.2 s by a seven-link diver, optimal for 160° and 200°; goals between, by how far the two goals' bells overlap.
Pitch at the end in degrees, and the cost of the asked goal. Raw: weights as projected; normalised: weights that sum to
one; open loop: torques of the trajectories alone, normalised.
"""

COORDINATION = """\
## Diver: three dives for other angular velocities

Dives to 180° for 0.85, 1 and 1.15 times the velocity of half a turn, and eight velocities from 0.8 to 1.2 times it.
"""


SWUNG = """\
What holds: on the homotopic pair the combination (lambda 10, trust 1000) succeeds from every start, where trackers,
average and sum do not; switching with the same trust misses one. What does not: without trust a quadratic far from its
trajectory promises too little, and the combination does no better than the best tracker at lambda 10. The median
difference of values is a usable temperature on the homotopic pair only. On the other pair switching does as well.
Figure 6-9, the thesis's own start: tracker 2 and the combination end in the handstand, tracker 1 and the average do
not, as the thesis has it but for tracker 2.
"""

BELLS = """
![The last pose](combination_6_8.svg)

What holds: goals between are met within 0.7° while d^T Q d / lambda is 1, within 1.9° at 3.9, and worse where the sum
has two maxima. What does not: the thesis's "naive blend fails" (figure 6-8). Fixed weights on the feedback laws come as
near, at less cost, even raw; open loop costs more.
"""

OVERLAP = 3.9  # d^T Q d / lambda
STIFFNESSES = (10.0, 30.0, 100.0, 300.0, 1000.0)  # N m/rad
DAMPING = 0.03  # s, of a stiffness
TORQUES = (2.0, 8.0)  # N m, standard deviations: the thesis's forces, and four times as much
DISTURBED = 5  # replicas

RANDOM = f"""\
## Diver: random torques

Section 6.5.2: under random forces the combination, which uses little control, shows them and still comes out right,
while a stiff PD controller hides them, four times as large ones too. Here the dive to 180° by two dives and PD laws
about its own trajectory, implicit so that they stay stable at any stiffness, meet the same random torques at the
joints. Medians of {DISTURBED}; "off" is the RMS of the joints beside the dive without torques.

It holds in kind: from 300 N m/rad on joints are off by about half, for more effort and an end no better. It does not
hold that torques four times as large become invisible.
"""

THREE = """\
What holds: with trust the combination is nearer to vertical than the middle dive's tracker alone, by a fifth, at less
cost (figure 6-10). What does not: without trust it is far worse than that tracker, and switching does as well.
"""


def follow(system, rule, start, steps):
    x, u = [start], []
    for k in range(steps):
        u.append(rule(x[-1], k))
        x.append(system.step(x[-1], u[-1]))
        if not np.abs(x[-1]).max() < 1e4:
            return None, None
    return np.array(x), np.array(u)


def mean_rule(trackers, weights, x, k):
    return weights @ np.array([one.control(x, k) for one in trackers])


def switch_rule(trackers, trust, x, k):
    return min(trackers, key=lambda one: one.worth(x, k, 0.0, trust)).control(x, k)


def combined_rule(combination, x, k):
    return combination.choose(x, k / len(combination.trackers[0].u)).control


def swing_ups():
    """Homotopic and other pairs of solutions."""
    system = PlanarSystem(Character.preset("gymnast2"), DT, ("lower",))
    cost = Cost(DT, np.zeros(4), np.zeros((4, 4)), np.eye(1), UPRIGHT, np.diag([1000.0, 1000.0, 100.0, 100.0]))
    away = np.radians([-20.0, -20.0, 0.0, 0.0])
    time = DT * np.arange(SWING)
    anew = ddp.optimise(system, cost, np.zeros(4), (5.0 * np.sin(0.7 * np.pi * time))[:, None], 300)
    second = anew
    for share in (0.25, 0.5, 0.75, 1.0):
        second = ddp.optimise(system, cost, share * away, second.u, 300)
    first = second
    for share in (0.8, 0.6, 0.4, 0.2, 0.0):
        first = ddp.optimise(system, cost, share * away, first.u, 300)
    return system, cost, {"homotopic": (first, second), "not homotopic": (anew, second)}


def figure_6_9(folder, system, rules) -> list[str]:
    """Where four controls end from the thesis's start."""
    start = np.radians([-15.0, -15.0, 0.0, 0.0])
    figures = {}
    for label in ("tracker 1", "tracker 2", "average", "combination, lambda 10, trust 1000"):
        x, _ = follow(system, rules[label], start, SWING)
        figures[label.partition(",")[0]] = [] if x is None else [rods_of(system.character, system.pose(x[-1])[0])]
    chart = figures_chart("Figure 6-9: the last pose from -15°, -15°", figures, 0.0)
    (folder / "combination_6_9.svg").write_text(chart, encoding="utf-8")
    return ["![The last pose](combination_6_9.svg)", ""]


def gymnast(folder) -> list[str]:
    system, cost, pairs = swing_ups()
    angles = np.radians(np.linspace(-24.0, 4.0, 5))
    starts = [np.array([a, b, 0.0, 0.0]) for a in angles for b in angles]
    page = []
    for name, pair in pairs.items():
        trackers = tuple(Tracker.of(system, cost, solution) for solution in pair)
        apart = np.abs(pair[0].x - pair[1].x).mean()
        median = coordination_temperature(trackers)
        page += [
            f"### {name[0].upper()}{name[1:]}",
            "",
            f"Mean distance of states {apart:.2f}; median difference of values {median:.2f}; "  # noqa: ISC004
            f"cost {pair[0].cost:.1f} and {pair[1].cost:.1f}.",
            "",
            "| control | succeed | median cost |",
            "|---|---|---|",
        ]
        rules = {f"tracker {i + 1}": partial(mean_rule, (one,), np.ones(1)) for i, one in enumerate(trackers)}
        rules["average"] = partial(mean_rule, trackers, np.full(2, 0.5))
        rules["sum"] = partial(mean_rule, trackers, np.ones(2))
        for trust in (0.0, 1000.0):
            rules[f"switching, trust {trust:g}"] = partial(switch_rule, trackers, trust)
        for temperature in (median, 10.0, 100.0):
            for trust in (0.0, 100.0, 1000.0):
                combination = Combination(trackers, np.ones(2), temperature, trust)
                rules[f"combination, lambda {temperature:.3g}, trust {trust:g}"] = partial(combined_rule, combination)
        for label, rule in rules.items():
            good, costs = 0, []
            for start in starts:
                x, u = follow(system, rule, start, SWING)
                good += x is not None and bool((np.abs(x[-1] - UPRIGHT) < NEAR).all())
                costs.append(np.inf if x is None else cost.total(x, u))
            page.append(f"| {label} | {good} of 25 | {np.median(costs):.1f} |")
        page.append("")
        if name == "homotopic":
            page += figure_6_9(folder, system, rules)
    return page


def diver_task(degrees: float, states: int) -> Cost:
    half = states // 2
    pose, final = np.zeros(states), np.zeros(states)
    pose[3:half], pose[half + 3 :] = 20.0, 0.2
    final[2], final[3:half], final[half + 3 :] = 1000.0, 50.0, 0.5
    goal = np.zeros(states)
    goal[2] = np.radians(degrees)
    return Cost(DT, np.zeros(states), np.diag(pose), 0.01 * np.eye(half - 3), goal, np.diag(final))


def diving(system, rate: float) -> np.ndarray:
    start = np.zeros(system.states)
    start[system.states // 2 + 2] = rate
    return start


def dive(system, rate, degrees, guess=None) -> Tracker:
    cost = diver_task(degrees, system.states)
    first = np.zeros((DIVE, system.controls)) if guess is None else guess.u
    return Tracker.of(system, cost, ddp.optimise(system, cost, diving(system, rate), first))


def interpolation(system, folder) -> list[str]:
    one = dive(system, RATE, 160.0)
    trackers = (one, dive(system, RATE, 200.0, one))
    alone = [np.degrees(tracker.x[-1, 2]) for tracker in trackers]
    stiffness = np.array([[1000.0]])
    goals = [Goal(np.radians([degrees]), stiffness) for degrees in (160.0, 200.0)]
    page = [
        f"Alone the two end at {alone[0]:.1f}° and {alone[1]:.1f}°.",
        "",
        "| d^T Q d / lambda | goal | weights | maxima | combination | normalised | raw | open loop |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for overlap in (1.0, 3.9, 9.0, 25.0):
        temperature = 1000.0 * np.radians(40.0) ** 2 / overlap
        for degrees in (170.0, 180.0, 190.0):
            found = project(Goal(np.radians([degrees]), stiffness), goals, temperature)
            weights = found.weights / found.weights.sum()
            rules = (
                partial(combined_rule, Combination(trackers, found.weights, temperature)),
                partial(mean_rule, trackers, weights),
                partial(mean_rule, trackers, found.weights),
                lambda _, k, w=weights: w @ np.array([tracker.u[k] for tracker in trackers]),
            )
            cells, figures = [], {}
            for label, rule in zip(("combination", "normalised", "raw", "open loop"), rules, strict=True):
                x, u = follow(system, rule, diving(system, RATE), DIVE)
                figures[label] = [rods_of(system.character, system.pose(x[-1])[0]) - x[-1, :2]]
                total = diver_task(degrees, system.states).total(x, u)
                cells.append(f"{np.degrees(x[-1, 2]):.1f}, {total:.2f}")
            if (overlap, degrees) == (3.9, 180.0):
                chart = figures_chart("Figure 6-8: the last pose of dives to 180°", figures)
                (folder / "combination_6_8.svg").write_text(chart, encoding="utf-8")
            shown = ", ".join(f"{weight:.2f}" for weight in found.weights)
            page.append(f"| {overlap:g} | {degrees:.0f} | {shown} | {found.modes} | {' | '.join(cells)} |")
    return page


def coordination(system, folder) -> list[str]:
    trackers: list[Tracker] = []
    for factor in (0.85, 1.0, 1.15):
        trackers.append(dive(system, factor * RATE, 180.0, trackers[-1] if trackers else None))
    cost = diver_task(180.0, system.states)
    median = coordination_temperature(tuple(trackers))
    rules = {"tracker of 1": partial(mean_rule, trackers[1:2], np.ones(1))}
    rules["average"] = partial(mean_rule, trackers, np.full(3, 1.0 / 3.0))
    for trust in (0.0, 100.0):
        rules[f"switching, trust {trust:g}"] = partial(switch_rule, trackers, trust)
        for share in (0.1, 1.0, 5.0):
            combination = Combination(tuple(trackers), np.ones(3), share * median, trust)
            rules[f"combination, lambda {share * median:.2g}, trust {trust:g}"] = partial(combined_rule, combination)
    page = ["| control | mean pitch error, degrees | worst | mean cost |", "|---|---|---|---|"]
    figures: dict[str, list] = {}
    for label, rule in rules.items():
        errors, costs = [], []
        for factor in np.linspace(0.8, 1.2, 8):
            x, u = follow(system, rule, diving(system, factor * RATE), DIVE)
            figures.setdefault(label, []).append(rods_of(system.character, system.pose(x[-1])[0]) - x[-1, :2])
            errors.append(abs(np.degrees(x[-1, 2]) - 180.0))
            costs.append(cost.total(x, u))
        page.append(f"| {label} | {np.mean(errors):.2f} | {np.max(errors):.1f} | {np.mean(costs):.2f} |")
    shown = {"combination": figures[label], "tracker of 1": figures["tracker of 1"]}
    chart = figures_chart("Figure 6-10: the last poses from eight velocities", shown)
    (folder / "combination_6_10.svg").write_text(chart, encoding="utf-8")
    return [*page, "", "![The last poses](combination_6_10.svg)"]


def pd_rule(system, stiffness: float, x0, u0, x, k):
    """A stable proportional-derivative law about a trajectory, by the errors that the step would end with."""
    half, joints = system.states // 2, system.controls
    gain = np.zeros((joints, system.states))
    gain[:, 3:half] = stiffness * np.eye(joints)
    gain[:, half + 3 :] = DAMPING * stiffness * np.eye(joints)
    slope = system.slopes(x[None], u0[k][None])[1][0]
    off = system.step(x, u0[k]) - x0[k + 1]
    return u0[k] - np.linalg.solve(np.eye(joints) + gain @ slope, gain @ off)


def disturbed(system) -> list[str]:
    """The combination between two dives and PD laws about its trajectory, under the same random torques."""
    one = dive(system, RATE, 160.0)
    trackers = (one, dive(system, RATE, 200.0, one))
    goals = [Goal(np.radians([degrees]), np.array([[1000.0]])) for degrees in (160.0, 200.0)]
    temperature = 1000.0 * np.radians(40.0) ** 2 / OVERLAP
    weights = project(Goal(np.radians([180.0]), np.array([[1000.0]])), goals, temperature).weights
    combined = partial(combined_rule, Combination(trackers, weights, temperature))
    x0, u0 = follow(system, combined, diving(system, RATE), DIVE)
    rules = {"combination": combined}
    rules |= {f"PD, {stiffness:g} N m/rad": partial(pd_rule, system, stiffness, x0, u0) for stiffness in STIFFNESSES}
    page = [
        "| control | torques, N m | joints off, degrees | effort, N² m² s | pitch error at the end, degrees |",
        "|---|---|---|---|---|",
    ]
    half = system.states // 2
    for size in TORQUES:
        for name, rule in rules.items():
            found = []
            for seed in range(DISTURBED):
                torques = size * np.random.default_rng(seed).normal(size=(DIVE, system.controls))
                x, u = [diving(system, RATE)], []
                for k in range(DIVE):
                    u.append(rule(x[-1], k))
                    x.append(system.step(x[-1], u[-1] + torques[k]))
                off = np.degrees(np.sqrt(np.mean((np.array(x)[:, 3:half] - x0[:, 3:half]) ** 2)))
                found.append((off, DT * np.square(u).sum(), abs(np.degrees(x[-1][2]) - 180.0)))
            off, effort, pitch = np.median(found, axis=0)
            page.append(f"| {name} | {size:g} | {off:.1f} | {effort:.0f} | {pitch:.1f} |")
    return page


def study(folder: Path) -> str:
    """The page."""
    journal = Journal.of("combination")
    system = PlanarSystem(Character.preset("diver7"), DT)
    page = [INTRODUCTION]
    sections = {
        "gymnast": lambda: [GYMNAST, *gymnast(folder), SWUNG],
        "diver, goals": lambda: [DIVER, *interpolation(system, folder), BELLS],
        "diver, velocities": lambda: [COORDINATION, *coordination(system, folder), "", THREE],
        "diver, random torques": lambda: [RANDOM, *disturbed(system), ""],
        "jumps": jumps,
        "pushes": partial(pushes, folder),
    }
    for name, find in sections.items():  # pictures are not kept, so nothing is
        page += find() if journal.wants(name) else []
    return "\n".join(page) + "\n"
