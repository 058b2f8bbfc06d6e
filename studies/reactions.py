# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on captured motions with and without recovery, and falls: who stays up, what it takes, what is seen."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core.contact.terrain import Plane
from heft.core.control.loop import AFTER_FALL, follow
from heft.core.job.job import RECOVERY_EFFORT
from heft.core.report import metrics
from heft.core.simulation import Push
from heft.core.simulation.looseness import natural
from heft.core.simulation.outcome import Simulation
from heft.core.simulation.scene import Scene
from heft.studies.lib.journal import Journal
from heft.studies.lib.pushed import DIRECTIONS, NOISE, SEEN, UNFORESEEN, Outcome, Pushed, captured

from tests.core.motion.skeletons import CLIPS, GOOD, cmu


class Motion(NamedTuple):
    """What is pushed."""

    what: str
    clip: str
    loop: bool = False
    slope: float = 0.0  # degrees that the ground rises ahead


WALKS = (
    Motion("walk", "02_01", True),
    Motion("slow walk", "07_04", True),
    Motion("long steps", "08_05", True),
    Motion("fast walk", "132_20", True),
    Motion("march", "20_06", True),
    Motion("sneak", "120_08", True),
)
OTHERS = (
    Motion("idle, combs its hair", "79_84"),
    Motion("idle, eats", "79_12"),
    Motion("squats", "22_14"),
    Motion("lifts a box", "115_06"),
    Motion("run", "09_02", True),
    Motion("run", "35_17", True),
    Motion("turns by 90 degrees", "16_18"),
    Motion("turns by 180 degrees", "39_11"),
    Motion("walk up 5 degrees", "02_01", True, 5.0),
    Motion("walk down 5 degrees", "02_01", True, -5.0),
    Motion("walk up stairs", "83_28"),
)
RUNS = tuple(motion for motion in OTHERS if motion.what == "run")
SLOWER = tuple(motion for motion in OTHERS if motion.what != "run")
TUNED = ("02_01", "79_84", "132_20", "120_08")
BRIEF = 0.1  # s
PHASES = 4  # in the motion
TURNS = 16  # until every side was pushed in every phase
SECONDS = 4.0  # that it is followed from the push on, or to the motion's end
NEAR = 0.08  # m: legs that come nearer may touch
BACK = 3.0  # degrees
FROM_IT = 0.05  # m
EFFORT = RECOVERY_EFFORT
FALLS = 100
HARD = (500.0, 2000.0)  # N, of pushes that fell
STILL = 0.3  # rad/s or m/s of the fastest joint
PRESSING = 20.0  # N
# What is asked for: motions, pushes, and how many of a hundred are to stay up.
ASKED = (
    ("walks, 200 and 300 N for 0.1 s", WALKS, ((200.0, BRIEF), (300.0, BRIEF)), 99),
    ("walks, 400 N for 0.1 s", WALKS, ((400.0, BRIEF),), 97),
    ("walks, 600 N for 0.1 s", WALKS, ((600.0, BRIEF),), 80),
    ("walks, 300 N for 0.3 s", WALKS, ((300.0, 0.3),), 90),
    ("walks, 40 N for 1 s", WALKS, ((40.0, 1.0),), 99),
    ("runs, 200 N for 0.1 s", RUNS, ((200.0, BRIEF),), 95),
    ("idles, squats, turns, stairs and slopes, 200 N for 0.1 s", SLOWER, ((200.0, BRIEF),), 95),
)

INTRODUCTION = f"""# Reactions

Captured motions under look-ahead control with default settings and strength start with noise of {NOISE:g} on every
velocity and are pushed at the torso, walks after one cycle: to {DIRECTIONS} sides in {PHASES} phases. The counts say
how many of these pushes have been tried: all motions are pushed to two opposite sides in one phase, then to two others
in the next, and so on. {UNFORESEEN:g} s after the push, while a plan is followed, the same noise is added again, so
what comes is not the future that was rehearsed. Each is followed for {SECONDS:g} s, or to the end of a motion that does
not repeat. *Up* counts pushes after which it has not fallen, without and with recovery at default looseness. Torso and
hands: median of the largest deviation from the motion within {SEEN:g} s. Back: those whose torso is within {BACK:g}
degrees of the motion at the end. On it: those whose root is within {100 * FROM_IT:g} cm of the motion then, once that
has gone on from a new place. Legs meet each other and do not pass through; near is an axis within {100 * NEAR:g} cm of
the other leg's. Steps were tuned on {", ".join(TUNED)} alone. Written by `run.py study reactions`.

| motion | push | up without | up with | torque, N m: median, most | torso, degrees | hand, cm | back | on it | legs near | s of planning: mean, most |
|---|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501

BESIDE = """
## Beside people

Searched for in public abstracts; none gives pushes of this size on standing people with the steps that they took.

