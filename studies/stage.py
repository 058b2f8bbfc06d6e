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
WALKS, EACH = 4, 150.0  # that are steered with each character, and s of each: ten minutes together
SPEEDS, TURNS, WAITS = (0.3, 0.9), (15.0, 45.0, 90.0, 180.0), (3.0, 8.0)  # m/s, degrees, s
STEERED = f"""
## Steered

**Walk** from the first pose of the same four, at a person's strength, {WALKS} walks of {EACH:.0f} s each. Every
{WAITS[0]:.0f} to {WAITS[1]:.0f} s it is told to turn by 15, 45, 90 or 180 degrees to either side, and another speed
from {SPEEDS[0]} to {SPEEDS[1]} m/s.

| character | walks that stay up | minutes until it fell, or to the end |
|---|---|---|
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


class Steersman:
    """Says where to walk, and how fast, by the dice."""

    def __init__(self, seed: int, rate: float) -> None:
        dice = np.random.default_rng(seed)
        self._state, self._said = -1, {}
        heading, seconds = 0.0, WAITS[0]
        while seconds < EACH:
            heading += np.radians(dice.choice(TURNS) * dice.choice((-1.0, 1.0)))
            self._said[round(seconds * rate)] = inputs.Command(0.0, float(dice.uniform(*SPEEDS)), 0.0, float(heading))
            seconds += dice.uniform(*WAITS)
        self._end = round(EACH * rate)

    def __call__(self, _: float) -> list[inputs.Input]:
        """What is said before a step."""
        self._state += 1
        if self._state >= self._end:
            return [inputs.End()]
        return [self._said[self._state]] if self._state in self._said else []


def steered(name: str, job: BakeJob, cache: str) -> str:
    """A row."""
    job = replace(job, method="gait", settings={}, optimise=False, rate=300.0, recovery=False, strength=1.0)
    walks = [play(job, Steersman(seed, job.rate), clock=None, cache=cache).simulation for seed in range(WALKS)]
    minutes = ", ".join(f"{one.recording.steps / job.rate / 60.0:.1f}" for one in walks)
    return f"| {name} | {sum(one.lost is None for one in walks)} of {WALKS} | {minutes} |"


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
        steering = [steered(name, job, cache) for name, job in jobs().items()]
    return "\n".join([INTRODUCTION, *HEAD, *rows, STEERED.rstrip(), *steering, ""])
