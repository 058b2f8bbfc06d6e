# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress display of a batch: a bar with the time left in a terminal, a line for each job elsewhere."""

import time
from collections.abc import Callable
from typing import TextIO

from .journal import Entry
from .running import Standing

WIDTH = 30  # characters of the bar
EVERY = 0.1  # s between updates of the bar
LEAST_FRACTION = 0.001


class Shown:
    """Writes to a terminal or a file."""

    def __init__(self, stream: TextIO, label: Callable[[str], str] = str) -> None:
        """`label` gives what a job is called before people by its name."""
        self._label = label
        self._stream, self._live = stream, stream.isatty()
        self._begun, self._drawn = time.monotonic(), 0.0
        self._length = 0  # of the line that stands there

    def update(self, standing: Standing) -> None:
        """Show the progress."""
        entry = standing.last
        if entry is not None and (not self._live or entry.outcome != "completed"):
            place = f"{standing.before + standing.done} of {standing.jobs}"
            self._line(f"{place}: {self._label(entry.name)}: {outcome_text(entry)}")
        now = time.monotonic()
        if self._live and (entry is not None or now - self._drawn > EVERY):
            self._drawn = now
            self._bar(standing, now - self._begun)

    def end(self) -> None:
        """Remove the bar."""
        if self._live:
            self._write("\r" + " " * self._length + "\r")

    def _line(self, text: str) -> None:
        self._write(f"\r{text:<{self._length}}\n" if self._live else f"{text}\n")
        self._length = 0

    def _bar(self, standing: Standing, gone: float) -> None:
        fraction = standing.fraction
        filled = round(WIDTH * fraction)
        left = f", {clock(gone * (1.0 - fraction) / fraction)} left" if fraction > LEAST_FRACTION else ""
        text = f"[{'#' * filled}{' ' * (WIDTH - filled)}] {standing.before + standing.done} of {standing.jobs}{left}"
        self._write(f"\r{text:<{self._length}}")
        self._length = len(text)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def outcome_text(entry: Entry) -> str:
    """What became of a job."""
    return f"failed. {entry.why}" if entry.failed else entry.why


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
