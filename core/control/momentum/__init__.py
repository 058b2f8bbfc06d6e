# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum control after Ye and Liu 2010: an abstract model whose final time and final state may change."""

from .policy import Policy, precompute
from .settings import Settings
from .states import Outline

__all__ = ["Outline", "Policy", "Settings", "precompute"]
