# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning again after a disturbance: a step that the motion does not have, and back into the motion.

capture.py says where to step, motion_ahead.py what was coming, footholds.py and guess.py what is to come instead, plan.py
makes that possible and finds gains for it, rehearsal.py tries it out and judges it, recovering.py decides and follows.
"""

from .recovering import Recovering
from .recovery import Recovery

__all__ = ["Recovering", "Recovery"]
