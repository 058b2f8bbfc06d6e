# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ahead control after Muico et al. 2009: linear and nonlinear quadratic regulators, adapted to contact."""

from .lookahead import LookAhead, Place
from .policy import CostToGo, Policy
from .precompute import precompute, sweep
from .search import Choice, choose_settings, rehearse
from .settings import Settings
from .storage import load_policy, policy_key, save_policy
from .track import Track, standing

__all__ = [
    "Choice",
    "CostToGo",
    "LookAhead",
    "Place",
    "Policy",
    "Settings",
    "Track",
    "choose_settings",
    "load_policy",
    "policy_key",
    "precompute",
    "rehearse",
    "save_policy",
    "standing",
    "sweep",
]
