# SPDX-License-Identifier: GPL-3.0-or-later
"""Set up an armature as a physical character, and change by hand which bones play which role."""

from collections.abc import Callable

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..blender_addon import redraw
from ..blender_addon.baking.session import going_on, is_going_on, there
from ..blender_addon.rig import setting_up
from ..blender_addon.slices import AT_ONCE, Slices, Work
from ..blender_addon.typed import progress_on, settings_on
from ..blender_addon.words import interface as _
from .status import Status

EVERY = 0.05  # s between two slices


def active_armature(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """For polls: whether the active object is an armature that is not being edited."""
    armature = context.active_object
    if armature is None or armature.type != "ARMATURE":
        cls.poll_message_set("No armature is active: select one")
        return False
    if armature.mode == "EDIT":
        cls.poll_message_set("The armature is in Edit Mode: leave it first")
        return False
    return True


class Run(Slices[setting_up.SetUp]):
    """Set Up while a window shows how far it is."""

    def __init__(self, begin: Callable[[], Work[setting_up.SetUp]], stage: str) -> None:
        super().__init__(begin)
        manager = bpy.context.window_manager
        self._timer = manager.event_timer_add(EVERY, window=bpy.context.window)
        state = progress_on(manager)
        state.running = True
        state.stop = state.rehearses = False
        state.who, state.stage, state.fraction, state.left = "", stage, 0.0, ""
        going_on.append(self)

    def go_on(self, seconds: float = AT_ONCE) -> bool:
        """Go on, and tell of it."""
        over = super().go_on(seconds)
        progress_on(bpy.context.window_manager).fraction = self.fraction
        redraw.panels()
        return over

    def close(self) -> None:
        """End it, done or not."""
        self.end()
        if self in going_on:
            going_on.remove(self)
            bpy.context.window_manager.event_timer_remove(self._timer)
            progress_on(bpy.context.window_manager).running = False
            redraw.panels()


class HEFT_OT_set_up(bpy.types.Operator):
    """Detect the roles of the active armature's bones, and build a physical character that fits it"""

    bl_idname = "heft.set_up"
    bl_label = "Set Up"
    bl_options = {"REGISTER", "UNDO"}

    forget: BoolProperty(
        name="Detect All Again",
        description="Also detect the roles that you chose yourself",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        """Of a button: find everything a little at a time."""
        if bpy.app.background:
            return self.execute(context)
        self._uid = uid = context.active_object.session_uid
        keep = not self.forget
        self._run = Run(lambda: setting_up.setting_up(bpy.context, there(uid), keep_choices=keep), _("Setting up"))
        context.window_manager.modal_handler_add(self)
        return self._go_on(context)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Go on, until it is done or stopped."""
        if not is_going_on(self._run):  # the extension was disabled
            return {"CANCELLED"}
        if progress_on(context.window_manager).stop:
            self._run.close()
            return {"CANCELLED"}
        return self._go_on(context) if event.type == "TIMER" else {"PASS_THROUGH"}

    def cancel(self, _context: bpy.types.Context) -> None:
        """Blender ends it: another file is loaded, or Blender quits."""
        self._run.close()

    def _go_on(self, context: bpy.types.Context) -> Status:
        """Find some more; store what was found once it is all."""
        try:
            if not self._run.go_on():
                return {"RUNNING_MODAL"}
            armature = there(self._uid)
        except ValueError as error:
            self._run.close()
            return self._refuse(context, str(error))
        self._run.close()
        return self._store(armature, self._run.results[0])

    def execute(self, context: bpy.types.Context) -> Status:
        """Find everything first, then store it. Of what cannot be set up the roles are shown, to be completed."""
        armature = context.active_object
        try:
            done = setting_up.set_up(context, armature, keep_choices=not self.forget)
        except ValueError as error:
            return self._refuse(context, str(error))
        return self._store(armature, done)

    def _refuse(self, context: bpy.types.Context, why: str) -> Status:
        if context.active_object is not None and context.active_object.type == "ARMATURE":
            setting_up.offer_roles(context, context.active_object)
        self.report({"ERROR"}, why)
        return {"CANCELLED"}

    def _store(self, armature: bpy.types.Object, done: setting_up.SetUp) -> Status:
        setting_up.store(armature, done)
        for line in done.lines:
            self.report({"INFO"}, line)
        character = done.plan.character
        self.report(
            {"WARNING" if done.found.unsure else "INFO"},
            f"{armature.name}: {character.nv} degrees of freedom, {character.total_mass:.1f} kg"
            + (f"; {len(done.found.unsure)} roles to check in the panel" if done.found.unsure else ""),
        )
        return {"FINISHED"}


class HEFT_OT_edit_role(bpy.types.Operator):
    """Add a bone to this role's chain, or remove the last one"""

    bl_idname = "heft.edit_role"
    bl_label = "Edit Role"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    role: StringProperty(name="Role", options={"HIDDEN"})
    action: EnumProperty(
        name="Action",
        items=[("ADD", "Add", "Add a bone at the end"), ("REMOVE", "Remove", "Remove a bone")],
        options={"HIDDEN"},
    )
    index: IntProperty(name="Index", default=-1, options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature."""
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Add or remove one entry."""
        role = settings_on(context.active_object).roles.get(self.role)
        if role is None:
            self.report({"ERROR"}, f"There is no role '{self.role}'")
            return {"CANCELLED"}
        if self.action == "ADD":
            role.bones.add()
        elif len(role.bones) > 1:
            role.bones.remove(self.index if 0 <= self.index < len(role.bones) else len(role.bones) - 1)
        else:
            role.bones[0].bone = ""
        return {"FINISHED"}
