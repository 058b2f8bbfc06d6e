# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits at random, as an animator makes them, baked live: by one worker that keeps what it made, some left midway."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from heft.core.job import BakeJob, BakeResult, Scene
from heft.core.motion import quaternions
from heft.core.simulation import Push
from heft.core.worker import tasks
from heft.core.worker.messages import Message
from heft.core.worker.worker import Worker

from tests.core.job.golden import heading, kept

FRAMES = 36.0  # of the walk's, that are baked
LEFT = 0.3  # of the edits, that the next one overtakes
PATIENCE = 600.0  # s


@dataclass(frozen=True)
class Ended:
    """An edit that was not overtaken."""

    number: int
    what: str
    job: BakeJob
    result: BakeResult


def walk() -> BakeJob:
    """A second and a half of a walk, with a push."""
    made = kept("walk")
    first = made.frames[0]
    body = replace(made, help="as_needed", recovery=True, frame_start=first, frame_end=first + FRAMES, seconds=None)
    return replace(body, scene=Scene(pushes=(pushed(0.5, 60.0, 0.0),)))


def pushed(start: float, newtons: float, aside: float) -> Push:
    """At the torso for a tenth of a second, so far to the left of the way, rad."""
    angle = heading() + aside
    return Push.constant("torso", (newtons * np.cos(angle), newtons * np.sin(angle), 0.0), start, 0.1)


def edited(job: BakeJob, rng: np.random.Generator) -> tuple[BakeJob, str]:
    """The job with one thing changed, and what that is."""
    what = str(rng.choice(["key", "key", "push", "push", "friction", "looseness", "recovery", "range", "undo"]))
    if what == "key":  # a bone is turned around a frame, by up to some degrees
        clip = job.clip
        bone, frame = int(rng.integers(1, len(clip.skeleton.names))), int(rng.integers(len(clip.position)))
        share = np.exp(-0.5 * ((np.arange(len(clip.position)) - frame) / 4.0) ** 2)
        turn = quaternions.exp(share[:, None] * rng.normal(scale=0.03, size=3))
        orientation = clip.orientation.copy()
        orientation[:, bone] = quaternions.multiply(turn, orientation[:, bone])
        return replace(job, clip=replace(clip, orientation=orientation)), what
    if what == "push":
        push = pushed(rng.uniform(0.2, 0.9), rng.uniform(0.0, 90.0), rng.uniform(-np.pi, np.pi))
        return replace(job, scene=replace(job.scene, pushes=(push,))), what
    if what == "friction":
        return replace(job, scene=replace(job.scene, friction=float(rng.uniform(0.7, 1.0)))), what
    if what == "looseness":
        return replace(job, looseness=dict.fromkeys(job.looseness, float(rng.uniform(0.0, 1.0)))), what
    if what == "recovery":
        return replace(job, recovery=not job.recovery), what
    if what == "range":
        first = kept("walk").frames[0]
        return replace(job, frame_end=first + float(rng.integers(FRAMES // 2, FRAMES + 1))), what
    return walk(), what


def live(worker: Worker, cache: str, count: int, seed: int) -> Iterator[Ended]:
    """Bake after each of so many edits, and yield those that end; ValueError where one cannot be baked."""
    rng = np.random.default_rng(seed)
    job = walk()
    for number in range(count):
        job, what = edited(job, rng)
        worker.overtake()
        worker.send("bake", *tasks.request(job, cache, "all"))
        if rng.random() < LEFT and number < count - 1:
            worker.wait(float(rng.uniform(0.0, 0.5)))  # the next edit comes with its first word, or before
            continue
        message = _last(worker)
        if message.kind != "done":
            raise ValueError(f"Edit {number} ({what}): {message.values['why']}")
        yield Ended(number, what, job, tasks.answer(message))


def _last(worker: Worker) -> Message:
    """The last message of a task."""
    while True:
        said = worker.wait(PATIENCE)
        if not said:
            raise TimeoutError("The worker says nothing.")
        if said[-1].kind != "progress":
            return said[-1]
