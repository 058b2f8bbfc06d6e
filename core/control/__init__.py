# SPDX-License-Identifier: GPL-3.0-or-later
"""Control: one room per method, all behind one door: `Controller.law` gives the stepper an `AffineLaw`."""

from .law import AffineLaw, Controller, State

__all__ = ["AffineLaw", "Controller", "State"]
