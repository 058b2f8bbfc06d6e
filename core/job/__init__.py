# SPDX-License-Identifier: GPL-3.0-or-later
"""The border: `BakeJob` in, `run`, `BakeResult` out. Both are plain data that can be saved, compared and sent."""

from typing import TYPE_CHECKING, Any

from .job import BakeJob, BodySettings, ContactInterval, Load, Scene
from .progress import CancelledError, Progress
from .result import BakeResult

if TYPE_CHECKING:
    from .running import run

__all__ = [
    "BakeJob",
    "BakeResult",
    "BodySettings",
    "CancelledError",
    "ContactInterval",
    "Load",
    "Progress",
    "Scene",
    "run",
]


def __getattr__(name: str) -> Any:
    """`run`, when it is first used: who only describes a job or reads a result need not import all of physics."""
    if name != "run":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .running import run

    return run
