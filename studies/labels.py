# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts, clean-up and cycles of the captured clips."""

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from heft.core.character import Character
from heft.core.motion.clean_up import CleanMotion, clean_up
from heft.core.motion.cycles import make_cycle
from heft.core.motion.fit import Trajectory
from heft.core.motion.labels import label
from heft.core.motion.quality import concerns, missing_footholds
from heft.core.motion.schedule import ContactSchedule
from heft.core.motion.tracks import point_places

from tests.core.motion.skeletons import GOOD
from tests.core.motion.walkers import captured

STRIP = 100  # characters
INTRODUCTION = """# Contacts of captured clips

Contacts of every clip on its own character and estimated floor, with the same settings and without scenery: stairs, bar,
chair and box are missing, and contacts with them should not be found. Written by `run.py study labels`.

- two feet, no foot: fraction of frames
- slide: largest distance of a foot's point from its mean position in a contact, mm, in the clip and after clean-up
- deep: largest depth below the ground, mm, of heel and toe in the middle of the sole, and of the sole's corners
- joints, root: RMS change from the clip; shift: range of the body's vertical shift

| clip | contacts | two feet % | no foot % | slide, clip | slide | deep | corners, clip | corners | joints ° | root cm | shift cm | ms/frame |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501
SHOWN = ("02_01", "05_11", "09_02", "22_14", "83_28")


def study(folder: Path) -> str:
    """The page."""
    if not GOOD:
        return "# Contacts of captured clips\n\nThe clips are not beside the checkout.\n"
    character, trajectory = captured(GOOD[0].name)
    clean_up(character, trajectory.cut(0, 10), label(character, trajectory.cut(0, 10)))  # compiles
    rows, said, strips, cycles = [], [], [], []
    for path in GOOD:
        character, trajectory = captured(path.name)
        schedule = label(character, trajectory)
        start = time.perf_counter()
        clean = clean_up(character, trajectory, schedule)
        milliseconds = 1000.0 * (time.perf_counter() - start) / len(trajectory.q)
        rows.append(_row(path.stem, character, clean, schedule, milliseconds))
        lines = [concern.text for concern in concerns(character, trajectory, clean)] + list(clean.lines)
        holds = missing_footholds(character, trajectory, clean)
        if holds:
            heights = ", ".join(f"{hold.place[2]:.2f}" for hold in holds)
            lines.append(f"feet stand still in the air, {heights} m up")
        if lines:
            said.append(f"- **{path.stem}**: " + "; ".join(lines))
        if path.stem[:5] in SHOWN:
            strips.append(_strip(path.stem, clean.schedule))
        cycles.append(_cycle(path.stem, character, trajectory, schedule))
    return INTRODUCTION + "\n".join(
        [
            *rows,
            "",
            "## What was said",
            "",
            *said,
            "",
            "## Strips",
            "",
            "After planting; each character is a hundredth of the clip.",
            "",
            *strips,
            "## Cycles",
            "",
            "| clip | frames | period s | step m | turn ° | lacked to close ° RMS | moved ° RMS | slide mm |",
            "|---|---|---|---|---|---|---|---|",
            *cycles,
        ]
    )


def _row(name: str, character: Character, clean: CleanMotion, schedule: ContactSchedule, milliseconds: float) -> str:
    feet = [i for i, point in enumerate(schedule.points) if point.foot]
    sides = [
        schedule.active[:, [i for i in feet if schedule.names[i].startswith(side)]].any(axis=1)
        for side in ("left", "right")
    ]
    both, none = np.mean(sides[0] & sides[1]), np.mean(~(sides[0] | sides[1]))
    before = max((slide.before for slide in clean.slides), default=0.0)
    after = max((slide.after for slide in clean.slides), default=0.0)
    low = point_places(character, clean.trajectory.q, [schedule.points[i] for i in feet])[..., 2].min()
    moved = clean.moved
    return (
        f"| {name} | {len(schedule.intervals)} | {100 * both:.0f} | {100 * none:.0f} | {1000 * before:.0f} |"
        f" {1000 * after:.2f} | {1000 * max(0.0, -low):.2f} | {1000 * clean.penetration_before:.0f} |"
        f" {1000 * clean.penetration_after:.1f} | {np.degrees(moved.joint_rms):.2f} | {100 * moved.root_rms:.1f} |"
        f" {100 * np.ptp(moved.shift[:, 2]):.1f} | {milliseconds:.2f} |"
    )


def _strip(name: str, schedule: ContactSchedule) -> str:
    bounds = np.linspace(0, len(schedule.active), STRIP + 1).astype(int)
    lines = [f"{name}"]
    for i, point in enumerate(schedule.points):
        if schedule.active[:, i].any():
            shares = [schedule.active[a:b, i].mean() for a, b in pairwise(bounds)]
            lines.append(f"{point.name:16s} " + "".join("#" if share > 0.5 else "." for share in shares))
    return "\n".join(["```", *lines, "```", ""])


def _cycle(name: str, character: Character, trajectory: Trajectory, schedule: ContactSchedule) -> str:
    try:
        cycle = make_cycle(character, trajectory, schedule)
    except ValueError as refusal:
        return f"| {name} | {refusal} | | | | | | |"
    slide = max(one.after for one in cycle.clean.slides)
    return (
        f"| {name} | {cycle.candidate.start}-{cycle.candidate.stop} | {cycle.period:.2f} |"
        f" {np.hypot(*cycle.step.shift):.2f} | {np.degrees(cycle.step.turn):.1f} |"
        f" {np.degrees(np.sqrt(np.mean(cycle.closing[6:] ** 2))):.1f} | {np.degrees(cycle.moved.joint_rms):.2f} |"
        f" {1000 * slide:.2f} |"
    )
