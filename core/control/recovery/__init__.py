# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning again after a disturbance: a step that the motion does not have, and back into the motion.

disturbances.py says when that is felt, capture.py how far off it is, motion_ahead.py what was coming, footholds.py,
added.py, hurried.py, guess.py and arms.py what is to come instead, plan.py makes that possible and finds gains for it,
rehearsal.py tries it out, recovering.py decides and follows; homing.py leads back to the path. going_on.py says what
comes after a motion that ends on its way, pushing.py what pushes still give. uneven.py lays the coming steps on ground
that the motion was not made for, which is a disturbance too. getting_up.py is for when all of that was not enough.
"""

from .disturbances import Disturbances
from .getting_up import GettingUp
from .recovering import AGAIN, DISTURBED, LOSING, Recovering
from .uneven import meets_other_ground

__all__ = ["AGAIN", "DISTURBED", "LOSING", "Disturbances", "GettingUp", "Recovering", "meets_other_ground"]
