# SPDX-License-Identifier: GPL-3.0-or-later
"""Which action is best next, by value functions over actions and errors of heading and place (Treuille et al. 2007)."""

from .actions import Action, Trials, follows
from .places import Errand, fit
from .values import Wishes, Worth, iterate
from .ways import Ahead, Pose, Trim, Way

__all__ = ["Action", "Ahead", "Errand", "Pose", "Trials", "Trim", "Way", "Wishes", "Worth", "fit", "follows", "iterate"]
