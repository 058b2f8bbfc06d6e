# SPDX-License-Identifier: GPL-3.0-or-later
"""Two people who were captured together, baked together by defaults: do both stay up, and near each other's hands?"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from heft.core.job import BakeJob, BakeResult, CompanyJob, run_together
from heft.core.motion.bvh import read_bvh
from heft.core.motion.clip import Clip
from heft.core.simulation import Grab
from heft.core.simulation.company import Hold
from heft.studies.lib.journal import Journal
from heft.studies.lib.touching import NOISE, SEEDS, cells, figures, steady

from tests.core.motion.skeletons import CLIPS, CMU_ROLES, CMU_UNIT
from tools.environment import ROOT

NEAR = 0.16  # m between wrists, while hands are taken to touch
SOURCES = [ROOT / "core", ROOT / "studies" / "lib" / "touching.py", Path(__file__)]
PAGE = f"""# Pairs

Two people captured together are baked together, by defaults. Written by `run.py study pairs`.

- with noise: of {SEEDS} bakes with noise of {NOISE:g} on every velocity at the start, those in which both stay up
- off: mean distance of the joints from the source, of each
- deepest: of contacts between the two, or as they begin
- hands: how far the one's wrist is from where it was to the other's in the source, median and most; while they are
  within {100 * NEAR:.0f} cm of each other there, if they ever are, else all along
- held: *found*, by defaults, which find holds in the clips; or *said*, with a hold that stays as it is taken, between
  the hands for the longest time that they are so near, as Add Grab makes it

- nearest: how near the wrists come to each other in the source: hands that touch have theirs within {100 * NEAR:.0f} cm

| pair | what | held | up | with noise | off mm | help % | slide mm | deepest mm | hands mm | nearest cm |
|---|---|---|---|---|---|---|---|---|---|---|
{{rows}}
{{missing}}"""


class Two(NamedTuple):
    """A pair, and the hands that meet."""

    first: str
    second: str
    what: str
    hand: str
    other: str
    held: bool = False


PAIRS = (
    Two("22_08", "23_08", "hold hands, swing arms, walk", "R", "L"),
    Two("22_08", "23_08", "hold hands, swing arms, walk", "R", "L", held=True),
    Two("20_02", "21_02", "link arms, walk", "R", "L"),
    Two("18_01", "19_01", "walk, shake hands", "R", "R"),
    Two("20_11", "21_11", "high five, walk", "R", "R"),
    Two("18_05", "19_05", "A pulls B by the elbow", "R", "L"),
    Two("22_01", "23_01", "A pulls B up from a seat", "R", "R"),
)


def clip_of(name: str) -> Clip:
    """One of them; the first frame is none of the motion."""
    return read_bvh(CLIPS / "pairs" / f"{name}.bvh", CMU_UNIT).cut(1, 10**6)


def wrist(clip: Clip, side: str) -> np.ndarray:
    """Where it is (nf, 3)."""
    return clip.position[:, clip.skeleton.index(CMU_ROLES[f"hand.{side}"][0])]


def touching(two: Two, clips: tuple[Clip, Clip]) -> np.ndarray:
    """Whether the hands are near each other in the source (nf,)."""
    apart = wrist(clips[0], two.hand) - wrist(clips[1], two.other)
    return np.asarray(np.linalg.norm(apart, axis=1) < NEAR)


def company_of(two: Two, clips: tuple[Clip, Clip]) -> CompanyJob:
    """Both, with a hold if there is to be one."""
    holds = []
    if two.held:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], touching(two, clips).astype(int), [0]]))).reshape(-1, 2)
        start, stop = max(edges.tolist(), key=lambda edge: edge[1] - edge[0])
        bodies = [f"{'left' if side == 'L' else 'right'}_hand" for side in (two.hand, two.other)]
        grab = Grab(bodies[0], start=start / clips[0].rate, end=stop / clips[0].rate)
        holds.append(Hold(0, grab, 1, bodies[1]))
    jobs = tuple(BakeJob(clip, CMU_ROLES, name=name) for clip, name in zip(clips, two[:2], strict=True))
    return CompanyJob(jobs, tuple(holds))


def hands_off(two: Two, clips: tuple[Clip, Clip], results: tuple[BakeResult, BakeResult]) -> list[float]:
    """Median and greatest error of one's wrist, as seen from the other's, mm."""
    count = min(len(result.frames) for result in results)
    rows = np.rint((results[0].frames[:count] - clips[0].first_frame) / clips[0].frames_per_sample).astype(int)
    rows = np.clip(rows, 0, len(clips[0].position) - 1)
    wanted = wrist(clips[1], two.other)[rows] - wrist(clips[0], two.hand)[rows]
    places = [
        result.poses[:count, result.bones.index(CMU_ROLES[f"hand.{side}"][0]), :3, 3]
        for result, side in zip(results, (two.hand, two.other), strict=True)
    ]
    off = 1000.0 * np.linalg.norm(places[1] - places[0] - wanted, axis=1)
    near = touching(two, clips)[rows]
    off = off[near] if near.any() else off
    return [float(np.median(off)), float(off.max())]


def baked(two: Two) -> dict[str, Any]:
    """What became of a pair."""
    clips = clip_of(two.first), clip_of(two.second)
    with tempfile.TemporaryDirectory() as cache:
        found = run_together(company_of(two, clips), cache=cache)
        if any(isinstance(one, str) for one in found):
            return {"why": "; ".join(str(one) for one in found if isinstance(one, str))}
        first, second = (one for one in found if isinstance(one, BakeResult))
        stays = steady(company_of(two, clips), cache)
    pair = first, second
    return figures(pair, stays) | {
        "hands": hands_off(two, clips, pair),
        "nearest": 100.0 * float(np.linalg.norm(wrist(clips[0], two.hand) - wrist(clips[1], two.other), axis=1).min()),
    }


def row(two: Two, found: dict[str, Any]) -> str:
    """A line of the table."""
    begin = f"| {two.first}, {two.second} | {two.what} | {'said' if two.held else 'found'} |"
    if found["why"]:
        return f"{begin} refused: {found['why']} | | | | | | | |"
    return f"{begin} {cells(found)} | {found['nearest']:.1f} |"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures. No pair is begun after HEFT_STUDY_SECONDS."""
    del folder
    journal = Journal("pairs", SOURCES)
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))

    def reached(two: Two) -> bool:
        return time.monotonic() < end or journal.knows(str(two))

    rows = [row(two, journal.find(str(two), lambda two=two: baked(two))) for two in PAIRS if reached(two)]
    missing = len(PAIRS) - len(rows)
    told = f"\n{missing} of {len(PAIRS)} rows were not reached in the time that there was.\n" if missing else ""
    return PAGE.format(rows="\n".join(rows), missing=told)
