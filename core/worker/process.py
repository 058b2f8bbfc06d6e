# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker's own program, run as a script: does the tasks it is sent until its input ends.

Its argument is JSON text: `path` for sys.path, the name of the `package` to be made of this extension's `root` folder,
and the module of `tasks`.
"""

import importlib
import importlib.util
import json
import math
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

NICENESS = 5  # the interface goes first
# the kinds of messages that are no tasks
ENOUGH = "enough"  # what the task that runs has tried so far will do
STOP = "stop"  # nobody waits any more for what was asked before
INPUT = "input"  # for the task that runs


class OvertakenError(Exception):
    """Raised in a task that nobody waits for any more, when it says something."""


class Line:
    """What a task speaks through, and hears."""

    def __init__(self, write: Callable[..., None]) -> None:
        self._write = write
        self._enough = threading.Event()
        self._stops: queue.SimpleQueue[str] = queue.SimpleQueue()  # that are to come among the tasks
        self._inputs: queue.SimpleQueue[Any] = queue.SimpleQueue()  # values; None wakes who waits for some

    def __call__(self, kind: str, values: Any = None, arrays: Any = None) -> None:
        """Say something; OvertakenError where nobody listens."""
        if not self._stops.empty():
            raise OvertakenError
        self._write(kind, values, arrays)

    def begin(self) -> None:
        """Of another task nothing was said yet."""
        self._enough.clear()
        self._inputs = queue.SimpleQueue()

    def hear(self, kind: str, values: Any) -> bool:
        """Take a message in, unless it has to wait among the tasks."""
        if kind == ENOUGH:
            self._enough.set()
        elif kind == STOP:
            self._stops.put(kind)
            self._inputs.put(None)
        elif kind == INPUT:
            self._inputs.put(values)
        return kind in {ENOUGH, INPUT}

    def inputs(self, seconds: float) -> list[Any]:
        """What has come for the task since it last asked; waits for something so long at most, be it for ever."""
        found = []
        if seconds > 0.0 and self._inputs.empty():
            try:
                found.append(self._inputs.get(timeout=None if math.isinf(seconds) else seconds))
            except queue.Empty:
                return []
        while not self._inputs.empty():
            found.append(self._inputs.get())
        if not self._stops.empty():
            raise OvertakenError
        return [one for one in found if one is not None]

    def pass_stop(self) -> None:
        """All that was asked before it is over."""
        self._stops.get()

    def enough(self) -> bool:
        """Whether what was tried so far will do."""
        return self._enough.is_set()


def main(boot: dict[str, str | list[str]]) -> None:
    """Take one task after another; end with the input, which ends with whoever started it at the latest."""
    source, output = private_pipes()
    sys.path[:] = boot["path"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started it, who then ends the input
    for name in ("bpy", "mathutils"):  # physics never sees Blender
        sys.modules[name] = None  # type: ignore[assignment]
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    root = str(boot["root"])
    load(str(boot["package"]), Path(root, "__init__.py"), [root])
    # by its file: by its name it would take all of core with it, which the tasks may not need
    messages = load("messages", Path(__file__).with_name("messages.py"))
    tasks = importlib.import_module(str(boot["tasks"])).TASKS
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    line = Line(lambda kind, values, arrays: messages.write(output, kind, values, arrays))

    def listen() -> None:
        while (message := messages.read(source)) is not None:
            if not line.hear(message.kind, message.values):
                waiting.put(message)
        os._exit(0)  # whatever is being computed, nobody waits for it any more

    threading.Thread(target=listen, daemon=True).start()
    while True:
        message = waiting.get()
        if message.kind == STOP:
            line.pass_stop()
            continue
        line.begin()
        try:
            answer = tasks[message.kind](message, line)
        except OvertakenError:
            messages.write(output, "overtaken")
        except (ValueError, OSError) as error:
            messages.write(output, "failed", {"why": sentence(error)})
        else:
            messages.write(output, "done", *answer)


def private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the standard input and output for messages; what libraries print goes with the errors."""
    source, private = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (source, private):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return os.fdopen(source, "rb"), os.fdopen(private, "wb")


def load(name: str, path: Path, folders: list[str] | None = None) -> ModuleType:
    """Make the file the module of that name, or the package whose modules lie in the folders."""
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def sentence(error: ValueError | OSError) -> str:
    """What the user is told."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else f"{error.strerror}."
    return str(error)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
