# SPDX-License-Identifier: GPL-3.0-or-later
"""What a batch knows of the processes that run its jobs: they take jobs and report events."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ..job import BakeJob


class Event(NamedTuple):
    """An event of a job: its progress, its result, or why there is none."""

    name: str
    share: float = 1.0  # of the job that is done
    report: Mapping[str, Any] | None = None
    result: bytes | None = None  # the content of its file
    why: str = ""

    @property
    def ended(self) -> bool:
        """Whether it is the job's last event."""
        return self.result is not None or self.why != ""


class Pool(Protocol):
    """Processes, on this machine or others."""

    @property
    def size(self) -> int:
        """Number of concurrent jobs."""

    def give(self, name: str, job: BakeJob) -> None:
        """Submit a job; at most `size` at a time."""

    def wait(self) -> Event:
        """The next event."""

    def close(self) -> None:
        """End everything at once."""
