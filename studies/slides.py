# SPDX-License-Identifier: GPL-3.0-or-later
"""How far feet slide in each stance of captured clips, against their sources."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from heft.core import BakeJob
from heft.core.motion.bvh import read_bvh
from heft.studies.lib.journal import Journal
from heft.studies.lib.stances import STILL, Stance, bake, stances, to_data

from tests.core.motion.skeletons import CLIPS, CMU_ROLES, CMU_UNIT, GOOD
from tools.environment import ROOT

HARD = sorted((CLIPS / "cmu-hard").glob("*.bvh"))[::4]
ASKED = 0.98
INTRODUCTION = f"""# Feet that stand, glide and pivot

Every clip is baked from its file with default settings, and each stance of each foot measured: from where the foot
comes to bear a twentieth of the weight to where it no longer does. Slide is the farthest that a corner of its sole goes
while it presses; {1000 * STILL:.0f} mm count as standing. A stance glides where the source has no end of the sole
within 4 cm of one place, or turns the foot by over 25 degrees, under load. Written by `run.py study slides`.

- looked at: `cmu`, and every other clip of the sample of `cmu-hard`, whose stances were looked at one by one
- counted: the rest of that sample
"""
HEAD = [
    "| clip | outcome | stances | still | glide | skate mm a frame (source) | sinks mm (source) | off mm | help % |",
    "|---|---|---|---|---|---|---|---|---|",
]
WORST = [
    "| clip | foot | frames | slide mm | planned mm | source mm, degrees | when |",
    "|---|---|---|---|---|---|---|",
]


def find(path: Path) -> dict[str, Any]:
    """What JSON can say of a clip's bake."""
    job = BakeJob(read_bvh(path, CMU_UNIT), CMU_ROLES)
    baked = bake(job)
    if isinstance(baked, str):
        return {"report": {"outcome": "refused", "why": baked}, "stances": []}
    report, found = baked[1].report, stances(job, *baked)
    kept = ("outcome", "why", "good", "notes", "source_error_mm", "help_mean", "help_max", "max_penetration_m")
    kept += ("skate_mm_per_frame", "penetration_mm", "float_mm", "max_foot_slide_m")
    kept += tuple(f"source_{name}" for name in ("skate_mm_per_frame", "penetration_mm", "float_mm"))
    return {"report": {name: report[name] for name in kept}, "stances": [to_data(stance) for stance in found]}


def row(name: str, found: dict[str, Any]) -> str:
    """A line of the table."""
    report, measured = found["report"], [Stance(**stance) for stance in found["stances"]]
    if report["outcome"] == "refused":
        return f"| {name} | refused: {report['why']} | | | | | | | |"
    held = [stance for stance in measured if not stance.glides]
    still = sum(stance.slide <= STILL for stance in held)
    return (
        f"| {name} | {report['outcome']} | {len(measured)} | {still} of {len(held)} | {len(measured) - len(held)} | "
        f"{report['skate_mm_per_frame']:.2f} ({report['source_skate_mm_per_frame']:.2f}) | "
        f"{report['penetration_mm']:.2f} ({report['source_penetration_mm']:.2f}) | {report['source_error_mm']:.0f} | "
        f"{100 * report['help_mean']:.1f} |"
    )


def section(title: str, names: Sequence[str], found: Sequence[dict[str, Any]]) -> list[str]:
    """A table, the share of stances that stand, and those that do not."""
    measured = [(name, Stance(**stance)) for name, one in zip(names, found, strict=True) for stance in one["stances"]]
    held = [(name, stance) for name, stance in measured if not stance.glides]
    still = sum(stance.slide <= STILL for _, stance in held)
    gliding = sorted(1e3 * stance.slide for _, stance in measured if stance.glides)
    lines = [f"## {title}", ""]
    lines.append(
        f"Of {len(held)} stances that the source does not glide {still} stand, {100 * still / max(len(held), 1):.1f} % "
        f"(asked: {100 * ASKED:.0f} %). Of {len(gliding)} that it does the median slides "
        f"{gliding[len(gliding) // 2] if gliding else 0.0:.0f} mm."
    )
    lines += ["", *HEAD, *(row(name, one) for name, one in zip(names, found, strict=True)), ""]
    worst = sorted((one for one in held if one[1].slide > STILL), key=lambda one: -one[1].slide)
    if worst:
        lines += ["Those that slide:", "", *WORST]
        lines += [
            f"| {name} | {s.corner} | {s.first_frame:g} to {s.last_frame:g} | {1e3 * s.slide:.1f} | "
            f"{1e3 * s.planned:.1f} | {1e3 * s.source:.0f}, {57.3 * s.source_turn:.0f} | {100 * s.phase:.0f} % |"
            for name, s in worst
        ]
    return [*lines, ""]


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return "# Feet that stand, glide and pivot\n\nThe clips are not beside the checkout.\n"
    journal = Journal("slides", [ROOT / "core", ROOT / "studies" / "lib" / "stances.py"])
    paths = [*GOOD, *HARD]
    answers = journal.find_all({path.stem: partial(find, path) for path in paths})
    found = dict(zip((path.stem for path in paths), answers, strict=True))
    page = [INTRODUCTION]
    sets = (("Looked at: cmu", GOOD), ("Looked at: cmu-hard", HARD[::2]), ("Counted: cmu-hard", HARD[1::2]))
    for title, some in sets:
        names = [path.stem for path in some]
        page += section(title, names, [found[name] for name in names])
    return "\n".join(page)
