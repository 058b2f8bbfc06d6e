# SPDX-License-Identifier: GPL-3.0-or-later
"""Which action is best next, by a value function over actions and errors of heading (Treuille et al. 2007)."""

from .actions import Action, Trials
from .values import Wishes, Worth, iterate

__all__ = ["Action", "Trials", "Wishes", "Worth", "iterate"]
