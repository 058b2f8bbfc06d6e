# SPDX-License-Identifier: GPL-3.0-or-later
"""`heft clean` beside the window: another Blender runs the command, so that the scene at hand is left alone.

It belongs to the running Blender, not to a file, which is why it is kept in a module. What ends early, stopped or with
Blender, is continued where it was by the next run into the same folder.
"""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import bpy

from . import redraw

LOOK = 0.25  # s between looks at what it says
TOLD = re.compile(r"^(\d+) of (\d+): (.*)$")  # of a clip that was cleaned
PATIENCE = 5.0  # s to end by itself
EXTENSION = __package__.removesuffix(".blender_addon")


class FolderRun:
    """The command, running or ended."""

    def __init__(self, words: Sequence[str]) -> None:
        """`words` of the command line, with the program first."""
        self.fraction = 0.0
        self.line = ""  # the last that it said
        self.status: int | None = None  # once it has ended; None of one that was stopped
        self.stopped = False
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._listener = threading.Thread(target=self._listen, name="Heft's folder", daemon=True)
        self._listener.start()

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.status is None and not self.stopped

    def look(self) -> None:
        """Take in what it has said."""
        alive = self._listener.is_alive()
        while not self._said.empty():
            self._hear(self._said.get().strip())
        if self.running and not alive:
            self.status = self._process.wait()

    def wait(self) -> None:
        """Until it has ended."""
        self._listener.join()
        self.look()

    def stop(self) -> None:
        """End it; what is done is done, and the rest is for another time."""
        if not self.running:
            return
        self.stopped = True
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(line)

    def _hear(self, line: str) -> None:
        told = TOLD.match(line)
        if told is not None:
            self.fraction = int(told[1]) / max(int(told[2]), 1)
        if line:
            self.line = line


def words_for(folder: Path, out: Path, *, simulate: bool, opensim: bool, workers: int) -> list[str]:
    """The command line that cleans a folder, and goes on with what an earlier run has left."""
    if bpy.app.binary_path:
        program = [bpy.app.binary_path, "--command", "heft"]
    else:  # Blender as a module
        program = [sys.executable, "-m", f"{EXTENSION}.blender_module"]
    words = [*program, "clean", str(folder), "--out", str(out), "--workers", str(workers), "--resume"]
    return words + ["--simulate"] * simulate + ["--opensim"] * opensim


class Keeper:
    """Holds the run there is, and looks at it again and again."""

    def __init__(self) -> None:
        self.run: FolderRun | None = None
        self._timer = self._look  # Blender knows a timer by its object, and each access to a method makes another

    def begin(self, words: Sequence[str]) -> FolderRun:
        """Start one; there is none that goes on."""
        self.run = FolderRun(words)
        if not bpy.app.background:
            bpy.app.timers.register(self._timer, first_interval=LOOK, persistent=True)
        return self.run

    @property
    def running(self) -> bool:
        """Whether one goes on."""
        return self.run is not None and self.run.running

    def stop(self) -> None:
        """End it, if there is one."""
        if self.run is not None:
            self.run.stop()

    def _look(self) -> float | None:
        if self.run is None:
            return None
        self.run.look()
        redraw.panels()
        return LOOK if self.run.running else None


keeper = Keeper()


def unregister() -> None:
    """End with the extension."""
    keeper.stop()
    keeper.run = None
