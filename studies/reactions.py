# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on captured motions with and without recovery, and falls: who stays up, what it takes, what is seen."""

import os
import time
from collections.abc import Iterator
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
from tools.environment import ROOT


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
TUNED = ("02_01", "79_84", "132_20", "120_08")
BRIEF = 0.1  # s
PHASES = 4  # in the motion: each direction is pushed in one, each of them twice
SECONDS = 4.0  # that it is followed from the push on, or to the motion's end
NEAR = 0.08  # m: legs that come nearer may touch
BACK = 3.0  # degrees
FALLS = 100
HARD = (500.0, 2000.0)  # N, of pushes that fell
STILL = 0.3  # rad/s or m/s of the fastest joint
PRESSING = 20.0  # N
SOURCES = [ROOT / "core" / "control" / "recovery", ROOT / "core" / "control" / "lookahead", Path(__file__)]

INTRODUCTION = f"""# Reactions

Captured motions under look-ahead control with default settings and strength start with noise of {NOISE:g} on every
velocity and are pushed at the torso, walks after one cycle: to {DIRECTIONS} sides, spread over {PHASES} phases, once
each. {UNFORESEEN:g} s after the push, while a plan is followed, the same noise is added again, so what comes is not
the future that was rehearsed. Each is followed for {SECONDS:g} s, or to the end of a motion that does not repeat.
*Up* counts pushes after which it has not fallen, without and with recovery at default looseness. Torso and hands:
median of the largest deviation from the motion within {SEEN:g} s. Back: those whose torso is within {BACK:g} degrees of
the motion at the end. Steps were tuned on {", ".join(TUNED)} alone. Written by `run.py study reactions`.

| motion, m/s | push | up without | up with | torque, N m: median, most | torso, degrees | hand, cm | back | legs within {100 * NEAR:g} cm | s of planning: mean, most |
|---|---|---|---|---|---|---|---|---|---|
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


def rows() -> Iterator[tuple[Motion, float, float]]:
    """Motion, newtons and seconds; if there is no time for all, those that come first say most."""
    yield from ((motion, 300.0, 0.3) for motion in WALKS)
    yield from ((motion, 300.0, BRIEF) for motion in WALKS)
    yield from ((motion, 200.0, BRIEF) for motion in OTHERS)
    yield from ((motion, 400.0, BRIEF) for motion in WALKS)
    yield from ((motion, 600.0, BRIEF) for motion in WALKS)
    yield from ((motion, 40.0, 1.0) for motion in WALKS)
    yield from ((motion, 200.0, BRIEF) for motion in WALKS)


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


def outcomes(motion: Motion, newtons: float, seconds: float, effort: int) -> list[Outcome]:
    """Of a push to each side."""
    subject = pushed(motion)
    return [subject.push(newtons, k, k % PHASES, effort, natural(), seconds) for k in range(DIRECTIONS)]


def line(motion: Motion, newtons: float, seconds: float) -> str:
    """A row of the page."""
    without = sum(one.up for one in outcomes(motion, newtons, seconds, 0))
    found = outcomes(motion, newtons, seconds, RECOVERY_EFFORT)
    up = [one for one in found if one.up]
    peaks, planned = [one.peak for one in up] or [0.0], [one.planning for one in found]
    torso, hand = ([getattr(one, name) for one in up] or [0.0] for name in ("torso", "hand"))
    return (
        f"| {motion.what}, {motion.clip}, {pushed(motion).speed:.1f} | {newtons:g} N for {seconds:g} s "
        f"| {without} of {len(found)} | {len(up)} of {len(found)} | {np.median(peaks):.0f}, {max(peaks):.0f} "
        f"| {np.median(torso):.1f} | {100 * np.median(hand):.0f} | {sum(one.back < BACK for one in up)} of {len(up)} "
        f"| {sum(one.legs < NEAR for one in up)} of {len(up)} | {np.mean(planned):.1f}, {max(planned):.1f} |"
    )


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


def falls(walk: Pushed) -> Iterator[str]:
    """A section."""
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
    yield from ("", "## Falls", "")
    yield (
        f"{WALKS[0].clip} without recovery, {FALLS} pushes of {HARD[0]:g} to {HARD[1]:g} N for 0.1 to 0.2 s at random "
        f"heights, directions and moments: {len(found)} fall, and are watched for {AFTER_FALL:g} s from the start of "
        f"the fall."
    )
    yield from ("", "| | median | most |", "|---|---|---|")
    yield f"| deepest contact, mm | {1e3 * np.median(depth):.1f} | {1e3 * depth.max():.1f} |"
    yield f"| fastest joint, rad/s | {np.median(fastest):.0f} | {fastest.max():.0f} |"
    yield f"| the same in the last tenth of a second | {np.median(end):.2f} | {end.max():.2f} |"
    yield f"| torque by the joint's limit | {np.median(share):.2f} | {share.max():.9f} |"
    yield f"| force on the head, kN | {1e-3 * np.median(head):.1f} | {1e-3 * head.max():.1f} |"
    yield ""
    yield (
        f"{(depth > 0.01).sum()} are deeper than 1 cm, {(end < STILL).sum()} at rest (below {STILL:g}) at the end, and "
        f"in {hands.sum()} hands or forearms land before the head."
    )


def study(folder: Path) -> str:
    """The page; what was found already is kept in out/studies. No row is begun after HEFT_STUDY_SECONDS."""
    del folder
    if not GOOD:
        return f"# Reactions\n\nThe clips are not at {CLIPS}.\n"
    journal, wanted = Journal("reactions", SOURCES), list(rows())
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    lines = []
    for row in wanted:
        question = f"{row[0]} {row[1:]}"
        if time.monotonic() < end or journal.knows(question):
            lines.append(journal.find(question, partial(line, *row)))
    page = [INTRODUCTION.rstrip("\n"), *lines]
    if len(lines) < len(wanted):
        page += ["", f"{len(wanted) - len(lines)} of {len(wanted)} rows were not reached in the time that there was."]
    if time.monotonic() < end or journal.knows("falls"):
        page += journal.find("falls", lambda: list(falls(pushed(WALKS[0]))))
    page.append(BESIDE.rstrip("\n"))
    return "\n".join(page) + "\n"
