# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control after Jain and Liu 2011: long plans in modal space, made anew at every step."""

from .editing import transition
from .replanning import PlanError, Replanning
from .settings import Settings
from .track import Track

__all__ = ["PlanError", "Replanning", "Settings", "Track", "transition"]
