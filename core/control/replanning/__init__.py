# SPDX-License-Identifier: GPL-3.0-or-later
"""Replanning control after Jain and Liu 2011: long plans in modal space, made anew at every step."""

from .editing import transition
from .replanning import Replanning
from .settings import Settings
from .unfelt import Unfelt

__all__ = ["Replanning", "Settings", "Unfelt", "transition"]
