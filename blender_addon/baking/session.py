# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker session for one or more armatures: the tasks it is sent and the messages it returns. It never blocks.

Armatures are known by their session number, and looked for each time: while it runs they may be renamed, undone or
deleted.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy

from ...core.job import BakeResult
from ...core.motion.quaternions import Array
from ...core.worker import tasks
from ...core.worker.messages import Message
from ..controls.solution import Solution, Solving
from ..typed import progress_on, settings_on
from ..worker.keeper import Keeper
from ..worker.kernels import are_ready, cache_folder
from .gather import Gathered, gather
from .outcome import with_note
from .output import solving_of
from .poses import armature_poses
from .preview import Preview

COMPILING = "Compiling the physics of this method: once per version, a minute or so"
ON_CONTROLS = "Putting the motion on the controls"
SOLVED_AT_ONCE = 0.1  # s, after which a window is shown again
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
        wanted: tasks.Wanted = "last",
        solved_at_once: float = SOLVED_AT_ONCE,
    ) -> None:
        """Read all armatures, unless that was done, and send the first to the worker, with what of frames is `wanted`.

        Controls are solved for so many seconds at once.

        ValueError or OSError where that is not possible.
        """
        self._keeper, self._task, self._wanted, self._solved_at_once = keeper, task, wanted, solved_at_once
        found = gather(context, armatures) if found is None else found
        self.turns = [
            Turn(armature.session_uid, armature.name, each) for armature, each in zip(armatures, found, strict=True)
        ]
        self._at = 0
        self.stage, self.fraction = "", 0.0
        self.of_stage, self.timed = 0.0, True  # fraction of the stage; whether the whole's tells the time left
        self._begun = time.monotonic()
        self._cleanup = contextlib.ExitStack()
        self._solving: Solving | None = None
        self._steps: Iterator[float] = iter(())
        self._send()

    @property
    def over(self) -> bool:
        """Whether every turn has ended, this way or that."""
        return self._at >= len(self.turns)

    @property
    def turn(self) -> Turn:
        """Whose turn it is."""
        return self.turns[self._at]

    @property
    def whole_fraction(self) -> float:
        """Fraction of all turns that is done."""
        return min((self._at + self.fraction) / len(self.turns), 1.0)

    @property
    def seconds_left(self) -> float | None:
        """An estimate, once there is something to go by, and while there is."""
        if not self.timed:
            return None
        gone, share = time.monotonic() - self._begun, self.whole_fraction
        return gone * (1.0 - share) / share if share > LEAST_SHARE and gone > SHORTEST_MEASURE else None

    def take(self, said: Sequence[Message]) -> None:
        """Handle the worker's messages; an armature that is gone is not baked on."""
        if not self.over and self.turn.armature() is None:
            self._keeper.stop()
            self._end(why=GONE)
            return
        if self._solving is not None:
            self._solve_on(self._solving)
            return
        for message in said:
            if self.over:
                return
            if message.kind == "progress":
                self.stage, self.fraction = message.values["text"], message.values["fraction"]
                self.of_stage, self.timed = message.values["of_stage"], message.values["timed"]
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
            self.take(self._keeper.wait(1.0) if self._solving is None else ())

    def begin_showing(self) -> None:
        """Start posing the armatures while they are simulated; everything is restored at the end."""
        state = progress_on(bpy.context.window_manager)
        state.running, state.stop = True, False
        for turn in self.turns:
            armature = turn.armature()
            if armature is not None:
                turn.preview = Preview(armature)
        going_on.append(self)

    @property
    def has_pose(self) -> bool:
        """Whether a frame was finished that has not been shown."""
        return not self.over and self.turn.pose is not None

    def show(self) -> None:
        """Pose the armature whose turn it is as in the last finished frame."""
        if self.over or self.turn.preview is None or self.turn.pose is None:
            return
        armature = self.turn.armature()
        if armature is not None:
            self.turn.preview.show(armature, armature_poses(self.turn.pose[None], self.turn.gathered.sampling, 0)[0])
            self.turn.pose = None

    def stop(self, *, at_once: bool = True) -> None:
        """End it: cancel unfinished turns, and stop the worker now, or have it leave what it does for the next task."""
        if not self.over:
            (self._keeper.stop if at_once else self._keeper.overtake)()
            if self._solving is not None:
                self._solving.end()
                self._solving = None
            for turn in self.turns[self._at :]:
                turn.why = CANCELLED
            self._at = len(self.turns)

    def at_end(self, put_back: Callable[[], object]) -> None:
        """Register a function to call when it is closed or abandoned."""
        self._cleanup.callback(put_back)

    def close(self) -> None:
        """Restore poses and whatever else was changed meanwhile."""
        for turn in self.turns:
            armature = turn.armature()
            if turn.preview is not None and armature is not None:
                turn.preview.restore(armature)
        self.abandon()

    def abandon(self) -> None:
        """The same where there is nothing left to pose: another file is being loaded."""
        self.stop()
        self._cleanup.close()
        progress_on(bpy.context.window_manager).running = False
        if self in going_on:
            going_on.remove(self)

    def _send(self) -> None:
        self._keeper.give_way()
        job = self.turn.gathered.job
        ready = are_ready(job.method)
        self.stage, self.fraction = "Starting" if ready else COMPILING, 0.0
        self.of_stage, self.timed = 0.0, ready
        self._keeper.worker().send(self._task, *tasks.request(job, str(cache_folder()), self._wanted))

    def _take_answer(self, message: Message) -> None:
        try:
            result = tasks.answer(message) if message.arrays else None
        except ValueError as error:
            self._end(why=str(error))
        else:
            self.turn.result = None if result is None else with_note(result, self.turn.gathered.chosen)
            self.turn.said = message.values
            armature = self.turn.armature()
            if result is None or armature is None or settings_on(armature).output != "CONTROLS":
                self._end()
            else:
                self._begin_solving(armature, result)

    def _begin_solving(self, armature: bpy.types.Object, result: BakeResult) -> None:
        """Put a result on the controls, a little at each look at the worker."""
        try:
            self._solving = solving_of(armature, self.turn.gathered, result)
        except ValueError as error:
            self.turn.result = None
            self._end(why=str(error))
        else:
            self._steps = self._solving.steps()
            self.stage, self.fraction, self.of_stage, self.timed = ON_CONTROLS, 0.0, 0.0, False

    def _solve_on(self, solving: Solving) -> None:
        until = time.monotonic() + self._solved_at_once
        try:
            for done in self._steps:
                self.fraction = done
                if time.monotonic() > until:
                    return
        except ValueError as error:
            self.turn.result, self._solving = None, None
            self._end(why=str(error))
        else:
            self.turn.controls, self._solving = solving.solution(), None
            self._end()

    def _end(self, why: str = "") -> None:
        self.turn.why = why
        self._at += 1
        if not self.over:
            self._send()


going_on: list[Session] = []
"""The one session that a window shows, if any: what has to end when the extension does."""


def is_going_on(session: Session) -> bool:
    """Whether it is neither closed nor abandoned."""
    return session in going_on


def unregister() -> None:
    """End the running session."""
    while going_on:
        going_on[-1].close()
