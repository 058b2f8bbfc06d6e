# SPDX-License-Identifier: GPL-3.0-or-later
"""What a batch knows of those who do its jobs: they take one after another, and say what became of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ..job import BakeJob


class Event(NamedTuple):
    """Something that was said of a job: how far it is, its result, or why there is none."""

    name: str
    share: float = 1.0  # of the job that is done
    report: Mapping[str, Any] | None = None
    result: bytes | None = None  # the content of its file
    why: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will be said of it."""
        return self.result is not None or self.why != ""


class Pool(Protocol):
    """Processes, on this machine or others."""

    @property
    def size(self) -> int:
        """Jobs that it can be given at a time."""

    def give(self, name: str, job: BakeJob) -> None:
        """Have a job done; `size` of them at most."""

    def wait(self) -> Event:
        """The next thing that is said."""

    def close(self) -> None:
        """End everything, at once."""
