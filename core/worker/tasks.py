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
from ..cache import Cache, Memory
from ..job import BakeJob, BakeResult, Progress, job, result
from ..job import company as together
from ..job.company import CompanyJob
from ..live import take
from ..maths.beside import helped
from .messages import Arrays, Message


class Send(Protocol):
    """What a task speaks through, and hears."""

    def __call__(self, kind: str, values: Any = None, arrays: Any = None) -> None:
        """Send a message."""

    def enough(self) -> bool:
        """Whether what was tried so far will do."""

    def inputs(self, seconds: float) -> list[Any]:
        """What has come for the task since it last asked; waits for something so long at most."""


T = TypeVar("T")
Answer = BakeResult | str  # or why there is none
STANDING = 12  # frames
OFTEN = 0.04  # s: what a person is shown need not come more often
SKETCHED = 0.2  # s between sketches of what is being optimised: each takes a sixth of an iteration


MEMORY = Memory()
"""Of this process, from task to task."""


def cache_of(message: Message) -> Cache:
    """The cache that a request names; who looks on does not wait for its files."""
    return Cache(message.values["cache"], MEMORY, later=message.values.get("wanted") == "all")


Wanted = Literal["nothing", "last", "all"]
"""What of finished frames is to be seen: nothing, the last one's pose, or the bones' heads in all of them."""


class ProgressSender:
    """Sends where a run is, not too often; with what of its frames somebody looks at, and which of several it is."""

    def __init__(self, send: Send, wanted: Wanted = "nothing", member: int = 0) -> None:
        self._send, self._wanted, self._sent, self._member = send, wanted, 0.0, member
        self._sketched = 0.0
        self._waiting: list[Progress] = []  # with frames that were not sent yet

    def __call__(self, progress: Progress) -> None:
        """Called by the run."""
        now = time.monotonic()
        if self._wanted == "all" and len(progress.finished):
            self._waiting.append(progress)
        sketched = self._wanted == "all" and progress.sketch is not None and now - self._sketched > SKETCHED
        if sketched or now - self._sent > OFTEN:
            self._sent = now
            said: dict[str, Any] = {"text": progress.text, "fraction": progress.whole}
            said |= {
                "member": self._member,
                "of_stage": progress.fraction,
                "timed": progress.timed,
                "rehearses": progress.rehearses,
            }
            arrays = {}
            if self._wanted == "last" and progress.last_pose is not None:
                arrays["pose"] = progress.last_pose
            elif sketched and progress.sketch is not None:
                said["first"], arrays["heads"] = 0, progress.sketch()
                self._sketched = now
            elif self._waiting:
                said["first"] = self._waiting[0].first
                arrays["heads"] = np.concatenate([one.poses[..., :3, 3] for one in self._waiting])
                self._waiting.clear()
            self._send("progress", said, arrays)


def looked_on(message: Message) -> bool:
    """Whether somebody looks on and waits: a batch has a process for each of the processor's cores already."""
    return bool(message.values["wanted"] != "nothing")


