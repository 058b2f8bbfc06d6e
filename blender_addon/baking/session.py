# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker session for one or more armatures: the tasks it is sent and the messages it returns. It never blocks.

Armatures are known by their session number, and looked for each time: while it runs they may be renamed, undone or
deleted.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import bpy

from ...core.job import BakeJob, BakeResult
from ...core.motion.quaternions import Array
from ...core.motion.spacetime.help import WORTH_A_WORD
from ...core.worker import tasks
from ...core.worker.messages import Arrays, Message
from ..controls.solution import Solution
from ..slices import AT_ONCE, WAITS, Slices, Work, elsewhere, within
from ..typed import progress_on, settings_on, shared_by
from ..worker.keeper import Keeper
from ..worker.kernels import are_ready, cache_folder
from .gather import Gathered, gather, gathering
from .joining import company_of
from .outcome import with_note
from .output import solving_of
from .poses import armature_poses
from .preview import Preview

COMPILING = "Compiling the physics of this method: once per version, a minute or so"
READING = "Reading the motion"
READY = "Reading the result"
ON_CONTROLS = "Putting the motion on the controls"
TRIED = 0.1  # of that, once it is known which controls there are
CANCELLED = "Cancelled. Nothing was written."
GONE = "It was deleted during the bake."
SHORTEST_MEASURE = 0.5  # s of work before a time left is told
LEAST_SHARE = 0.02


@dataclass
class Turn:
    """One armature's turn."""

    uid: int
    name: str
    gathered: Gathered
    preview: Preview | None = None
    result: BakeResult | None = None  # of a bake
    fraction: float = 0.0  # of its bake
    said: dict[str, Any] = field(default_factory=dict)  # in answer to another task
    why: str = ""  # it failed
    pose: Array | None = None  # (nb, 4, 4) of the last frame that was finished, in the world
    # where bones' heads are (n, nb, 3), from a row of the bake's on, as it was told
    heads: list[tuple[int, Array]] = field(default_factory=list)
    controls: Solution | None = None  # of a bake onto controls

    @property
    def cancelled(self) -> bool:
        """Whether the user stopped it."""
        return self.why == CANCELLED

    def armature(self) -> bpy.types.Object | None:
        """The armature, wherever it is now."""
        return next((found for found in bpy.data.objects if found.session_uid == self.uid), None)


