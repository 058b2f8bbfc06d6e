# SPDX-License-Identifier: GPL-3.0-or-later
"""Balance control: what the three-link model can take back, what its term adds, captured clips beside look-ahead."""

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, run
from heft.core.control.balance import Balance, Settings
from heft.core.control.track import Track
from heft.core.dynamics import center_of_mass
from heft.core.motion.bvh import read_bvh
from heft.core.motion.gliding import SLIDES
from heft.core.motion.make_reference import make_reference
from heft.core.motion.prepare import prepare
from heft.core.motion.schedule import runs
from heft.core.motion.tracks import point_places
from heft.core.simulation import Push, World
from heft.studies.lib import balance_graph, balance_ground, balance_lean, balance_pause, balance_program
from heft.studies.lib.journal import Journal
from heft.studies.lib.references import walking
from heft.studies.lib.replicas import FALLEN

from tests.core.motion.skeletons import CLIPS as FOLDERS
from tests.core.motion.skeletons import CMU_ROLES, CMU_UNIT, GOOD

DT = 1.0 / 120.0
SHARES = [(share, False) for share in (0.0, 0.1, 0.3, 0.6, 0.9)] + [(share, True) for share in (0.1, 0.6)]  # with arms
CLIPS = ("83_55", "113_01", "20_06", "05_11", "16_18", "39_11", "02_01", "16_08", "69_70")
SILLY = ("136_05", "136_14", "138_06")  # on toes, bent forward; on toes, crouched; a march
DANCE = "05_11"
OTHERWISE: dict[str, dict[str, float]] = {  # settings for the dance
    "style stiffness 300": {"stiffness": 300.0},
    "style stiffness 300, balance 0.6": {"stiffness": 300.0, "balance": 0.6},
    "hips weight 1": {"root_weight": 1.0},
    "contact weight 7": {"contact": 7.0},
}
REPLICAS = 5
NOISE = 0.05  # standard deviation of every start velocity, m/s and rad/s
PUSHED = (2.3, 0.1)  # s: when, and for how long
PUSHES = {
    "150 N forwards": (150.0, 0.0, 0.0),
    "150 N backwards": (-150.0, 0.0, 0.0),
    "50 N left": (0.0, 50.0, 0.0),
    "50 N right": (0.0, -50.0, 0.0),
    "100 N left": (0.0, 100.0, 0.0),
    "100 N right": (0.0, -100.0, 0.0),
}
INTRODUCTION = """# Balance and style

After da Silva 2010, chapter 3, with default settings at 120 Hz on a level floor unless it says otherwise.
Written by `run.py study balance`, which goes on where it was stopped.
"""
MOST = 300.0  # N, of the greatest pushes
LIMITS = """
The strongest push forward and backward that it survives, in steps of 25 N up to 300, by when in half a stride it
comes. The bound is what the pressure under the soles can correct, with footprints as keyed: with w = sqrt(g / h) a
change d of x + v / w grows as d' = w (d - p), and pressure may go by p ahead or back of where the reference has it,
so d <= int w exp(-w t) p dt. Back, pushes end near it: as a walk rolls over its foot pressure is near the heel, and
there is little room.
"""
CAPTURED = (
    f"Medians over {REPLICAS} starts with noise of {NOISE} on every velocity. Look-ahead has its defaults, without "
    "rehearsals. A step is control and simulation together. The weights of contacts and of hips were chosen "
    "on the half turn (39_11) and the squat (69_70) among these, so those two say little of other clips. The last "
    "three are odd ways to walk: on toes and bent forward, on toes and crouched, and marching."
)

DANCED = """
The dance lasts {seconds:.1f} s. With other settings, {replicas} starts each:
"""
LINE = 2  # corners of a sole, between which there is but a line
GLIDING = """
How long they stand on two corners at most, the ball of one foot, which moves over the ground: pressure can only lie on
the line between the two, friction only goes against the way, so nothing stops a deviation, which grows as a pendulum
falls. The dance pivots so; friction against the way alone was put in the program and it fell as before.
"""


