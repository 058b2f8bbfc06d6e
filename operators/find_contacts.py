# SPDX-License-Identifier: GPL-3.0-or-later
"""Find Contacts: key again when each part of the body touches the ground."""

from __future__ import annotations

import bpy

from ..blender_addon import reference
from ..blender_addon.baking.session import Turn
from .build_reference import Keying


class HEFT_OT_find_contacts(Keying):
    """Find in the action when each part of the body touches the ground; your own changes are discarded"""

    bl_idname = "heft.find_contacts"
    bl_label = "Find Contacts"
    bl_options = {"UNDO"}

    task = "contacts"

    def show(self, armature: bpy.types.Object, turn: Turn) -> None:
        """Key them."""
        reference.show_contacts(armature, turn.gathered.job, turn.said)
        self.report({"INFO"}, f"{armature.name}: {len(turn.said['contacts'])} contacts found")