class Session:
    """A running session."""

    def __init__(
        self,
        context: bpy.types.Context,
        armatures: Sequence[bpy.types.Object],
        keeper: Keeper,
        task: str,
        found: Sequence[Gathered] | None = None,
        *,
        at_once: float = math.inf,
        wanted: tasks.Wanted = "last",
        together: bool = False,
    ) -> None:
        """Read all armatures, unless that was done, and send the first to the worker, with what of frames is `wanted`.

        Those that are to be `together` are sent at once, to be in one world.

        ValueError or OSError where that is not possible. What is done on Blender's data takes no more than so many
        seconds `at_once`, and goes on whenever the session looks at its worker; what is wrong with what is read then is
        in `refused`.
        """
        self._keeper, self._task, self._wanted = keeper, task, wanted
        self._together = together and len(armatures) > 1
        self.turns: list[Turn] = []
        self.refused = ""  # why it does not begin
        self._at = 0
        self._told = 0  # whose progress was told last
        self.stage, self.fraction = READING, 0.0
        self.of_stage, self.timed = 0.0, False  # fraction of the stage; whether the whole's tells the time left
        self.rehearses = False  # what is tried out may be skipped
        self._begun = time.monotonic()
        self._cleanup = contextlib.ExitStack()
        self._steps: Work[None] | None = None  # of what is done here once the worker has answered
        self._reading: Slices[list[Gathered]] | None = None
        self._at_once = min(at_once, AT_ONCE)
        self._uids = [armature.session_uid for armature in armatures]
        if found is None and at_once < math.inf:
            self._reading = Slices(lambda: self._gathering(at_once))
            self._read_on()
            if self.refused:
                raise ValueError(self.refused)
        else:
            self._begin(gather(context, armatures, together=self._together) if found is None else found)

    @property
    def over(self) -> bool:
        """Whether every turn has ended, this way or that."""
        return self._reading is None and self._at >= len(self.turns)

    @property
    def turn(self) -> Turn:
        """Whose turn it is; of all at once, who was heard of last."""
        return self.turns[self._told if self._together else self._at]

    @property
    def whole_fraction(self) -> float:
        """Fraction of all turns that is done; of the reading, while that goes on."""
        if self._together and self.turns:
            return sum(turn.fraction for turn in self.turns) / len(self.turns)
        return min((self._at + self.fraction) / max(len(self.turns), 1), 1.0)

    @property
    def seconds_left(self) -> float | None:
        """An estimate, once there is something to go by, and while there is."""
        if not self.timed:
            return None
        gone, share = time.monotonic() - self._begun, self.whole_fraction
        return gone * (1.0 - share) / share if share > LEAST_SHARE and gone > SHORTEST_MEASURE else None

    def take(self, said: Sequence[Message]) -> None:
        """Handle the worker's messages; an armature that is gone is not baked on."""
        if self._reading is not None:
            self._read_on()
            return
        if not self.over and not self._together and self.turn.armature() is None:
            self._keeper.stop()
            self._leave_steps()
            self._end(why=GONE)
            return
        if self._steps is not None:
            self._go_on(self._steps)
            return
        for message in said:
            if self.over:
                return
            self._hear(message)

    def _hear(self, message: Message) -> None:
        """One of the worker's messages."""
        if message.kind == "progress":
            self._told = int(message.values.get("member", 0))
            self.turn.fraction = message.values["fraction"]
            self.stage, self.fraction = message.values["text"], message.values["fraction"]
            self.of_stage, self.timed = message.values["of_stage"], message.values["timed"]
            self.rehearses = message.values["rehearses"]
            self.turn.pose = message.arrays.get("pose", self.turn.pose)
            if "heads" in message.arrays:
                self.turn.heads.append((int(message.values["first"]), message.arrays["heads"]))
        elif message.kind == "done":
            self._take_answer(message)
        elif message.kind in {"failed", "ended"}:
            self._end(why=str(message.values["why"]))

    def wait(self) -> None:
        """Handle the worker's messages until it is over."""
        while not self.over:
            if self._steps is None:
                self.take(self._keeper.wait(1.0))
            else:
                time.sleep(WAITS)
                self.take(())

    def begin_showing(self) -> None:
        """Start posing the armatures while they are simulated; everything is restored at the end."""
        state = progress_on(bpy.context.window_manager)
        state.running = True
        state.stop = state.skip = state.rehearses = False
        going_on.append(self)
        self._keep_poses()

    @property
    def has_pose(self) -> bool:
        """Whether a frame was finished that has not been shown."""
        return self._at < len(self.turns) and any(turn.pose is not None for turn in self.turns)

    def show(self) -> None:
        """Pose the armatures as in the last frames that were finished of them."""
        for turn in self.turns if self.has_pose else ():
            armature = turn.armature()
            if turn.preview is None or turn.pose is None or armature is None:
                continue
            turn.preview.show(armature, armature_poses(turn.pose[None], turn.gathered.sampling, 0)[0])
            turn.pose = None

    def stop(self, *, at_once: bool = True) -> None:
        """End it: cancel unfinished turns, and stop the worker now, or have it leave what it does for the next task."""
        if self._reading is not None:
            self._reading.end()
            self._reading = None
        elif not self.over:
            (self._keeper.stop if at_once else self._keeper.overtake)()
            self._leave_steps()
            for turn in self.turns[self._at :]:
                turn.why = CANCELLED
            self._at = len(self.turns)

    def skip(self) -> None:
        """Have the worker rehearse no more, and go on with the best so far."""
        if self.rehearses:
            self._keeper.enough()

    def at_end(self, put_back: Callable[[], object]) -> None:
        """Register a function to call when it is closed or abandoned."""
        self._cleanup.callback(put_back)

    def put_poses_back(self) -> None:
        """Have armatures stand as they did before they were shown."""
        for turn in self.turns:
            armature = turn.armature()
            if turn.preview is not None and armature is not None:
                turn.preview.restore(armature)
            turn.preview = None

    def close(self) -> None:
        """Restore poses and whatever else was changed meanwhile."""
        self.put_poses_back()
        self.abandon()

    def abandon(self) -> None:
        """The same where there is nothing left to pose: another file is being loaded."""
        self.stop()
        self._cleanup.close()
        progress_on(bpy.context.window_manager).running = False
        if self in going_on:
            going_on.remove(self)

    def _gathering(self, at_once: float) -> Work[list[Gathered]]:
        """Read all armatures, a little at a time."""
        armatures = [there(uid) for uid in self._uids]
        return gathering(bpy.context, armatures, at_once=at_once, together=self._together)

    def _read_on(self) -> None:
        """Read a little more, and begin when all is read."""
        assert self._reading is not None
        try:
            over = self._reading.go_on(self._at_once)
            self.fraction = self._reading.fraction
        except ValueError as error:
            self.refused, self._reading = str(error), None
            return
        if over:
            found = self._reading.results[0]
            self._reading = None
            self._begin(found)

    def _begin(self, found: Sequence[Gathered]) -> None:
        self.turns = [Turn(uid, each.job.name, each) for uid, each in zip(self._uids, found, strict=True)]
        if self in going_on:
            self._keep_poses()
        self._begun = time.monotonic()
        self._send()

    def _keep_poses(self) -> None:
        for turn in self.turns:
            armature = turn.armature()
            if armature is not None:
                simulated = {bone for bones in turn.gathered.job.roles.values() for bone in bones}
                turn.preview = Preview(armature, simulated)

    def _send(self) -> None:
        self._keeper.give_way()
        if self._together:
            self._send_all()
            return
        job = self.turn.gathered.job
        ready = are_ready(job.method)
        self.stage, self.fraction = "Starting" if ready else COMPILING, 0.0
        self.of_stage, self.timed = 0.0, ready

        cache = str(cache_folder())

        def make() -> tuple[Mapping[str, Any], Arrays]:
            job.key()  # who asks for it later need not wait
            return self._request(job, cache)

        self._keeper.worker().send_made(self._task, make)

    def _request(self, job: BakeJob, cache: str) -> tuple[Mapping[str, Any], Arrays]:
        """What the worker is asked."""
        return tasks.request(job, cache, self._wanted)

    def _send_all(self) -> None:
        """Send all at once."""
        found = [(turn.uid, turn.gathered) for turn in self.turns]
        company = company_of(found, find_holds=shared_by(bpy.context.scene).find_holds)
        ready = all(are_ready(job.method) for job in company.jobs)
        self.stage, self.fraction = "Starting" if ready else COMPILING, 0.0
        self.of_stage, self.timed = 0.0, ready
        cache = str(cache_folder())
        self._keeper.worker().send_made(
            f"{self._task}_together", lambda: tasks.request_together(company, cache, self._wanted)
        )

    def _finish_all(self, message: Message) -> Work[None]:
        """Read all results, and put those on the controls that are for them."""
        for turn, answer in zip(self.turns, (yield from elsewhere(lambda: tasks.answers(message))), strict=True):
            armature = turn.armature()
            if isinstance(answer, str) or armature is None:
                turn.why = GONE if armature is None else str(answer)
                continue
            turn.result = with_note(answer, turn.gathered.chosen)
            if settings_on(armature).output == "CONTROLS":
                try:
                    yield from self._solve(turn, armature, answer)
                except ValueError as error:
                    turn.result, turn.why = None, str(error)

    def _take_answer(self, message: Message) -> None:
        """What came of a turn, in steps; or of all."""
        if self._together:
            self.stage, self.fraction, self.of_stage, self.timed = READY, 0.0, 0.0, False
            self.rehearses = False
            self._steps = self._finish_all(message)
            self._go_on(self._steps)
            return
        self.turn.said = message.values
        if message.arrays:
            self.stage, self.fraction, self.of_stage, self.timed = READY, 0.0, 0.0, False
            self.rehearses = False
            self._steps = self._finish_bake(message)
            self._go_on(self._steps)
        else:
            self._end()

    def _finish_bake(self, message: Message) -> Work[None]:
        """Read a result, and put it on the controls if that is what it is for."""
        result = yield from elsewhere(lambda: tasks.answer(message))
        for note in noted(self.turn.gathered, result):
            result = with_note(result, note)
        self.turn.result = result
        armature = self.turn.armature()
        if armature is not None and settings_on(armature).output == "CONTROLS":
            yield from self._solve(self.turn, armature, result)

    def _solve(self, turn: Turn, armature: bpy.types.Object, result: BakeResult) -> Work[None]:
        """Put a result on the controls."""
        self.stage, self.fraction, self.of_stage, self.timed = ON_CONTROLS, 0.0, 0.0, False
        solving = yield from within(solving_of(armature, turn.gathered, result), 0.0, TRIED)
        try:
            yield from within(solving.steps(), TRIED, 1.0)
            turn.controls = solving.solution()
        finally:
            solving.end()

    def _go_on(self, steps: Work[None]) -> None:
        """Take some of the steps, for as long as the interface may wait."""
        until = time.monotonic() + self._at_once
        try:
            while time.monotonic() < until:
                done = next(steps)
                if done is None:
                    return
                self.fraction = done
        except StopIteration:
            self._steps = None
            self._end()
        except ValueError as error:
            self.turn.result, self._steps = None, None
            self._end(why=str(error))

    def _leave_steps(self) -> None:
        if self._steps is not None:
            self._steps.close()
        self._steps = None

    def _end(self, why: str = "") -> None:
        if self._together:
            for turn in self.turns:
                turn.why = turn.why or why
            self._at = len(self.turns)
            return
        self.turn.why = why
        self._at += 1
        if not self.over:
            self._send()


def noted(gathered: Gathered, result: BakeResult) -> list[str]:
    """Return what Blender's side has to say of a result, the last first: of doubts, where help had to carry it."""
    doubts = gathered.doubts if result.report.get("help_max", 0.0) > WORTH_A_WORD else ()
    return [note for note in (gathered.chosen, *doubts) if note]


def there(uid: int) -> bpy.types.Object:
    """Return the armature of that session number; ValueError where it is gone."""
    for found in bpy.data.objects:
        if found.session_uid == uid:
            return found
    raise ValueError(GONE)


class Closes(Protocol):
    """What a window shows to go on."""

    def close(self) -> None:
        """End it, and put back what was changed meanwhile."""


going_on: list[Closes] = []
"""What a window shows to go on, one thing at most: what has to end when the extension does."""


def is_going_on(one: Closes) -> bool:
    """Whether it is neither closed nor abandoned."""
    return one in going_on


def unregister() -> None:
    """End what goes on."""
    while going_on:
        going_on[-1].close()
