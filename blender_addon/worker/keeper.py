# SPDX-License-Identifier: GPL-3.0-or-later
"""The session's one worker: started when it is first needed, kept for the next bake, ended with the extension.

Another one compiles in the background what bakes will need. It gives way to a bake, which compiles what it needs
itself, and goes on afterwards where it was.

A process belongs to the running Blender, not to a file, which is why this is kept in a module.
"""

from __future__ import annotations

import bpy

from ...core.job.job import AUTO
from ...core.worker.messages import Message
from ...core.worker.worker import Worker
from .. import redraw
from ..typed import as_kind, progress_on, settings_on
from . import kernels

LOOK = 0.5  # seconds between looks at a preparation


class Keeper:
    """Holds the worker, and knows how far the preparation of kernels is."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._preparer: Worker | None = None
        self._first = ""  # the method that the preparer was asked to begin with
        self.preparing = ""  # the label of the method that is being prepared
        self.fraction = 0.0  # of what there was to prepare
        self.trouble = ""
        self._timer = self._look  # Blender knows a timer by its object, and each access to a method makes another

    def worker(self) -> Worker:
        """The worker; a new one where there is none."""
        if self._worker is None or not self._worker.alive:
            self._end_worker()
            self._worker = Worker(kernels.kernel_folder())
        return self._worker

    def poll(self) -> list[Message]:
        """What the worker has said."""
        return [] if self._worker is None else self._worker.poll()

    def wait(self, seconds: float | None = None) -> list[Message]:
        """The same, but wait for something first."""
        return [] if self._worker is None else self._worker.wait(seconds)

    def enough(self) -> None:
        """Have the worker take the best of what it has tried so far."""
        if self._worker is not None:
            self._worker.enough()

    def prepare(self) -> None:
        """Compile in the background what is not there, once per installed version."""
        if missing() and not bpy.app.timers.is_registered(self._timer):
            self.trouble = ""
            bpy.app.timers.register(self._timer, first_interval=LOOK, persistent=True)

    @property
    def prepares(self) -> bool:
        """Whether it compiles what is missing, or goes on to when nothing else does."""
        return bool(bpy.app.timers.is_registered(self._timer))

    def give_way(self) -> None:
        """To a bake. What was compiled is kept."""
        if self._preparer is not None:
            self._preparer.stop()
        self._preparer, self.preparing = None, ""

    def overtake(self) -> None:
        """Have the worker leave what it does, for the next task."""
        if self._worker is not None:
            self._worker.overtake()

    def stop(self) -> None:
        """End both."""
        self._end_worker()
        self.give_way()

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.stop()
        self._worker = None

    def _look(self) -> float | None:
        """Called by Blender: begin, or take in what was said; the panels then show it."""
        left = missing()
        if self.trouble or not left:
            self.give_way()
            redraw.panels()
            return None
        state = progress_on(bpy.context.window_manager)
        if state.running or state.following:
            self.give_way()
            return LOOK
        if self._preparer is None or (left[0] == chosen() != self._first):
            self.give_way()
            self._preparer, self._first = Worker(kernels.kernel_folder()), left[0]
            self._preparer.send("prepare", {"methods": left})
        self.take(self._preparer.poll())
        redraw.panels()
        return LOOK

    def take(self, said: list[Message]) -> None:
        """What the preparer has said."""
        for message in said:
            if message.kind == "progress":
                self.preparing, self.fraction = labels()[message.values["method"]], float(message.values["fraction"])
            elif message.kind == "prepared":
                kernels.note_ready(str(message.values["method"]))
            elif message.kind in {"failed", "ended"}:
                self.trouble = str(message.values["why"])

    def forget_timer(self) -> None:
        """No more looks: the extension is being disabled."""
        if bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.unregister(self._timer)


def chosen() -> str:
    """The active object's method, if it has chosen one."""
    active = bpy.context.active_object
    return settings_on(active).controller.lower() if active is not None else ""


def labels() -> dict[str, str]:
    """What each method is called, as one chooses among them: to import all of them takes a while."""
    settings = as_kind(bpy.types.Object.bl_rna.properties["heft"], bpy.types.PointerProperty).fixed_type
    methods = as_kind(settings.properties["controller"], bpy.types.EnumProperty).enum_items
    return {item.identifier.lower(): item.name for item in methods if item.identifier != AUTO.upper()}


def missing() -> list[str]:
    """Methods whose kernels are not all there, the one that is chosen first."""
    first = chosen() if hasattr(bpy.context, "active_object") else ""
    return sorted((name for name in labels() if not kernels.are_ready(name)), key=lambda name: name != first)


keeper = Keeper()


def register() -> None:
    """In a window, compile what is not yet compiled."""
    if not bpy.app.background:
        keeper.prepare()


def unregister() -> None:
    """Leave no process and no timer behind."""
    keeper.forget_timer()
    keeper.stop()
