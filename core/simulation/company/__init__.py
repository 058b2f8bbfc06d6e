# SPDX-License-Identifier: GPL-3.0-or-later
"""Several characters in one world: each has a `World` of its own, and those whose bodies touch are solved as one.

company.py steps them, crossing.py says what two of them have between them, island.py is the contact problem of those
that touch. Who touches nobody takes the very steps that it takes alone.
"""

from .company import Company, Hold, go_on, simulate_together

__all__ = ["Company", "Hold", "go_on", "simulate_together"]
