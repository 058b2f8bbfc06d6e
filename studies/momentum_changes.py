# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum control where goals, friction and pushes change: what Ye and Liu 2010 show beside single pushes."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.control.momentum import Settings, make_route
from heft.core.control.momentum.model import ANGULAR, CENTER, LINEAR, STATE, advance
from heft.studies.lib.journal import Journal
from heft.studies.lib.momentum_cases import BEGINS, CLIPS, OFF, WAYS, Pushed, ascending, case, follow, policy, ready

from tests.core.motion.skeletons import GOOD

WALKS = ("walk", "long step", "07_04", "132_20", "16_11")
RISE = 0.2  # m, by which the paper tells times
RISES = (0.1, 0.2, 0.3, -0.1, -0.2)  # m
FRICTIONS = (1.0, 0.6, 0.4, 0.3, 0.2)

INTRODUCTION = """# Momentum control where things change

The clips and rules of [momentum control](momentum.md), with default settings. Written by
`run.py study momentum_changes`, which goes on where it was stopped.
"""
TIMING = f"""The paper's walk takes four frames more for a step {RISE} m up, and four less down. A shift of the goal is
a shift in time as far as it lies along the way that the body goes at the end: the change foretold is
the distance times the vertical speed there, over the speed squared. So the sign is that of the vertical speed in the
moment in which segments end. Ours end in the middle of double support, where these bodies still sink or have just
turned round; the paper does not say where in double support it cuts. "By the law" is the first row's K_c times the
rise, "by speed" that quotient; both are means over the segments, "all" is what the whole motion took longer."""
GOALS = """Figure 5: every segment by itself, in the abstract model alone, with its time fixed and its forces in their
cones. "Moved" changes the goal, as the paper does; "fixed" adds a linear offset to the reference and tracks that. "Off"
is how far the centre of mass ends from the goal's height, "behind" how far it is behind the offset on average;
greatest forces and misses of all segments. As in the paper the fixed goal lags behind all the way; down, it takes twice
the force. The paper's holds from 0.1 m down to 0.2 m up."""
FRICTION = """Forces keep to the friction that is told; rays are planned anew for it. Complete: without a push, and
under 50 N for 0.3 s at four moments in four directions."""
REPEATED = f"""Pushes of 0.3 s at all of {", ".join(map(str, BEGINS))} of the motion, in the same direction, or in
turn to and fro."""

SIDE = """200 N for 0.3 s, until the next foot lands: how far its step is moved, the greatest force aside that the law
asks for and the one that contacts can give, and the greatest angular momentum, kg m²/s. What cannot be given by the
ground turns the body instead, and what deviates grows with the frames to the next landing. Tried, and no better on
five walks at 100, 150 and 200 N, 40 pushes each, where 29, 8 and 6 stay up: feet that come down up to twice as soon
and as much less far on (27, 10, 3), and with them a goal that is moved along with the step (13, 5, 2)."""


class Climbed(NamedTuple):
    off: float  # m
    behind: float  # m
    force: float  # N


def timing() -> list[str]:
    lines = ["| clip | vertical speed at ends, m/s | by speed, frames up | by the law, up | all, up | all, down |"]
    lines.append("|---|---|---|---|---|---|")
    for name in WALKS:
        reference, outline, _ = case(name)
        law = policy(name, Settings())
        ends = law.x[law.row[1:] - 1, LINEAR : LINEAR + 3] / reference.character.total_mass
        by_speed = RISE * ends[:, 2] / (ends**2).sum(axis=1) / outline.dt
        by_law = law.time_goal[law.row[:-1], CENTER + 2] * RISE / outline.dt
        cells = [name, f"{ends[:, 2].mean():+.2f}", f"{by_speed.mean():+.1f}", f"{by_law.mean():+.1f}"]
        for rise in (RISE, -RISE):
            found = follow(name, ascending(name, np.array([0.0, 0.0, rise])))
            cells.append(f"{found.later:+d}" if found.survived else "lost")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def climbed(name: str, rise: float, *, moved: bool) -> Climbed:
    """The worst of a clip's segments in the abstract model, each led by so much higher than it began."""
    reference, outline, _ = case(name)
    character, law = reference.character, policy(name, Settings())
    route = make_route(reference, outline, ascending(name, np.array([0.0, 0.0, rise])))
    found = []
    for s in range(len(law.first)):
        begin, count, first = int(law.row[s]), int(law.row[s + 1] - law.row[s]) - 1, int(law.first[s])
        up = route.origin[s + 1] - route.origin[s]
        goal, x, after = np.zeros(STATE), law.x[begin].copy(), np.zeros(STATE)
        goal[CENTER : CENTER + 3] = up
        behind, greatest = [], 0.0
        for k in range(count):
            row, step = begin + k, first + k
            wanted = law.x[row] + (0.0 if moved else k / count) * goal
            ray = law.ray[row] + law.gain[row] @ (x - wanted) + (law.goal_gain[row] @ goal if moved else 0.0)
            ray = np.maximum(ray, 0.0) * (np.arange(len(ray)) < law.rays.number[step])
            force = ray @ law.rays.direction[step]
            place = route.place[step + 1, law.rays.point[step]] - route.origin[s]
            drift = tuple(outline.drift[step].tolist())
            center = x[CENTER : CENTER + 3] + outline.dt * (
                x[LINEAR : LINEAR + 3] / character.total_mass + outline.drift[step]
            )
            moment = (ray[:, None] * np.cross(place - center, law.rays.direction[step])).sum(axis=0)
            gravity = np.array(character.gravity, dtype=np.float64)
            told = tuple(force.tolist()), tuple(moment.tolist())
            advance(character.total_mass, gravity, drift, *told, outline.dt, x, after)
            x[:] = after
            share = (k + 1) / count
            behind.append(share * up[2] - (x[CENTER + 2] - law.x[row + 1, CENTER + 2]))
            greatest = max(greatest, float(np.linalg.norm(force)))
        found.append((abs(x[CENTER + 2] - law.x[begin + count, CENTER + 2] - up[2]), np.mean(behind), greatest))
    off, late, force = (max(column, key=abs) for column in zip(*found, strict=True))
    return Climbed(float(off), float(late), float(force))


