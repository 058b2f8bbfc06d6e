# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker can do; each task is told in a message, and may send messages before its answer.

Each comes with its other half, by which the side that sends it asks for it and reads the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from .. import archive
from ..job import BakeJob, BakeResult, Progress, job, result
from ..motion.clip import Clip, Skeleton
from .messages import Arrays, Message

Send = Callable[..., None]
T = TypeVar("T")
STANDING = 12  # frames
OFTEN = 0.04  # s: what a person is shown need not come more often


class Tell:
    """Sends where a run is, not too often; with the last finished frame's pose where somebody looks on."""

    def __init__(self, send: Send, *, poses: bool = False) -> None:
        self._send, self._poses, self._told = send, poses, 0.0

    def __call__(self, progress: Progress) -> None:
        """Called by the run."""
        now = time.monotonic()
        if now - self._told > OFTEN:
            self._told = now
            pose = progress.last_pose if self._poses else None
            arrays = None if pose is None else {"pose": pose}
            said = {"text": progress.text, "share": progress.whole, "of_stage": progress.share, "timed": progress.timed}
            self._send("progress", said, arrays)


def bake(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Run a job; on the way "progress" tells `text` and `share`, and `pose` (nb, 4, 4) if asked."""
    from ..job import run

    done = run(unpack_job(message), Tell(send, poses=message.values["poses"]), message.values["cache"])
    return {"report": done.report}, packed("result", archive.pack(done, BakeResult, result.FORMAT, result.VERSION))


def request(asked: BakeJob, cache: str | None, *, poses: bool = False) -> tuple[Mapping[str, Any], Arrays]:
    """Values and arrays of a message that asks for a bake; `poses` of finished frames are told on the way if wanted."""
    return {"cache": cache, "poses": poses}, packed("job", archive.pack(asked, BakeJob, job.FORMAT, job.VERSION))


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
    from ..cache import Cache
    from ..job.progress import Clock, Teller
    from ..job.running import planned

    cache = Cache(message.values["cache"])
    motion, _ = planned(unpack_job(message), Teller(Tell(send)), cache, Clock())
    return {"quality": motion.reference.quality.why, "notes": cache.notes}, {}


def reference(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Make a job's reference and keep it in the cache; tell its contacts, how good it is, and what it changed."""
    from ..cache import Cache
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
    from ..cache import Cache
    from ..job.preparing import find_contacts
    from ..job.progress import Teller

    return {"contacts": find_contacts(unpack_job(message), Teller(Tell(send)), Cache(message.values["cache"]))}, {}


def self_test(_message: Message, _send: Send) -> tuple[dict[str, Any], Arrays]:
    """Say how physics works here."""
    from .self_test import self_test as try_physics

    return {"text": try_physics()}, {}


def replay(message: Message, _send: Send) -> tuple[dict[str, Any], Arrays]:
    """Take the failed steps of a trace again, and say what becomes of them."""
    from ..simulation.replay import tell

    return {"text": "\n".join(tell(message.values["trace"]))}, {}


def warm_up(_message: Message, _send: Send) -> tuple[dict[str, Any], Arrays]:
    """Compile all that a bake needs, by a small one."""
    from ..job import run

    run(standing_job())
    return {}, {}


def standing_job() -> BakeJob:
    """A pair of straight legs that stands for a moment."""
    bones = {"pelvis": ((0.0, 0.0, 0.95), (0.0, 0.0, 1.15), "")}
    for side, x in (("L", 0.1), ("R", -0.1)):
        bones[f"thigh.{side}"] = ((x, 0.0, 0.9), (x, -0.02, 0.5), "pelvis")
        bones[f"shin.{side}"] = ((x, -0.02, 0.5), (x, 0.0, 0.08), f"thigh.{side}")
        bones[f"foot.{side}"] = ((x, 0.0, 0.08), (x, -0.18, 0.02), f"shin.{side}")
    names = tuple(bones)
    skeleton = Skeleton(
        names=names,
        parent=np.array([names.index(parent) if parent else -1 for _, _, parent in bones.values()]),
        head=np.array([head for head, _, _ in bones.values()]),
        tail=np.array([tail for _, tail, _ in bones.values()]),
        orientation=np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1)),
    )
    position = np.tile(skeleton.head, (STANDING, 1, 1))
    clip = Clip(skeleton, 24.0, position, np.tile(skeleton.orientation, (STANDING, 1, 1)))
    return BakeJob(clip=clip, roles={name: (name,) for name in names})


TASKS: dict[str, Callable[[Message, Send], tuple[dict[str, Any], Arrays]]] = {
    "bake": bake,
    "self_test": self_test,
    "precompute": precompute,
    "reference": reference,
    "contacts": contacts,
    "replay": replay,
    "warm_up": warm_up,
}