def bake(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Run a job; "progress" messages have `text` and `fraction`, and what of frames is `wanted`.

    That is the `pose` (nb, 4, 4) of the last, or `heads` (n, nb, 3) of all from the `first` on; before there are any,
    those of the motion that is being optimised.
    """
    from ..job import run

    told = ProgressSender(send, message.values["wanted"])
    with helped(looked_on(message)):
        done = run(unpack_job(message), told, cache_of(message), send.enough)
    return {"report": done.report}, packed("result", archive.pack(done, BakeResult, result.FORMAT, result.VERSION))


def bake_together(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Run jobs in one world; messages as of `bake`, each with its `member`. Of those that failed `failed` says why."""
    from ..job import run_together

    company = unpacked(CompanyJob, message, "company", together.FORMAT, together.VERSION)
    told = [ProgressSender(send, message.values["wanted"], member) for member in range(len(company.jobs))]
    with helped(looked_on(message)):
        done = run_together(
            company, lambda member, progress: told[member](progress), message.values["cache"], send.enough
        )
    arrays: dict[str, Any] = {}
    for member, one in enumerate(done):
        if not isinstance(one, str):
            arrays |= packed(f"result_{member}", archive.pack(one, BakeResult, result.FORMAT, result.VERSION))
    failed = {str(member): one for member, one in enumerate(done) if isinstance(one, str)}
    return {"failed": failed, "members": len(done)}, arrays


def request_together(
    asked: CompanyJob, cache: str | None, wanted: Wanted = "nothing"
) -> tuple[Mapping[str, Any], Arrays]:
    """Values and arrays of a message that asks for bakes in one world."""
    content = archive.pack(asked, CompanyJob, together.FORMAT, together.VERSION)
    return {"cache": cache, "wanted": wanted}, packed("company", content)


def answers(message: Message) -> list[Answer]:
    """What came of each, or why nothing did."""
    failed = message.values["failed"]
    return [
        failed[str(member)]
        if str(member) in failed
        else unpacked(BakeResult, message, f"result_{member}", result.FORMAT, result.VERSION)
        for member in range(message.values["members"])
    ]


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
    from ..job.progress import Clock, ProgressReporter
    from ..job.running import planned

    cache = cache_of(message)
    with helped():
        motion, _ = planned(unpack_job(message), ProgressReporter(ProgressSender(send)), cache, Clock())
    return {"quality": motion.reference.quality.why, "notes": cache.notes}, {}


def reference(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Make a job's reference and keep it in the cache, and answer with its contacts, its quality and its changes."""
    from ..job.preparing import make_motion
    from ..job.progress import Clock, ProgressReporter
    from ..report.reference import changes, summary

    with helped():
        motion = make_motion(unpack_job(message), ProgressReporter(ProgressSender(send)), cache_of(message), Clock())
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
    from ..job.preparing import find_contacts
    from ..job.progress import ProgressReporter

    return {
        "contacts": find_contacts(unpack_job(message), ProgressReporter(ProgressSender(send)), cache_of(message))
    }, {}


def glance(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Look at a job's motion as it is keyed; the answer has `Glance`'s fields as lists, of a support its two."""
    from ..job.glancing import glance as look
    from ..job.progress import ProgressReporter

    found = look(unpack_job(message), ProgressReporter(ProgressSender(send)), cache_of(message))
    said = {name: value for name, value in vars(found).items() if name != "support"}
    said |= {"support_start": found.support.start, "support": found.support.point}
    return {name: value if name == "feet" else plain(value) for name, value in said.items()}, {}


def plain(values: Any) -> Any:
    """An array as lists, with None where it is not a number."""
    found = values.astype(object)
    found[~np.isfinite(values)] = None
    return found.tolist()


def stage(message: Message, send: Send) -> tuple[dict[str, Any], Arrays]:
    """Play a job while inputs come.

    "progress" as of a bake, then "ready"; then "picture" messages with `seconds`, the `pose` (nb, 4, 4), the `balls`
    (n, 3), and where the mouse holds something the `grip` (3, 3): from, to, newtons. The answer has the take.
    """
    from ..live import inputs
    from ..live.playing import Kit, Picture, play

    def show(picture: Picture) -> None:
        arrays = {"pose": picture.pose, "balls": picture.balls}
        if picture.grip is not None:
            arrays["grip"] = np.array([picture.grip.point, picture.grip.place, picture.grip.force])
        send("picture", {"seconds": picture.seconds}, arrays)

    played = play(
        unpack_job(message),
        lambda seconds: [inputs.from_values(values) for values in send.inputs(seconds)],
        show,
        kit=Kit(**message.values["kit"]),
        progress=ProgressSender(send),
        cache=message.values["cache"],
        ready=lambda: send("ready"),
    )
    said = {
        "fell": played.simulation.lost is not None,
        "slipped": played.slipped,
        "delays": played.delays.tolist(),
    }
    return said, packed("take", archive.pack(played.take, take.Take, take.FORMAT, take.VERSION))


def take_of(message: Message) -> take.Take:
    """The take out of the answer."""
    return unpacked(take.Take, message, "take", take.FORMAT, take.VERSION)


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
    "bake_together": bake_together,
    "self_test": self_test,
    "precompute": precompute,
    "reference": reference,
    "contacts": contacts,
    "glance": glance,
    "stage": stage,
    "replay": replay,
    "prepare": prepare,
}
