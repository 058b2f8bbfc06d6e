# SPDX-License-Identifier: GPL-3.0-or-later
"""Spacetime optimisation: the motion closest to a clip for which torques and contact forces exist.

Muico et al. 2009, section 3.2. `build_reference` is the door; problem.py states the optimisation, model.py makes a
quadratic programme of it at an iterate, riccati.py and ends.py solve that, solver.py iterates, measure.py judges.
"""

from .build import Help, NoReferenceError, build_reference
from .effort import Carrying
from .ends import Ends
from .settings import Settings

__all__ = ["Carrying", "Ends", "Help", "NoReferenceError", "Settings", "build_reference"]
