# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker can do; each task is told in a message, and may send messages before its answer.

Each comes with its other half, by which the side that sends it asks for it and reads the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..job import BakeJob, BakeResult, Progress, archive, job, result
from .messages import Arrays, Message

Send = Callable[..., None]
T = TypeVar("T")
STANDING = 12  # frames
OFTEN = 0.04  # s: what a person is shown need not come more often


class Tell:
    """Sends where a run is, not too often."""

    def __init__(self, send: Send) -> None:
        self._send, self._told = send, 0.0

    def __call__(self, progress: Progress) -> None:
        """Called by the run."""
        now = time.monotonic()
        if now - self._told > OFTEN:
            self._told = now
            pose = {"pose": progress.poses[-1]} if len(progress.poses) else None
            self._send("progress", {"text": progress.text, "share": progress.whole}, pose)


def bake(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Run a job; on the way "progress" tells `text` and `share`, with the last finished frame's `pose` (nb, 4, 4)."""
    from ..job import run

    done = run(unpack_job(message), Tell(send), message.values["cache"])
    return {"report": done.report}, packed("result", archive.pack(done, BakeResult, result.FORMAT, result.VERSION))


def request(asked: BakeJob, cache: str | None) -> tuple[Mapping[str, Any], Arrays]:
    """Values and arrays of a message that asks for a bake."""
    return {"cache": cache}, packed("job", archive.pack(asked, BakeJob, job.FORMAT, job.VERSION))


def answer(message: Message) -> BakeResult:
    """The result out of the answer; ValueError where there is none in it."""
    return unpacked(BakeResult, message, "result", result.FORMAT, result.VERSION)


def unpack_job(message: Message) -> BakeJob:
    """The job out of a request."""
    return unpacked(BakeJob, message, "job", job.FORMAT, job.VERSION)


def packed(name: str, content: bytes) -> Arrays:
    """A file's content as an array."""
    return {name: np.frombuffer(content, np.uint8)}


def unpacked(kind: type[T], message: Message, name: str, format_name: str, version: int) -> T:
    """And back."""
    return archive.unpack(kind, message.arrays[name].tobytes(), format_name, version)


def precompute(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Make a job's reference and gains and keep them in the cache; on the way "progress" tells `text` and `share`."""
    from ..job.cache import Cache
    from ..job.progress import Clock, Teller
    from ..job.running import prepared

    cache = Cache(message.values["cache"])
    motion, _ = prepared(unpack_job(message), Teller(Tell(send)), cache, Clock())
    return {"quality": motion.reference.quality.why, "notes": cache.notes}, {}


def reference(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Make a job's reference and keep it in the cache; tell its contacts, how good it is, and what it changed."""
    from ..job.cache import Cache
    from ..job.preparing import make_motion
    from ..job.progress import Clock, Teller
    from ..report.reference import changes, summary

    motion = make_motion(unpack_job(message), Teller(Tell(send)), Cache(message.values["cache"]), Clock())
    found = changes(motion.reference)
    told = {
        "contacts": motion.contacts,
        "summary": summary(motion.reference, motion.lines),
        "frames": found.frames.tolist(),
        "place": found.place.tolist(),
        "heading": found.heading.tolist(),
        "joints": {name: values.tolist() for name, values in found.joints.items()},
    }
    return told, {}


def contacts(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Find a job's contacts, whatever was edited."""
    from ..job.cache import Cache
    from ..job.preparing import find_contacts
    from ..job.progress import Teller

    return {"contacts": find_contacts(unpack_job(message), Teller(Tell(send)), Cache(message.values["cache"]))}, {}


def self_test(_message: Message, _send: Send) -> tuple[dict[str, Any], Arrays]:
    """Say how physics works here."""
    from .self_test import self_test as try_physics

    return {"text": try_physics()}, {}


def prepare(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Compile all kernels of some methods, in order.

    On the way "progress" tells `method` and `share` of all, and "prepared" each `method` that is done.
    """
    from .preparation import go_last, prepare

    def tell(method: str, share: float) -> None:
        send("progress", {"method": method, "share": share})

    go_last()
    for method in prepare(message.values["methods"], tell):
        send("prepared", {"method": method})
    return {}, {}


TASKS: dict[str, Callable[[Message, Send], tuple[dict[str, Any], Arrays]]] = {
    "bake": bake,
    "self_test": self_test,
    "precompute": precompute,
    "reference": reference,
    "contacts": contacts,
    "prepare": prepare,
}