def pushed(controller: Balance, force: tuple[float, float, float], begin: float = PUSHED[0]) -> bool:
    """Whether a walk is still up six seconds after a push at the torso."""
    world = World(controller.character, pushes=[Push.constant("torso", force, begin, PUSHED[1])])
    controller.seek()
    world.reset(*controller.reference_state())
    for _ in range(round((begin + 6.0) / DT)):
        world.step(controller)
        if abs(world.q[2] - controller.reference_state()[0][2]) > FALLEN:
            return False
    return True


def shares(journal: Journal) -> list[str]:
    """The table of what balance adds."""
    head = [f"| balance | {' | '.join(PUSHES)} |", f"|---|{'---|' * len(PUSHES)}"]
    names = [f"balance {share:g}{', arms too' if arms else ''}" for share, arms in SHARES]
    rows = {name: partial(_share, *one) for name, one in zip(names, SHARES, strict=True)}
    return head + journal.rows(rows)


def _share(share: float, arms: bool) -> str:
    reference = walking()
    controller = Balance(reference.character, Track.of(reference), Settings(balance=share, arms=arms))
    stands = ["up" if pushed(controller, force) else "falls" for force in PUSHES.values()]
    return f"| {share:g}{', arms too' if arms else ''} | {' | '.join(stands)} |"


def limits(journal: Journal) -> list[str]:
    """The table of the greatest pushes ahead and back, over the quarters of half a stride."""
    head = ["| at, s | ahead N | bound | back N | bound |", "|---|---|---|---|---|"]
    return head + journal.rows({f"greatest push, quarter {n + 1}": partial(_limit, n) for n in range(4)})


def _limit(quarter: int) -> str:
    reference = walking()
    character, track = reference.character, Track.of(reference)
    controller, frames = Balance(character, track), len(track.q)
    height = np.mean([center_of_mass(character, q)[2] for q in reference.q])
    rate = np.sqrt(-character.gravity[2] / height)
    places = point_places(character, reference.q, reference.schedule.points)[1 : frames + 1, :, 0]
    force, carrying = reference.force[:frames, :, 2], reference.carrying[:frames]
    pressure = (force * places).sum(axis=1) / force.sum(axis=1)
    ahead = np.where(carrying, places, -np.inf).max(axis=1) - pressure
    back = pressure - np.where(carrying, places, np.inf).min(axis=1)
    fading = rate * DT * np.exp(-rate * DT * np.arange(3 * frames))
    frame = quarter * frames // 8
    begin, told = (2 * frames + frame) * DT, f"| {frame * DT:.2f} |"
    for sign, room in ((1.0, ahead), (-1.0, back)):
        greatest = 0.0
        while greatest < MOST and pushed(controller, (sign * (greatest + 25.0), 0.0, 0.0), begin):
            greatest += 25.0
        reach = fading @ np.tile(room, 4)[frame : frame + 3 * frames]
        told += f" {greatest:.0f} | {reach * rate * character.total_mass / PUSHED[1]:.0f} |"
    return told


def bakes(path: Path, method: str, settings: dict[str, Any], cache: str) -> list[dict[str, Any]]:
    """The reports of replicas."""
    clip = read_bvh(path, CMU_UNIT)
    return [
        json.loads(
            run(
                BakeJob(clip, CMU_ROLES, method=method, settings=settings, noise=NOISE, seed=seed), cache=cache
            ).report_text
        )
        for seed in range(REPLICAS)
    ]


def studied() -> dict[str, Path]:
    """The captured clips by their names."""
    every = (*GOOD, *sorted((FOLDERS / "cmu-hard").glob("*.bvh")))
    return {path.stem: path for name in (*CLIPS, *SILLY) for path in every if path.name.startswith(name)}


