# SPDX-License-Identifier: GPL-3.0-or-later
"""A gait for level ground and one for hills, coordinated by their values.

Gaits of key poses know no value function. Theirs is measured, as da Silva 2010, section 6.6, suggests where there is
none: each walks on slopes, and what it pays there by an objective stated by hand is its value as a function of the
slope, even between those tried.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.character import Character
from heft.core.contact.terrain import Plane, make_terrain
from heft.core.control.combination.sharing import mixed_law, shares
from heft.core.control.gait import Gait, Settings
from heft.core.control.gait.style import CHANNELS
from heft.core.control.law import NoLawError
from heft.core.report.svg import line_chart
from heft.core.simulation import Course, DivergedError, World
from heft.studies.lib.chart import alone

RATE = 300.0
SPEED = 0.7  # m/s, wanted
SLOPES = np.array([0.0, 5.0, 10.0, 12.0, 14.0, 16.0])  # degrees, on which values are measured
HILL = 14.0
MEASURED, NUDGES = 5.0, 2  # s, starts on each slope
FELL = 10.0  # price of a fall
FELT = 0.3  # s, in which the slope felt follows that under the feet
TOUCHING = 0.003  # m
STARTS, NUDGE = 25, 0.05
SECONDS = 7.0
SHARE = 0.1  # of the median difference of values: lambda

TEXT = """# A gait for level ground and one for hills

Da Silva 2010, section 6.5.3, "Stepping". Written by `run.py study combination_hills`.

The gait of Carensac et al. unchanged, and the same leaning forward by 6° with its toes up by 11° and its feet lifted
5 cm higher, both at 0.7 m/s. The cost of a gait is the square of its missing speed over time, and 10 for a fall;
values by slope are means over {nudges} starts of {seconds:g} s. Lambda is a tenth of the median difference of values,
{temperature:.2g}. The slope is measured from the ground's normal under the feet. 25 starts, with every velocity
perturbed by 0.05 m/s and rad/s; 7 s on level ground, and on level ground that becomes a hill of 14° after 1.5 m.
"""

WALKED = """
![Who has the say](combination_hills.svg)

What holds: coordinated, the two walk on level ground about as far as the gait for level ground, and up the hill, where
that often falls, as well as the gait for hills; the weights go over where the hill is felt. What does not: the
thesis's gait for level ground stays up on ten degrees and fails to advance; this one advances for as long as it is up.
The gait for hills alone would do nearly as well.
"""


class Paid(NamedTuple):
    """What came of a walk."""

    up: bool
    distance: float  # m
    cost: float
    shares: np.ndarray  # (n,) of the second gait
    way: np.ndarray  # (n,) m


def gait(lean=0.0, toes=0.0, lift=0.0) -> Gait:
    """A gait that leans ahead (rad), with its toes up (rad) and its feet lifted higher (m) as they swing."""
    made = Gait(Character.preset("gait28"), Course.straight(SPEED), RATE, Settings())
    poses = made._walk.poses.copy()
    poses[:, CHANNELS.index("torso_pitch")] += lean
    poses[:, CHANNELS.index("pelvis_pitch")] += 0.5 * lean
    poses[:, CHANNELS.index("swing_foot")] -= toes
    made._walk = made._walk._replace(poses=poses, clearance=made._walk.clearance + lift)
    return made


class Coordinated:
    """Gaits with equal weights, by their values at the slope that is felt; or by given shares."""

    def __init__(self, gaits, values=None, temperature=1.0, fixed=None):
        self.gaits, self.values, self.temperature, self.fixed = gaits, values, temperature, fixed
        self.begin()

    def begin(self):
        for one in self.gaits:
            one.begin()
        self.slope, self.shares = 0.0, np.full(len(self.gaits), 1.0 / len(self.gaits))

    def law(self, state, contacts):
        count = int(contacts.filled[0])
        near = contacts.gap[:count] < TOUCHING
        if near.any():
            normal = contacts.normal[:count][near].mean(axis=0)
            now = np.degrees(np.arctan2(-normal[0], normal[2]))
            self.slope += min(1.0, state.dt / FELT) * (now - self.slope)
        if self.fixed is not None:
            self.shares = np.array(self.fixed)
        else:
            worth = [float(np.interp(self.slope, SLOPES, value)) for value in self.values]
            self.shares = shares(worth, np.ones(len(self.gaits)), self.temperature)
        return mixed_law([one.law(state, contacts) for one in self.gaits], self.shares)


def walk(rule, terrain, height, nudge, seconds) -> Paid:
    """`height` is the ground's over x."""
    rule.begin()
    world = World(rule.gaits[0].character, terrain, rate=RATE)
    q, v = rule.gaits[0].reference_state()
    world.reset(q, v + nudge)
    cost, share, way, up = 0.0, [], [], True
    while world.time < seconds and up:
        try:
            world.step(rule)
        except (DivergedError, NoLawError):
            up = False
        up = up and world.q[2] - height(world.q[0]) > 0.5
        cost += world.dt * float(world.v[0] - SPEED) ** 2
        share.append(rule.shares[-1])
        way.append(float(world.q[0]))
    return Paid(up, float(world.q[0]), cost + (0.0 if up else FELL), np.array(share), np.array(way))


