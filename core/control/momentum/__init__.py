# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum control after Ye and Liu 2010: an abstract model whose final time and final state may change."""

from .laps import unrolled
from .performer import Performer, Touches
from .placing import place_stances
from .policy import Policy, precompute
from .route import make_route, stances
from .settings import Settings
from .states import Outline

__all__ = [
    "Outline",
    "Performer",
    "Policy",
    "Settings",
    "Touches",
    "make_route",
    "place_stances",
    "precompute",
    "stances",
    "unrolled",
]