def clips(journal: Journal) -> list[str]:
    """The table of captured clips."""
    head = [
        "| clip | complete | joints ° | root cm | slide mm | step us | prepared s | look-ahead: complete | joints ° |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return head + journal.rows({f"clip {name}": partial(clip, path) for name, path in studied().items()})


def clip(path: Path) -> str:
    """A row: with this control, and with look-ahead."""
    with tempfile.TemporaryDirectory() as cache:
        own = bakes(path, "balance", {}, cache)
        other = bakes(path, "lookahead", {"rehearsals": 0}, cache)
    complete = [sum(report["outcome"] == "completed" for report in some) for some in (own, other)]

    def middle(name: str, reports: list[dict[str, Any]] = own) -> float:
        return float(np.median([report[name] for report in reports]))

    prepared = float(np.median([report["seconds"]["policy"] for report in own]))
    return (
        f"| {path.stem} | {complete[0]}/{REPLICAS} | {middle('joint_rms_deg'):.2f} | "
        f"{100 * middle('root_rms_m'):.1f} | {1000 * middle('max_foot_slide_m'):.1f} | "
        f"{middle('step_us_median'):.0f} | {prepared:.2f} | {complete[1]}/{REPLICAS} | "
        f"{middle('joint_rms_deg', other):.2f} |"
    )


def lines(journal: Journal) -> list[str]:
    """For how long each captured clip stands on a line that glides, and what that lets a deviation grow by."""
    head = ["| clip | longest, s | a deviation grows by |", "|---|---|---|"]
    return head + journal.rows({f"line {name}": partial(line, path) for name, path in studied().items()})


def dances(journal: Journal) -> list[str]:
    """The table of the dance with other settings."""
    path = next(path for name, path in studied().items() if name.startswith(DANCE))
    clip = read_bvh(path, CMU_UNIT)
    rows = {f"dance, {name}": partial(danced, path, name) for name in OTHERWISE}
    told = DANCED.format(seconds=(len(clip.position) - 1) / clip.rate, replicas=REPLICAS)
    return [told, "| settings | complete | seconds up, median |", "|---|---|---|", *journal.rows(rows)]


def danced(path: Path, name: str) -> str:
    """A row."""
    with tempfile.TemporaryDirectory() as cache:
        reports = bakes(path, "balance", OTHERWISE[name], cache)
    complete = sum(report["outcome"] == "completed" for report in reports)
    seconds = np.median([report["upright_seconds"] for report in reports])
    return f"| {name} | {complete}/{REPLICAS} | {seconds:.1f} |"


def line(path: Path) -> str:
    """A row."""
    performance = prepare(read_bvh(path, CMU_UNIT), CMU_ROLES)
    reference = make_reference(performance.plan.character, performance.trajectory).reference
    policy = Balance(reference.character, Track.of(reference)).policy
    moving = np.linalg.norm(policy.glide, axis=2) > SLIDES
    on_line = (policy.loaded & moving).any(axis=1) & (policy.loaded.sum(axis=1) <= LINE)
    longest = max((stop - start for start, stop in runs(np.asarray(on_line))), default=0) / reference.rate
    height = np.mean([center_of_mass(reference.character, q)[2] for q in reference.q[::10]])
    growth = np.exp(longest * np.sqrt(-reference.character.gravity[2] / height))
    return f"| {path.stem} | {longest:.2f} | {growth:.1f} |"


def study(folder: Path) -> str:
    """The page and its pictures."""
    journal = Journal.of("balance")
    page = [INTRODUCTION]
    for name, part in (("how far it may lean", balance_lean.sections), ("the program", balance_program.sections)):
        page += journal.find(name, part) if journal.wants(name) else []
    page += ["", "## What the balance term adds", ""]
    page += [
        f"A walk at 1 m/s is pushed at the torso for {PUSHED[1]} s and followed for six seconds.",
        "",
        *shares(journal),
        LIMITS,
        *limits(journal),
    ]
    if GOOD:
        page += ["", "## Captured clips", ""]
        page += [CAPTURED, "", *clips(journal), GLIDING, *lines(journal), *dances(journal)]
    page += balance_ground.sections(folder, journal)
    page += balance_pause.sections(journal)
    if GOOD and journal.wants("action graph"):
        page += balance_graph.sections(folder)
    return "\n".join(page) + "\n"
