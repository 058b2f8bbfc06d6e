# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear Bellman equation and the combination of controllers, after da Silva 2010, chapters 4 to 6."""

from .settings import Settings

__all__ = ["Settings"]
