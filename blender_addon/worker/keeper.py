# SPDX-License-Identifier: GPL-3.0-or-later
"""The session's one worker: started when it is first needed, kept for the next bake, ended with the extension.

A process belongs to the running Blender, not to a file, which is why this is kept in a module.
"""

from __future__ import annotations

import bpy

from ...core.worker.messages import Message
from ...core.worker.worker import Worker
from .. import redraw
from . import kernels

LOOK = 0.5  # seconds between looks at a warm-up


class Keeper:
    """Holds the worker, and knows whether kernels are being compiled."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self.compiling = False
        self.trouble = ""

    def worker(self) -> Worker:
        """The worker; a new one where there is none."""
        if self._worker is None or not self._worker.alive:
            self.stop()
            self._worker = Worker(kernels.kernel_folder())
        return self._worker

    def poll(self) -> list[Message]:
        """What the worker has said; of the warm-up itself nothing is left to say."""
        return self._without_warm_up([] if self._worker is None else self._worker.poll())

    def wait(self, seconds: float | None = None) -> list[Message]:
        """The same, but wait for something first."""
        return self._without_warm_up([] if self._worker is None else self._worker.wait(seconds))

    def warm_up(self) -> None:
        """Compile all kernels in the background, once per installed version."""
        if self.compiling or kernels.are_ready():
            return
        worker = self.worker()
        self.compiling, self.trouble = True, ""
        worker.send("warm_up")
        bpy.app.timers.register(self._look, first_interval=LOOK, persistent=True)

    def stop(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.stop()
        self._worker, self.compiling = None, False

    def _without_warm_up(self, said: list[Message]) -> list[Message]:
        rest = []
        for message in said:
            if self.compiling and message.kind in {"done", "failed", "ended"}:
                self.compiling = False
                if message.kind == "done":
                    kernels.note_ready()
                    continue
                self.trouble = str(message.values["why"])
                if message.kind == "failed":
                    continue
            rest.append(message)
        return rest

    def _look(self) -> float | None:
        """Called by Blender while nobody else asks the worker; the panels then show what became of it."""
        if self.compiling and not bpy.context.window_manager.heft.running:
            self.poll()
        if self.compiling:
            return LOOK
        redraw.panels()
        return None

    def forget_timer(self) -> None:
        """No more looks: the extension is being disabled."""
        if bpy.app.timers.is_registered(self._look):
            bpy.app.timers.unregister(self._look)


keeper = Keeper()


def register() -> None:
    """In a window, compile what is not yet compiled."""
    if not bpy.app.background:
        keeper.warm_up()


def unregister() -> None:
    """Leave no process and no timer behind."""
    keeper.forget_timer()
    keeper.stop()