def goals() -> list[str]:
    lines = [
        "| clip | each step | moved: off, cm | behind, cm | greatest, N | fixed: off, cm | behind, cm | greatest, N |"
    ]
    lines.append("|---" * 8 + "|")
    for name in ("walk", "long step"):
        for rise in RISES:
            cells = [name, f"{rise:+.1f} m"]
            for moved in (True, False):
                one = climbed(name, rise, moved=moved)
                cells += [f"{100 * one.off:.1f}", f"{100 * one.behind:+.1f}", f"{one.force:.0f}"]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def frictions() -> list[str]:
    lines = ["| clip | friction | unpushed | pushed | mean force, N | greatest, N |", "|---|---|---|---|---|---|"]
    for name in CLIPS:
        for friction in FRICTIONS:
            try:
                plain = follow(name, friction=friction)
            except ValueError:  # no forces that friction holds do what the motion does
                lines.append(f"| {name} | {friction:g} | no forces found | | | |")
                continue
            pushed = [
                follow(name, None, Pushed(50.0, 0.3, way, at), friction=friction) for way in WAYS for at in BEGINS
            ]
            cells = [name, f"{friction:g}", "complete" if plain.survived else "lost"]
            cells += [
                f"{sum(one.survived for one in pushed)} of {len(pushed)}",
                f"{plain.force:.0f}",
                f"{plain.peak:.0f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def repeated() -> list[str]:
    head = [f"{force:.0f} N" for force in (50.0, 75.0, 100.0)]
    lines = ["| clip | way | " + " | ".join(head) + " |", "|---" * (2 + len(head)) + "|"]
    pairs = {"fore": "aft", "left": "right"}
    for name in CLIPS:
        for first in WAYS:
            for second in (first, pairs.get(first)):
                if second is None:
                    continue
                cells = [name, first if second == first else f"{first} and {second} in turn"]
                for force in (50.0, 75.0, 100.0):
                    some = [Pushed(force, 0.3, (first, second)[i % 2], at) for i, at in enumerate(BEGINS)]
                    found = follow(name, None, *some)
                    cells.append(f"complete, {found.later:+d} frames" if found.survived else "lost")
                lines.append("| " + " | ".join(cells) + " |")
    return lines


def aside() -> list[str]:
    """What pushes of 200 N from the side ask for."""
    lines = [
        "| clip | way | begin | lands after, frames | step moved by, m | asked aside, N | given | turning | ends |"
    ]
    lines.append("|---" * 9 + "|")
    for name in ("walk", "long step"):
        reference, _, facing = case(name)
        for way in ("left", "right"):
            for begin in BEGINS:
                performer = ready(name, Pushed(200.0, 0.3, way, begin))
                machine = performer.machine
                first = round(begin * reference.steps)
                lands = min((int(frame) for frame in performer.route.land[first] if frame > first), default=first)
                moved = asked = given = turning = 0.0
                while performer.at < lands and performer.step() and performer.pulled()[1] < OFF:
                    moved = max(moved, float(np.abs(machine.memory.shift[:2] @ facing[1])))
                    forces = np.abs(machine.outcome.wrench[:, :2] @ facing[1])
                    asked, given = max(asked, float(forces[0])), max(given, float(forces[1]))
                    turning = max(turning, float(np.abs(machine.memory.x[ANGULAR:]).max()))
                ended = follow(name, None, Pushed(200.0, 0.3, way, begin))
                cells = [name, way, f"{begin:g}", f"{lands - first}", f"{moved:.2f}", f"{asked:.0f}", f"{given:.0f}"]
                lines.append("| " + " | ".join([*cells, f"{turning:.0f}", "up" if ended.survived else "lost"]) + " |")
    return lines


def study(_: Path) -> str:
    """The page."""
    if not GOOD:
        return "# Momentum control where things change\n\nThe clips are not beside the checkout.\n"
    sections = {
        "Time on stairs": (TIMING, timing),
        "A goal that is moved, and one that is fixed": (GOALS, goals),
        "Other friction": (FRICTION, frictions),
        "Repeated pushes": (REPEATED, repeated),
        "From the side": (SIDE, aside),
    }
    journal, page = Journal.of("momentum_changes"), [INTRODUCTION]
    for title, (words, find) in sections.items():
        if journal.wants(title):
            page += [f"## {title}", "", words, "", *journal.find(title, find), ""]
    return "\n".join(page)
