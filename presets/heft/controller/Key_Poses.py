# SPDX-License-Identifier: GPL-3.0-or-later
"""A few key poses, as they are: chin-ups, squats, lifts."""

import bpy

heft = bpy.context.active_object.heft
heft.controller = "REPLANNING"
heft.rate = 120
heft.optimise = False
heft.replanning.window = 0.0
heft.replanning.delay = 0.0
heft.replanning.transition = 0.0
heft.replanning.slowing = 0.0
heft.replanning.threshold = 100.0
heft.replanning.translation = 1.0
heft.replanning.rotation = 1.0
heft.replanning.velocity = 1.0
heft.replanning.force = 0.01
heft.replanning.position_low = 5.0
heft.replanning.velocity_low = 2.0
heft.replanning.effort_low = 0.005
heft.replanning.effort_correction = 0.001
heft.replanning.bracing = 0.0
heft.replanning.friction = 0.8
