# SPDX-License-Identifier: GPL-3.0-or-later
"""Many bakes: what a file asks for, on as many processes or machines as there are, and what is left to do of it.

`Plan` reads a file of bakes; `run` bakes any jobs by name, by a pool. Results are whole files; `batch.jsonl` beside
them says what became of each job, so that a batch that was ended in whatever way goes on where it was.
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
    """Opened when first used: the command line names this room before it knows what is asked for."""
    import importlib

    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{MODULES[name]}", __name__), name)
