# SPDX-License-Identifier: GPL-3.0-or-later
"""Good for most motions."""

import bpy

heft = bpy.context.active_object.heft
heft.controller = "LOOKAHEAD"
heft.rate = 120
heft.lookahead.adaptation = 0.002
heft.lookahead.follow_ground = True
heft.lookahead.reset_phase = False
heft.lookahead.await_touchdown = False
heft.lookahead.effort = 0.1
heft.lookahead.force = 0.1
heft.lookahead.help = 100.0
heft.lookahead.location = 0.1
heft.lookahead.height = 10.0
heft.lookahead.stance = 0.3
heft.lookahead.cycles = 2
heft.lookahead.settle = 2.0
heft.lookahead.rehearsals = 40
heft.lookahead.policy = "NQR"
heft.lookahead.about_reference = True
heft.lookahead.possible_forces = True
heft.lookahead.rehearsal_seconds = 0.0
