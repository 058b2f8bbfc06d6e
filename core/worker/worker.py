# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker as seen from outside: start it, send it tasks, collect what it says without waiting, end it at once."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from .. import rounding
from . import messages
from .messages import Arrays, Message
from .process import ENOUGH, INPUT, STOP

ROOT = Path(__file__).parents[2]
PACKAGE = "heft"
"""What Heft is called over there, whatever Blender calls the extension: kernels are kept by the modules' names."""
LOCATOR = f"{PACKAGE}.core.maths.kernel_cache.ByContent"
"""How numba is to keep them."""
ENDS = frozenset({"done", "failed", "overtaken"})
"""The kinds of message of which every task has one, its last."""
PATIENCE = 0.1  # seconds between asking a process to end and making it


class Worker:
    """A process that does one task after another.

    A thread reads what it says and never touches bpy; `poll` hands that over. The last message is of the kind "ended".
    """

    def __init__(
        self,
        kernels: Path | None,
        tasks: str = f"{PACKAGE}.core.worker.tasks",
        listener: Callable[[Message], None] | None = None,
    ) -> None:
        """Start it.

        Compiled kernels are kept in a folder; where numba is told by the environment if none is given. A `listener` is
        called in the reading thread with every message, instead of those waiting for `poll` and `wait`.
        """
        boot = {"path": [entry for entry in sys.path if entry], "package": PACKAGE, "root": str(ROOT), "tasks": tasks}
        variables = os.environ | rounding.PROCESS
        if kernels is not None:
            variables |= {"NUMBA_CACHE_DIR": str(kernels), "NUMBA_CACHE_LOCATOR_CLASSES": LOCATOR}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [str(python()), "-I", "-S", "-X", "utf8", str(Path(__file__).with_name("process.py")), json.dumps(boot)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=variables,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._arrived: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._tell = listener or self._arrived.put
        self._stopped = False
        self._asked = self._answered = self._forgotten = 0  # tasks; those up to the last number, nobody waits for
        self._outgoing: queue.SimpleQueue[tuple[str, Callable[[], tuple[Mapping[str, Any], Arrays]]]]
        self._outgoing = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="Heft's worker", daemon=True)
        self._reader.start()
        threading.Thread(target=self._write, name="Heft's sender", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def send(self, kind: str, values: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> None:
        """Send a task; if the process has gone, the message "ended" says so."""
        self.send_made(kind, lambda: (values or {}, arrays or {}))

    def send_made(self, kind: str, make: Callable[[], tuple[Mapping[str, Any], Arrays]]) -> None:
        """Send a task whose values and arrays are made in the thread that sends them: nobody waits for that.

        Where they cannot be made, the message "failed" says why.
        """
        self._asked += 1
        self._outgoing.put((kind, make))

    def enough(self) -> None:
        """Have the task that runs take the best of what it has tried so far."""
        self._say(ENOUGH)

    def direct(self, values: Mapping[str, Any]) -> None:
        """Tell the task that runs something."""
        self._outgoing.put((INPUT, lambda: (values, {})))

    def overtake(self) -> None:
        """Have tasks stop at their next word, and hear no more of them; the process goes on with what is sent next."""
        if self._answered < self._asked:
            self._forgotten = self._asked
            self._say(STOP)

    def _say(self, kind: str) -> None:
        self._outgoing.put((kind, lambda: ({}, {})))

    def poll(self) -> list[Message]:
        """What has been said since the last call."""
        found = []
        while not self._arrived.empty():
            found.append(self._arrived.get())
        return self._heard(found)

    def wait(self, seconds: float | None = None) -> list[Message]:
        """The same, but wait for something first; nothing once the seconds are over."""
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            try:
                first = self._arrived.get(timeout=None if until is None else max(until - time.monotonic(), 0.0))
            except queue.Empty:
                return []
            if found := [*self._heard([first]), *self.poll()]:
                return found

    def _heard(self, said: list[Message]) -> list[Message]:
        """Messages without those of tasks that were overtaken."""
        found = []
        for message in said:
            if self._answered >= self._forgotten or message.kind == "ended":
                found.append(message)
            self._answered += message.kind in ENDS
        return found

    def stop(self) -> None:
        """End the process now, and leave nothing of it."""
        self._stopped = True
        self._say("")  # nothing is sent any more: the thread ends
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            try:
                _pipe(stream).close()
            except OSError:  # what was not yet written cannot be any more
                continue
        self._errors.close()

    def _write(self) -> None:
        """Run in the other thread: send one message after the other. A process that has only begun takes none yet."""
        while not self._stopped:
            kind, make = self._outgoing.get()
            try:
                if not self._stopped:
                    messages.write(_pipe(self._process.stdin), kind, *make())
            except OSError:
                self._process.kill()
            except ValueError as error:
                if not self._stopped:  # or it was closed while it was written to
                    self._tell(Message("failed", {"why": str(error)}, {}))

    def _read(self) -> None:
        """Run in the thread."""
        why = ""
        try:
            while (message := messages.read(_pipe(self._process.stdout))) is not None:
                self._tell(message)
        except ValueError as error:
            why = str(error)
            self._process.kill()
        status = self._process.wait()
        self._tell(Message("ended", {"why": why or self._last_words(status)}, {}))

    def _last_words(self, status: int) -> str:
        """Why the process ended, in a sentence."""
        if self._stopped:
            return "The physics process was stopped."
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        code = f"signal {-status}" if status < 0 else f"status {status}"
        return f"The physics process ended unexpectedly ({code}{': ' + said if said else ''})."


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("The physics process was started without its pipes.")
    return stream


def python() -> Path:
    """Blender's own Python.

    Blender says in sys.executable where it is; as a module it is the Python that imported it. Where that names Blender
    itself or nothing, it is looked for where Python was installed.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = ("python.exe",) if os.name == "nt" else (f"python{version}", "python3", "python")
    places = [Path(sys.executable)] if sys.executable else []
    places += [
        Path(prefix) / folder / name
        for prefix in (sys.prefix, sys.base_prefix)
        for folder in ("bin", ".")
        for name in names
    ]
    for place in places:
        if place.stem.lower().startswith("python") and place.is_file():
            return place
    raise FileNotFoundError(f"Blender's own Python was not found in {sys.prefix}.")
