# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulation: a world of one character, terrain, props, pushes and grabs, stepped by one LCP."""

from .course import Course
from .footholds import Foothold
from .grabs import Grab
from .law import AffineLaw, Controller, State
from .props import Hinge, Prop
from .pushes import Push
from .recording import Frames, Recording, simulate
from .slider import Slider
from .strength import Strength, TorqueLimits
from .world import ContactForces, DivergedError, World

__all__ = [
    "AffineLaw",
    "ContactForces",
    "Controller",
    "Course",
    "DivergedError",
    "Foothold",
    "Frames",
    "Grab",
    "Hinge",
    "Prop",
    "Push",
    "Recording",
    "Slider",
    "State",
    "Strength",
    "TorqueLimits",
    "World",
    "simulate",
]
