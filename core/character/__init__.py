# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters: trees of rigid bodies with joints, limits and contact shapes; presets, files and MuJoCo's XML."""

from .character import Character
from .parts import Body, Capsule, Cone, ContactShape, Corner, Joint, JointKind, Limits, Range, Sphere
from .tree import Tree

__all__ = [
    "Body",
    "Capsule",
    "Character",
    "Cone",
    "ContactShape",
    "Corner",
    "Joint",
    "JointKind",
    "Limits",
    "Range",
    "Sphere",
    "Tree",
]
