# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door between control and simulation, under the name by which controllers know it.

The stepper reads these values, so they are defined beside it, in simulation/law.py.
"""

from ..simulation.law import AffineLaw, Controller, NoLawError, State

__all__ = ["AffineLaw", "Controller", "NoLawError", "State"]
