# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes on the stage with random inputs: whether they bake to the same bits, and how soon a pull is felt."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from heft.core import BakeJob, Course
from heft.core.live import inputs
from heft.core.live.playing import Kit, play
from heft.core.worker import tasks
from heft.core.worker.messages import Message
from heft.core.worker.worker import Worker
from heft.studies.lib.journal import STEERED, Journal

from studies.paths import jobs
from tests.core.live.directing import BODIES, Anybody, baked
from tools.environment import ROOT

TAKES = 25  # of each walk by each method
STEPS = {"lookahead": 300, "steering": 600}
TURNS, SPEEDS = 0.005, (0.0, 0.7, 1.0, 1.3)  # a step that another command is given in; m/s
LABELS = {"lookahead": "Look Ahead", "steering": "Steer"}
STRONG = (500.0, 50.0)  # N that the mouse pulls with at most, in turn
SECONDS = 10.0  # that are played in real time
EVERY = 1.0 / 60.0  # s between moves of the mouse
SOURCES = (ROOT / "core", Path(__file__))
INTRODUCTION = f"""# On the stage

Four walks on the stage, {TAKES} takes of each by each method, in which somebody pulls, shoves and throws balls at
random for {STEPS["lookahead"]} steps under Look Ahead and {STEPS["steering"]} under Steer, which is told headings and
speeds at random as well. The mouse pulls with {STRONG[0]:.0f} N at most in one take and {STRONG[1]:.0f} N in the next;
each take is then baked, and positions and torques of every step compared. Then each walk is played for {SECONDS:.0f} s
in the worker, as Blender has it, while the mouse pulls a hand and moves {1.0 / EVERY:.0f} times a second. Without
recovery, as all takes are. Written by `run.py study stage`; a study that is stopped goes on where it was, and
`HEFT_STUDY_SECONDS` says when it begins nothing more.

- same bits: takes whose bake has the same positions and torques in every step
- upright: takes that did not fall
- felt: milliseconds from a move of the mouse to the step that feels it
- late: by how much playing took longer than the clock
"""
HEAD = [
    "| walk | method | same bits | pushes | balls | upright | shown a second | felt, median | 95 % | most | late, s |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
]


class Leader(Anybody):
    """Tells headings and speeds by the dice, too."""

    def __call__(self, now: Any) -> list[inputs.Input]:
        """What is done before the next step."""
        done: list[inputs.Input] = super().__call__(now)
        if self._dice.random() < TURNS:
            heading = float(self._dice.uniform(-np.pi, np.pi))
            done.append(inputs.Command(0.0, float(self._dice.choice(SPEEDS)), 0.0, heading))
        return done


def same(job: BakeJob, seed: int, cache: str) -> tuple[bool, int, int, bool]:
    """Whether a take bakes to the same bits; its pushes and balls, and whether it stayed up."""
    somebody = Leader if job.method == "steering" else Anybody
    near = np.append(job.clip.position[0, 0, :2], 1.0)
    kit = Kit(strongest=STRONG[seed % 2])
    does = somebody(seed, STEPS[job.method], near, BODIES, shove=0.1 * kit.strongest)
    found = play(job, does, kit=kit, clock=None, cache=cache)
    again, live = baked(job, found.take, cache).recording, found.simulation.recording
    count = found.simulation.character.nq + 7 * len(found.take.balls)
    equal = again.steps == live.steps and np.array_equal(again.q[:, :count], live.q[:, :count])
    equal = equal and np.array_equal(again.torque, live.torque)
    return equal, len(found.take.pushes), len(found.take.balls), found.simulation.lost is None