- Ten young people on a treadmill, pushed aside for 0.1 s in various phases (A. L. Hof, S. M. Vermerris, W. A. Gjaltema,
  "Balance responses to lateral perturbations in human treadmill walking", Journal of Experimental Biology 213, 2010):
  the next foot comes down a constant distance outward of the extrapolated centre of mass, which is the rule that steps
  here are planned by. Steps move by up to 20 cm, take at least 0.3 s, and all is over within two steps. Here a plan is
  three steps, and the first may move by 70 cm: harder pushes are answered, with longer steps than those people took.
- Younger adults pulled aside at the waist mostly take one side step (J. Borrelli et al., "Untangling biomechanical
  differences in perturbation-induced stepping strategies", Journal of Biomechanics 114, 2020). Here the other foot
  always follows, so that the feet stand to each other as the action has them.
- Who is released from a lean plans the second step before the first foot has left the ground (abstract at
  wbldb.lievers.net/10344544), as is done here.
- The fastest answer in the first study, by the ankle, takes 0.2 s. Here the plan begins as the push ends.
"""


# Each motion's pushes, by newtons and seconds.
PUSHES = {
    **dict.fromkeys(WALKS, ((300.0, 0.3), (300.0, BRIEF), (400.0, BRIEF), (600.0, BRIEF), (40.0, 1.0), (200.0, BRIEF))),
    **dict.fromkeys(OTHERS, ((200.0, BRIEF),)),
}


class Cell(NamedTuple):
    """A push of a motion, as it went without recovery and with it."""

    newtons: float
    seconds: float
    direction: int
    phase: int
    stays: bool  # without
    found: Outcome  # with


def turn(motion: Motion, number: int) -> list[Cell]:
    """Each of a motion's pushes to two opposite sides; a fourth of all turns takes every side once."""
    subject, around = pushed(motion), DIRECTIONS // 2
    phase = (number + number // around) % PHASES
    cells = []
    for newtons, seconds in PUSHES[motion]:
        for direction in (number % around, number % around + around):
            push = partial(subject.push, newtons, direction, phase, seconds=seconds)
            stays = push(effort=0, looseness=natural()).up
            cells.append(Cell(newtons, seconds, direction, phase, stays, push(effort=EFFORT, looseness=natural())))
    return cells


@cache
def pushed(motion: Motion) -> Pushed:
    """The motion, ready to be pushed."""
    surfaces = []
    if motion.slope:
        clip = cmu(motion.clip)
        way = clip.position[-1, 0] - clip.position[1, 0]
        level, up = way[:2] / np.hypot(*way[:2]), np.radians(motion.slope)
        normal = (-np.sin(up) * level[0], -np.sin(up) * level[1], np.cos(up))
        x, y, _ = clip.position[1, 0]
        surfaces = [Plane(point=(float(x), float(y), 0.0), normal=tuple(float(n) for n in normal))]
    job = captured(motion.clip, loop=motion.loop, surfaces=surfaces, seconds=8.0 if motion.loop else None)
    return Pushed.of(job, PHASES, SECONDS)


def line(motion: Motion, cells: Sequence[Cell]) -> str:
    """A row of the page, of one kind of push."""
    found = [cell.found for cell in cells]
    up = [one for one in found if one.up]
    peaks, planned = [one.peak for one in up] or [0.0], [one.planning for one in found]
    torso, hand = ([getattr(one, name) for one in up] or [0.0] for name in ("torso", "hand"))
    return (
        f"| {motion.what}, {motion.clip} | {cells[0].newtons:g} N for {cells[0].seconds:g} s "
        f"| {sum(cell.stays for cell in cells)} of {len(cells)} | {len(up)} of {len(found)} "
        f"| {np.median(peaks):.0f}, {max(peaks):.0f} "
        f"| {np.median(torso):.1f} | {100 * np.median(hand):.0f} | {sum(one.back < BACK for one in up)} of {len(up)} "
        f"| {sum(one.away < FROM_IT for one in up)} of {len(up)} "
        f"| {sum(one.legs < NEAR for one in up)} of {len(up)} | {np.mean(planned):.1f}, {max(planned):.1f} |"
    )


def summary(cells: Mapping[Motion, Sequence[Cell]]) -> Iterator[str]:
    """What all together have reached."""
    yield from ("", "## All together", "", "| | up | asked |", "|---|---|---|")
    for what, motions, pushes, asked in ASKED:
        chosen = [
            cell.found.up
            for motion in motions
            for cell in cells.get(motion, ())
            if (cell.newtons, cell.seconds) in pushes
        ]
        if chosen:
            share = 100.0 * sum(chosen) / len(chosen)
            yield f"| {what} | {sum(chosen)} of {len(chosen)}: {share:.0f} % | {asked} % |"
    fell = [
        f"{motion.what} {motion.clip}, {one.newtons:g} N for {one.seconds:g} s, side {one.direction}, phase {one.phase}"
        for motion, those in cells.items()
        for one in those
        if not one.found.up
    ]
    yield from ("", "Not up: " + ("; ".join(fell) if fell else "none") + ".")


class Fall(NamedTuple):
    """How one went."""

    depth: float  # m, the deepest contact
    end: float  # rad/s or m/s, of the fastest joint when it is watched no more
    fastest: float  # rad/s or m/s
    share: float  # of the joints' limits
    on_hands: bool  # hands or forearms land before the head
    head: float  # N


def fall_of(walk: Pushed, simulation: Simulation) -> Fall:
    """Measured from the first state of the loss."""
    recording, first = simulation.recording, simulation.lost or 0
    names = [body.name for body in walk.reference.character.bodies]
    landed: dict[str, int] = {}
    head = 0.0
    for step in range(first, recording.steps):
        for name, wrench in zip(names, recording.wrench[step], strict=True):
            force = float(np.linalg.norm(wrench[:3]))
            if force > PRESSING:
                landed.setdefault(name, step)
            head = max(head, force) if name == "head" else head
    arms = min((step for name, step in landed.items() if name.endswith(("_hand", "_forearm"))), default=recording.steps)
    speed = np.abs(recording.v[first:]).max(axis=1)
    gaps = recording.contact_gap[recording.contact_start[first] :]
    return Fall(
        depth=max(0.0, -float(gaps.min(initial=0.0))),
        end=float(speed[-round(0.1 * recording.rate) :].max()),
        fastest=float(speed.max()),
        share=float(metrics.torque_shares(simulation).max()),
        on_hands=arms <= landed.get("head", recording.steps),
        head=head,
    )


def falls(motion: Motion) -> list[str]:
    """A section."""
    walk = pushed(motion)
    random, found = np.random.default_rng(0), []
    for _ in range(FALLS):
        newtons, angle, up = random.uniform(*HARD), random.uniform(0.0, 2.0 * np.pi), random.uniform(-0.2, 0.2)
        force = (newtons * np.cos(angle), newtons * np.sin(angle), newtons * up)
        start, seconds, height = random.uniform(0.1, 1.1), random.uniform(0.1, 0.2), random.uniform(0.0, 0.3)
        push = Push.constant("torso", force, start, seconds, (0.0, 0.0, height))
        stage = replace(walk.stage, scene=Scene(pushes=(push,)), seconds=6.0)
        walk.controller.seek()
        simulation = follow(walk.controller, stage.world(), stage, lambda *_: True)
        if simulation.lost is not None:
            found.append(fall_of(walk, simulation))
    depth, end, fastest, share, hands, head = (np.array(column) for column in zip(*found, strict=True))
    return [
        "",
        "## Falls",
        "",
        (
            f"{motion.clip} without recovery, {FALLS} pushes of {HARD[0]:g} to {HARD[1]:g} N for 0.1 to 0.2 s at "
            f"random heights, directions and moments: {len(found)} fall, and are watched for {AFTER_FALL:g} s from "
            f"the start of the fall. More of them, on other grounds: [falls](falls.md)."
        ),
        "",
        "| | median | most |",
        "|---|---|---|",
        f"| deepest contact, mm | {1e3 * np.median(depth):.1f} | {1e3 * depth.max():.1f} |",
        f"| fastest joint, rad/s | {np.median(fastest):.0f} | {fastest.max():.0f} |",
        f"| the same in the last tenth of a second | {np.median(end):.2f} | {end.max():.2f} |",
        f"| torque by the joint's limit | {np.median(share):.2f} | {share.max():.9f} |",
        f"| force on the head, kN | {1e-3 * np.median(head):.1f} | {1e-3 * head.max():.1f} |",
        "",
        (
            f"{(depth > 0.01).sum()} are deeper than 1 cm, {(end < STILL).sum()} at rest (below {STILL:g}) at the end, "
            f"and in {hands.sum()} hands or forearms land before the head."
        ),
    ]


def study(folder: Path) -> str:
    """The page; what was found already is kept in out/studies. Nothing is begun after HEFT_STUDY_SECONDS.

    A first turn of all motions comes first, and so on, so that the page says something of each at any time.
    """
    del folder
    if not GOOD:
        return f"# Reactions\n\nThe clips are not at {CLIPS}.\n"
    journal = Journal.of("reactions")
    until = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    wanted = [(motion, number) for number in range(TURNS) for motion in PUSHES]
    questions = {f"{motion} {number}": partial(turn, motion, number) for motion, number in wanted}
    questions["falls"] = partial(falls, WALKS[0])
    answers = journal.find_all(questions, until)
    cells: dict[Motion, list[Cell]] = {}
    for (motion, _), answer in zip(wanted, answers, strict=False):
        for one in answer or ():
            *how, found = one
            cells.setdefault(motion, []).append(Cell(*how, Outcome(*found)))
    page = [INTRODUCTION.rstrip("\n")]
    for motion, those in cells.items():
        page += [line(motion, [cell for cell in those if cell[:2] == push]) for push in PUSHES[motion]]
    page += [*summary(cells), *(answers[-1] or ()), BESIDE.rstrip("\n")]
    return "\n".join(page) + "\n"
