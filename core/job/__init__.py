# SPDX-License-Identifier: GPL-3.0-or-later
"""The border: `BakeJob` in, `run`, `BakeResult` out. Both are plain data that can be saved, compared and sent."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..simulation.scene import Load, Scene
from .company import CompanyJob
from .job import BakeJob, BodySettings, ContactInterval, MotionChoice
from .progress import CancelledError, Progress
from .result import BakeResult

if TYPE_CHECKING:
    from .motion import Motion
    from .running import check, precompute, run
    from .together import run_together

__all__ = [
    "BakeJob",
    "BakeResult",
    "BodySettings",
    "CancelledError",
    "CompanyJob",
    "ContactInterval",
    "Load",
    "Motion",
    "MotionChoice",
    "Progress",
    "Scene",
    "check",
    "precompute",
    "run",
    "run_together",
]


LATER = {
    "Motion": "motion",
    "check": "running",
    "precompute": "running",
    "run": "running",
    "run_together": "together",
}


def __getattr__(name: str) -> Any:
    """What runs a job, when it is first used: to describe one or to read a result need not import all of physics."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{LATER[name]}", __name__), name)
