# SPDX-License-Identifier: GPL-3.0-or-later
"""Many bakes: those of a file, run on as many processes or machines as there are, and resumed after an interruption.

`Plan` reads a file of bakes; `run` bakes any jobs by name, by a pool. Results are whole files; `batch.jsonl` beside
them records the outcome of each job, so that an interrupted batch can be resumed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cluster import ClusterPool
    from .journal import Entry
    from .local import LocalPool
    from .plan import Plan
    from .running import Standing, run

__all__ = ["ClusterPool", "Entry", "LocalPool", "Plan", "Standing", "run"]

MODULES = {
    "ClusterPool": "cluster",
    "Entry": "journal",
    "LocalPool": "local",
    "Plan": "plan",
    "Standing": "running",
    "run": "running",
}


def __getattr__(name: str) -> Any:
    """Imported when first used: the command line names this package before it knows which command was given."""
    import importlib

    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{MODULES[name]}", __name__), name)