def in_real_time(job: BakeJob, worker: Worker, cache: str) -> tuple[float, np.ndarray, float]:
    """Pictures a second, how long each move took to be felt, s, and by how much it ran late, s."""
    values, arrays = tasks.request(job, cache)
    worker.send("stage", {**values, "kit": {"strongest": 40.0}}, arrays)
    until(worker, "ready")
    begun, moves, pictures = time.monotonic(), 0, 0
    place = np.append(job.clip.position[0, 0, :2], 1.0)
    done: Message | None = None  # who falls ends the take
    while done is None and time.monotonic() < begun + SECONDS:
        now = time.monotonic() - begun
        if now > moves * EVERY:
            x, y, z = (place + 0.3 * np.array([np.sin(2.0 * now), np.cos(2.0 * now), 1.0])).tolist()
            does = inputs.Move(inputs.now(), (x, y, z))
            if moves == 0:
                does = inputs.Hold(inputs.now(), "left_hand", (0.0, 0.0, 0.0), (x, y, z))
            worker.direct(inputs.to_values(does))
            moves += 1
        said = worker.wait(max(moves * EVERY - (time.monotonic() - begun), 1e-4))
        pictures += sum(message.kind == "picture" for message in said)
        done = next((message for message in said if message.kind == "done"), None)
    played = time.monotonic() - begun
    if done is None:
        worker.direct(inputs.to_values(inputs.End()))
        done = until(worker, "done")
    return pictures / played, np.array(done.values["delays"]), float(done.values["slipped"])


def until(worker: Worker, kind: str) -> Message:
    """The first message of a kind; RuntimeError where the worker says that it cannot."""
    while True:
        for message in worker.wait(60.0):
            if message.kind == kind:
                return message
            if message.kind in {"failed", "ended"}:
                raise RuntimeError(message.values["why"])


def job_for(name: str, method: str) -> BakeJob:
    """The walk on the stage."""
    job = replace(jobs()[name], recovery=False, method=method, settings={})
    if method == "steering":
        return replace(job, loop=True, scene=replace(job.scene, course=Course.straight(1.0)))
    return job


def take(name: str, method: str, seed: int) -> list[Any]:
    """What came of one."""
    return list(same(job_for(name, method), 1000 * list(jobs()).index(name) + seed, str(STEERED)))


def live(name: str, method: str) -> list[float]:
    """Pictures a second, delays in ms that half, 95 % and all moves have at most, and seconds late."""
    worker = Worker(None)
    pictures, delays, late = in_real_time(job_for(name, method), worker, str(STEERED))
    worker.stop()
    return [pictures, *(1e3 * np.percentile(delays, (50, 95, 100))).tolist(), late]


def row(name: str, method: str, takes: list[Any], played: list[float] | None) -> str:
    """A line of the table."""
    equal, pushes, balls, up = (sum(one[k] for one in takes) for k in range(4))
    line = f"| {name} | {LABELS[method]} | {equal} of {len(takes)} | {pushes} | {balls} | {up} | "
    if played is None:
        return line + "| " * 4 + "|"
    pictures, median, most, worst, late = played
    return line + f"{pictures:.0f} | {median:.1f} | {most:.1f} | {worst:.1f} | {late:.2f} |"


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    end = time.monotonic() + float(os.environ.get("HEFT_STUDY_SECONDS", "inf"))
    journal = Journal("stage", SOURCES)
    kinds = [(name, method) for name in jobs() for method in STEPS]
    # what is made for a walk's first, others find
    journal.find_all(_questions(kinds, range(1)), end)
    asked = _questions(kinds, range(TAKES))
    answers = dict(zip(asked, journal.find_all(asked, end), strict=True))
    rows = []
    for name, method in kinds:
        known = [answers[question] for question in _questions([(name, method)], range(TAKES))]
        takes, question, played = [one for one in known if one is not None], f"{name} {method} live", None
        if time.monotonic() < end or journal.knows(question):  # alone, for it counts time
            played = journal.find(question, partial(live, name, method))
        rows += [row(name, method, takes, played)] if takes else []
    page = [INTRODUCTION, *HEAD, *rows]
    left = sum(answer is None for answer in answers.values())
    if left:
        page += ["", f"{left} takes were not reached in the time that there was."]
    return "\n".join(page) + "\n"


def _questions(kinds: Sequence[tuple[str, str]], seeds: Iterable[int]) -> dict[str, Callable[[], list[Any]]]:
    return {
        f"{name} {method} take {seed}": partial(take, name, method, seed) for name, method in kinds for seed in seeds
    }
