# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that can be led: straight on at several speeds, and transitions that turn, start, stop or change its speed.

Muico et al. 2009, section 5.5: "All subcontrollers were created with the expectation that they would start from and
follow into the straight-walking controller." So each transition is a possible motion whose ends are pinned: to a state
of the cycle that it comes from, and to one of the cycle that it leads to.

A cycle is entered and left half-way through the time in which one foot carries alone: at its joints. The other foot
swings there, and can still be put down where a turn wants it.

Where to put it is told by the linear inverted pendulum (Kajita et al. 2001): while a foot that is put down by p
elsewhere carries, the centre of mass strays by d, with d'' = omega^2 (d - p). So a velocity that is to change by the
end of one step says where that step goes, and the rest is the spacetime optimiser's, which begins so near that it
takes ten iterations.
"""

from .standing import Stand, starting, stopping
from .straight import Joint, Level, straight
from .turning import Transition, leading

__all__ = ["Joint", "Level", "Stand", "Transition", "leading", "starting", "stopping", "straight"]
