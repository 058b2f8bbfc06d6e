# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker can do; each task comes in a message, and may send messages before its answer.

Each comes with its other half, by which the side that sends it asks for it and reads the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from .. import archive
from ..job import BakeJob, BakeResult, Progress, job, result
from .messages import Arrays, Message


class Send(Protocol):
    """What a task speaks through, and hears."""

    def __call__(self, kind: str, values: Any = None, arrays: Any = None) -> None:
        """Send a message."""

    def enough(self) -> bool:
        """Whether what was tried so far will do."""


T = TypeVar("T")
STANDING = 12  # frames
OFTEN = 0.04  # s: what a person is shown need not come more often


Wanted = Literal["nothing", "last", "all"]
"""What of finished frames is to be seen: nothing, the last one's pose, or the bones' heads in all of them."""


class ProgressSender:
    """Sends where a run is, not too often; with what of its frames somebody looks at."""

    def __init__(self, send: Send, wanted: Wanted = "nothing") -> None:
        self._send, self._wanted, self._sent = send, wanted, 0.0
        self._waiting: list[Progress] = []  # with frames that were not sent yet

    def __call__(self, progress: Progress) -> None:
        """Called by the run."""
        now = time.monotonic()
        if self._wanted == "all" and len(progress.finished):
            self._waiting.append(progress)
        if now - self._sent > OFTEN:
            self._sent = now
            said: dict[str, Any] = {"text": progress.text, "fraction": progress.whole}
            said |= {"of_stage": progress.fraction, "timed": progress.timed, "rehearses": progress.rehearses}
            arrays = {}
            if self._wanted == "last" and progress.last_pose is not None:
                arrays["pose"] = progress.last_pose
            elif self._wanted == "all" and progress.sketch is not None:
                said["first"], arrays["heads"] = 0, progress.sketch()
            elif self._waiting:
                said["first"] = self._waiting[0].first
                arrays["heads"] = np.concatenate([one.poses[..., :3, 3] for one in self._waiting])
                self._waiting.clear()
            self._send("progress", said, arrays)


def bake(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Run a job; "progress" messages have `text` and `fraction`, and what of frames is `wanted`.

    That is the `pose` (nb, 4, 4) of the last, or `heads` (n, nb, 3) of all from the `first` on; before there are any,
    those of the motion that is being optimised.
    """
    from ..job import run

    told = ProgressSender(send, message.values["wanted"])
    done = run(unpack_job(message), told, message.values["cache"], send.enough)
    return {"report": done.report}, packed("result", archive.pack(done, BakeResult, result.FORMAT, result.VERSION))


def request(asked: BakeJob, cache: str | None, wanted: Wanted = "nothing") -> tuple[Mapping[str, Any], Arrays]:
    """Values and arrays of a message that asks for a bake, and for what of its frames is `wanted` on the way."""
    content = archive.pack(asked, BakeJob, job.FORMAT, job.VERSION)
    return {"cache": cache, "wanted": wanted}, packed("job", content)


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
    return archive.unpack(kind, message.arrays[name].data, format_name, version)


def precompute(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Make a job's reference and gains and keep them in the cache; "progress" messages have `text` and `fraction`."""
    from ..cache import Cache
    from ..job.progress import Clock, ProgressReporter
    from ..job.running import planned

    cache = Cache(message.values["cache"])
    motion, _ = planned(unpack_job(message), ProgressReporter(ProgressSender(send)), cache, Clock())
    return {"quality": motion.reference.quality.why, "notes": cache.notes}, {}


def reference(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Make a job's reference and keep it in the cache, and answer with its contacts, its quality and its changes."""
    from ..cache import Cache
    from ..job.preparing import make_motion
    from ..job.progress import Clock, ProgressReporter
    from ..report.reference import changes, summary

    motion = make_motion(
        unpack_job(message), ProgressReporter(ProgressSender(send)), Cache(message.values["cache"]), Clock()
    )
    found = changes(motion.reference)
    reply = {
        "contacts": motion.contacts,
        "summary": summary(motion.reference, motion.lines),
        "frames": found.frames.tolist(),
        "place": found.place.tolist(),
        "heading": found.heading.tolist(),
        "joints": {name: values.tolist() for name, values in found.joints.items()},
    }
    return reply, {}


def contacts(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Find a job's contacts, whatever was edited."""
    from ..cache import Cache
    from ..job.preparing import find_contacts
    from ..job.progress import ProgressReporter

    return {
        "contacts": find_contacts(
            unpack_job(message), ProgressReporter(ProgressSender(send)), Cache(message.values["cache"])
        )
    }, {}


def glance(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Look at a job's motion as it is keyed; the answer has `Glance`'s fields as lists, of a support its two."""
    from ..cache import Cache
    from ..job.glancing import glance as look
    from ..job.progress import ProgressReporter

    found = look(unpack_job(message), ProgressReporter(ProgressSender(send)), Cache(message.values["cache"]))
    said = {name: value for name, value in vars(found).items() if name != "support"}
    said |= {"support_start": found.support.start, "support": found.support.point}
    return {name: value if name == "feet" else plain(value) for name, value in said.items()}, {}


def plain(values: Any) -> Any:
    """An array as lists, with None where it is not a number."""
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()


def self_test(_message: Message, _send: Send) -> tuple[dict[str, Any], Arrays]:
    """Say how physics works here."""
    from .self_test import self_test as try_physics

    return {"text": try_physics()}, {}


def replay(message: Message, _send: Send) -> tuple[dict[str, Any], Arrays]:
    """Take the failed steps of a trace again, and say what becomes of them."""
    from ..simulation.replay import tell

    return {"text": "\n".join(tell(message.values["trace"]))}, {}


def prepare(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Compile all kernels of some methods, in order.

    On the way "progress" tells `method` and `fraction` of all, and "prepared" each `method` that is done.
    """
    from .preparation import go_last, prepare

    def tell(method: str, share: float) -> None:
        send("progress", {"method": method, "fraction": share})

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
    "glance": glance,
    "replay": replay,
    "prepare": prepare,
}
