# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that begin with noise on every velocity: how many stay up, standing, on the floor and sliding."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from heft.core.job import BakeJob, run
from heft.studies.lib.journal import Journal
from heft.studies.nearness import job_of

from tests.core.job import beginners
from tests.core.motion.skeletons import CLIPS, GOOD
from tools.environment import ROOT

NOISE, REPLICAS = 0.05, 4
KEYED = "keyed: "
SETS: dict[str, tuple[tuple[str, ...], float]] = {  # what is baked, and the share that is to stay up
    "Standing and walking": (tuple(path.stem for path in GOOD), 0.98),
    "On the floor": (
        (
            "75_20__low_sit",
            "77_18__laying_down_on_back_gett",
            "90_02__cartwheel",
            "90_03__cartwheel",
            "127_23__run_dive_over_roll_run",
            f"{KEYED}push-ups",
            f"{KEYED}getting up",
            f"{KEYED}death fall",
            f"{KEYED}backflip",
        ),
        0.95,
    ),
    "Sliding": (
        (
            "05_11__dance",
            "104_17__spasticstop",
            "138_27__story",
            f"{KEYED}spin on one foot",
            f"{KEYED}moonwalk",
            f"{KEYED}sliding walk",
            f"{KEYED}drunken stop",
        ),
        0.95,
    ),
}
CAUGHT = "It would fall by itself"
INTRODUCTION = f"""# Noise at the start

Every motion is baked with default settings, {REPLICAS} times, each with other noise of {NOISE:g} m/s and rad/s on all
velocities that it begins with. It stays up if it gets to its end without being caught by help (docs/bake.md), which
holds up whoever would fall: those are counted apart. Written by `run.py study noise`, which goes on where it was
stopped.
"""
HEAD = ["| motion | stay up | caught | fall | off mm | help % |", "|---|---|---|---|---|---|"]


def asked(name: str) -> BakeJob:
    """A captured clip or a beginner's action."""
    if name.startswith(KEYED):
        return beginners.job(name.removeprefix(KEYED))
    return job_of(next(path for folder in ("cmu", "cmu-hard") if (path := CLIPS / folder / f"{name}.bvh").is_file()))


def bake(name: str, seed: int) -> dict[str, Any]:
    """What became of one that begins with noise."""
    try:
        report = run(replace(asked(name), noise=NOISE, seed=seed)).report
    except ValueError as refusal:
        return {"outcome": "refused", "caught": False, "off": 0.0, "help": 0.0, "why": str(refusal)}
    caught = any(note.startswith(CAUGHT) for note in report["notes"])
    found = {"outcome": report["outcome"], "caught": caught, "why": report["why"]}
    return {**found, "off": report["source_error_mm"], "help": report["help_mean"]}


def row(name: str, found: list[dict[str, Any]]) -> str:
    """A line of the table."""
    caught = sum(one["caught"] for one in found)
    lost = sum(one["outcome"] != "completed" for one in found)
    off, helped = (sum(one[what] for one in found) / len(found) for what in ("off", "help"))
    return f"| {name} | {len(found) - caught - lost} | {caught} | {lost} | {off:.1f} | {100.0 * helped:.1f} |"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    if not GOOD:
        return "# Noise at the start\n\nThe clips are not beside the checkout.\n"
    journal = Journal("noise", [ROOT / "core", ROOT / "examples" / "beginners.py", Path(__file__)])
    seeds = range(1, REPLICAS + 1)
    questions = {
        f"{name} {seed}": partial(bake, name, seed) for names, _ in SETS.values() for name in names for seed in seeds
    }
    answers = dict(zip(questions, journal.find_all(questions), strict=True))
    page = [INTRODUCTION]
    for title, (names, share) in SETS.items():
        found = {name: [answers[f"{name} {seed}"] for seed in seeds] for name in names}
        every = [one for some in found.values() for one in some]
        up = sum(one["outcome"] == "completed" and not one["caught"] for one in every)
        page += [f"## {title}", ""]
        page += [f"{up} of {len(every)} stay up, {100.0 * up / len(every):.0f} % (asked: {100.0 * share:.0f} %).", ""]
        page += [*HEAD, *(row(name, some) for name, some in found.items()), ""]
    return "\n".join(page)
