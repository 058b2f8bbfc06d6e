# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes on the stage with random inputs: whether they bake to the same bits, and how soon a pull is felt."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from heft.core import BakeJob
from heft.core.live import inputs
from heft.core.live.playing import Kit, play
from heft.core.worker import tasks
from heft.core.worker.messages import Message
from heft.core.worker.worker import Worker

from studies.paths import jobs
from tests.core.live.directing import BODIES, Anybody, baked

TAKES = 10  # of each walk
STEPS = 300
STRONG = (500.0, 50.0)  # N that the mouse pulls with at most, in turn
SECONDS = 10.0  # that are played in real time
EVERY = 1.0 / 60.0  # s between moves of the mouse
INTRODUCTION = f"""# On the stage

Four walks on the stage, {TAKES} takes of each, in which somebody pulls, shoves and throws balls at random for
{STEPS} steps, with {STRONG[0]:.0f} N at most in one and {STRONG[1]:.0f} N in the next; each take is then baked, and
positions and torques of every step compared. Then each walk is played for {SECONDS:.0f} s in the worker, as Blender has
it, while the mouse pulls a hand and moves {1.0 / EVERY:.0f} times a second. Without recovery, as all takes are. Written
by `run.py study stage`.

- same bits: takes whose bake has the same positions and torques in every step
- upright: takes that did not fall
- felt: milliseconds from a move of the mouse to the step that feels it
- late: by how much playing took longer than the clock
"""
HEAD = [
    "| walk | same bits | pushes | balls | upright | pictures a second | felt, median | 95 % | at most | late, s |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def same(job: BakeJob, seed: int, cache: str) -> tuple[bool, int, int, bool]:
    """Whether a take bakes to the same bits; its pushes and balls, and whether it stayed up."""
    near = np.append(job.clip.position[0, 0, :2], 1.0)
    kit = Kit(strongest=STRONG[seed % 2])
    found = play(job, Anybody(seed, STEPS, near, BODIES, shove=0.1 * kit.strongest), kit=kit, clock=None, cache=cache)
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


def study(folder: Path) -> str:
    """The page; this study leaves no pictures."""
    del folder
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        worker = Worker(None)
        for number, (name, job) in enumerate(jobs().items()):
            job = replace(job, recovery=False)  # noqa: PLW2901
            takes = [same(job, 1000 * number + seed, cache) for seed in range(TAKES)]
            pictures, delays, late = in_real_time(job, worker, cache)
            median, most, worst = 1e3 * np.percentile(delays, (50, 95, 100))
            rows.append(
                f"| {name} | {sum(one[0] for one in takes)} of {TAKES} | {sum(one[1] for one in takes)} | "
                f"{sum(one[2] for one in takes)} | {sum(one[3] for one in takes)} | {pictures:.0f} | {median:.1f} | "
                f"{most:.1f} | {worst:.1f} | {late:.2f} |"
            )
        worker.stop()
    return "\n".join([INTRODUCTION, *HEAD, *rows, ""])