def hill_of(degrees, begins):
    """Level ground, and a hill from there on."""
    rise = np.tan(np.radians(degrees))
    normal = np.array([-rise, 0.0, 1.0]) / np.hypot(rise, 1.0)
    terrain = make_terrain([Plane(), Plane(point=(begins, 0.0, 0.0), normal=tuple(normal.tolist()))])
    return terrain, lambda x: max(0.0, (x - begins) * rise)


def measured(one, nudges) -> np.ndarray:
    """What a gait pays on each of the slopes."""
    alone_ = Coordinated([one], fixed=[1.0])
    return np.array(
        [np.mean([walk(alone_, *hill_of(slope, 0.5), nudge, MEASURED).cost for nudge in nudges]) for slope in SLOPES]
    )


def study(folder: Path) -> str:
    """The page."""
    rng = np.random.default_rng(9)
    level, hill = gait(), gait(0.1, 0.2, 0.05)
    nudges = NUDGE * rng.standard_normal((NUDGES + STARTS, level.character.nv))
    values = [measured(one, nudges[:NUDGES]) for one in (level, hill)]
    temperature = SHARE * float(np.median(np.abs(values[0] - values[1])))
    rules = {
        "the gait for level ground": Coordinated([level, hill], fixed=[1.0, 0.0]),
        "the gait for hills": Coordinated([level, hill], fixed=[0.0, 1.0]),
        "their mean": Coordinated([level, hill], fixed=[0.5, 0.5]),
        "coordinated": Coordinated([level, hill], values, temperature),
    }
    page = [
        TEXT.format(nudges=NUDGES, seconds=MEASURED, temperature=temperature),
        f"| slope, degrees | {' | '.join(f'{slope:g}' for slope in SLOPES)} |",
        "|---" * (len(SLOPES) + 1) + "|",
    ]
    for name, value in zip(("level ground", "hills"), values, strict=True):
        page.append(f"| value of the gait for {name} | {' | '.join(f'{one:.2f}' for one in value)} |")
    page += [
        "",
        "| control | level: stay up | mean way, m | mean cost | hill: stay up | mean way, m | mean cost |",
        "|---|---|---|---|---|---|---|",
    ]
    grounds = (make_terrain([Plane()]), lambda _: 0.0), hill_of(HILL, 1.5)
    for label, rule in rules.items():
        cells = []
        for ground in grounds:
            found = [walk(rule, *ground, nudge, SECONDS) for nudge in nudges[NUDGES:]]
            cells.append(f"{sum(one.up for one in found)} of {STARTS}")
            cells += [f"{np.mean([one.distance for one in found]):.2f}", f"{np.mean([one.cost for one in found]):.2f}"]
        page.append(f"| {label} | {' | '.join(cells)} |")
    shown = walk(rules["coordinated"], *grounds[1], nudges[NUDGES], SECONDS)
    height = np.array([grounds[1][1](x) for x in shown.way])
    lines = {"share of the gait for hills": shown.shares, "height of the ground, m": height}
    chart = line_chart("A hill of 14° after 1.5 m", np.arange(len(shown.way)) / RATE, lines, "seconds", "share, m")
    (folder / "combination_hills.svg").write_text(alone(chart), encoding="utf-8")
    return "\n".join([*page, WALKED])
