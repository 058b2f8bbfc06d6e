# SPDX-License-Identifier: GPL-3.0-or-later
"""The gallery: scenes that a script makes, bakes and films; `run.py gallery` does it."""

from . import ground, poses, pushes, riding, things, two, ways
from .scene import Scene

SCENES: tuple[Scene, ...] = (
    *pushes.SCENES,
    *ground.SCENES,
    *poses.SCENES,
    *things.SCENES,
    *two.SCENES,
    *riding.SCENES,
    *ways.SCENES,
)
"""In the order of the page."""
