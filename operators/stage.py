# SPDX-License-Identifier: GPL-3.0-or-later
"""Play on Stage: a character acts in real time, and is pulled, shoved and thrown at; and what becomes of the take."""

from __future__ import annotations

import math

import bpy

from ..blender_addon import redraw
from ..blender_addon.baking import session
from ..blender_addon.baking.following import following
from ..blender_addon.overlay import stage as overlay
from ..blender_addon.scene.takes import drop_takes, things_taken
from ..blender_addon.stage import picking
from ..blender_addon.stage.following_view import Following
from ..blender_addon.stage.playing import Playing
from ..blender_addon.typed import progress_on, settings_on
from ..blender_addon.worker.keeper import keeper
from ..core.live import inputs
from .set_up import active_armature
from .status import Status

EVERY = 1.0 / 60.0  # s between looks at what the worker shows
DRAG = 4  # pixels, from which on a press is no click
SHOVE = 0.1  # s
ON_STAGE = "On the stage: press Esc over the view to end it"
TURN, FASTER = math.radians(15.0), 0.1  # of a press of an arrow key; m/s
ARROWS = {
    "UP_ARROW": (FASTER, 0.0),
    "DOWN_ARROW": (-FASTER, 0.0),
    "LEFT_ARROW": (0.0, TURN),
    "RIGHT_ARROW": (0.0, -TURN),
}
PACES = {"ONE": 1.0, "TWO": 0.5, "THREE": 0.25, "FOUR": 0.1}
# the view may be turned meanwhile, and Blender goes on with its own
PASSED = ("MIDDLEMOUSE", "WHEEL", "TRACKPAD", "NUMPAD_", "NDOF", "HOME", "TIMER", "WINDOW")


class HEFT_OT_stage(bpy.types.Operator):
    """Play the action in the viewport in real time: pull the character, shove it, throw balls at it, steer a walk"""

    bl_idname = "heft.stage"
    bl_label = "Play on Stage"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature, and while nothing else runs."""
        if progress_on(context.window_manager).running:
            cls.poll_message_set("A bake is running: wait for it, or cancel it")
            return False
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Begin; somebody has to be there to direct it."""
        if bpy.app.background:
            self.report({"ERROR"}, "The stage needs a window: open Blender with one")
            return {"CANCELLED"}
        following.give_way()
        begun = self._begin(context, context.active_object)
        if begun == {"RUNNING_MODAL"}:
            context.window_manager.modal_handler_add(self)
        return begun

    def _begin(self, context: bpy.types.Context, armature: bpy.types.Object) -> Status:
        """Set the stage for an armature, the first time or once more."""
        try:
            playing = Playing(context, armature, keeper)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._playing, self._asking, self._ends = playing, False, False
        self._pressed: tuple[int, int] | None = None
        self._part: picking.Part | None = None
        self._holds = False
        self._view = Following(context, armature)
        playing.at_end(self._view.put_back)
        timer = context.window_manager.event_timer_add(EVERY, window=context.window)
        playing.at_end(lambda: bpy.context.window_manager.event_timer_remove(timer))
        view = bpy.types.SpaceView3D
        for handle in (
            view.draw_handler_add(overlay.draw, (playing,), "WINDOW", "POST_VIEW"),
            view.draw_handler_add(lambda: overlay.write(playing, asking=self._asking), (), "WINDOW", "POST_PIXEL"),
        ):
            playing.at_end(lambda handle=handle: view.draw_handler_remove(handle, "WINDOW"))  # type: ignore[misc]
        playing.begin_showing()
        redraw.views()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Show what the worker plays, and tell it what is done."""
        if not session.is_going_on(self._playing):  # the extension was disabled, and put everything back
            return {"CANCELLED"}
        if progress_on(context.window_manager).stop:
            return self._drop()
        if event.type == "TIMER":
            return self._look(context)
        if self._ends or event.type.startswith(PASSED):
            return {"PASS_THROUGH"}
        if event.type in {"MOUSEMOVE", "LEFTMOUSE"}:
            return self._point(context, event)
        if event.value != "PRESS" or (event.is_repeat and event.type not in ARROWS):
            return {"RUNNING_MODAL"}
        return self._press(context, event)

    def cancel(self, _context: bpy.types.Context) -> None:
        """Blender ends it: another file is loaded, or Blender quits."""
        self._playing.abandon()

    def _look(self, context: bpy.types.Context) -> Status:
        """At what the worker says."""
        playing = self._playing
        playing.take(keeper.poll())
        if playing.refused or (playing.over and playing.take_made is None):
            why = playing.refused or playing.turns[0].why
            self._close()
            self.report({"ERROR"}, why)
            return {"CANCELLED"}
        state = progress_on(context.window_manager)
        state.stage, state.fraction = (ON_STAGE, 1.0) if playing.plays else (playing.stage, playing.whole_fraction)
        if playing.has_pose:
            playing.show()
            self._view.follow(context, playing.hips)
            redraw.views()
        elif not playing.plays:
            redraw.panels()
        if playing.over and self._ends:
            return self._keep(context)
        if playing.over and not self._asking:  # it fell, or the action is over
            self._asking = True
            redraw.views()
        return {"PASS_THROUGH"}

    def _point(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """The mouse: a drag pulls, a click throws."""
        here = (event.mouse_x, event.mouse_y)
        view = picking.view_at(context, *here)
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            if view is None:
                return {"PASS_THROUGH"}
            self._pressed, self._part = here, self._part_under(context, view)
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            if self._holds:
                self._playing.do(inputs.Release())
            elif self._pressed is not None and view is not None:
                self._throw(context, view)
            self._pressed, self._part, self._holds = None, None, False
            return {"RUNNING_MODAL"}
        if self._pressed is None or view is None or self._part is None:
            return {"PASS_THROUGH"}
        part, sent = self._part, inputs.now()
        x, y, z = (self._unit(context) * view.at_depth_of(part.place)).tolist()
        if self._holds:
            self._playing.do(inputs.Move(sent, (x, y, z)))
        elif max(abs(here[0] - self._pressed[0]), abs(here[1] - self._pressed[1])) >= DRAG:
            self._holds = True
            self._playing.do(inputs.Hold(sent, part.body, part.point, (x, y, z)))
        return {"RUNNING_MODAL"}

    def _press(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """A key."""
        playing = self._playing
        if event.type == "R" and playing.plays:
            armature = self._armature()
            self._close()
            return self._begin(context, armature) if armature is not None else {"CANCELLED"}
        if self._asking:
            return self._answer(event.type)
        if event.type in PACES:
            playing.set_pace(PACES[event.type])
        elif event.type in ARROWS:
            playing.command(*ARROWS[event.type])
        elif event.type == "SPACE":
            playing.set_pace(0.0 if playing.pace else 1.0)
        elif event.type == "F":
            self._view.follows = not self._view.follows
        elif event.type == "S":
            self._shove(context, event)
        elif event.type == "ESC":
            if not playing.plays:
                return self._drop()
            playing.set_pace(0.0)
            self._asking = True
        redraw.views()
        return {"RUNNING_MODAL"}

    def _answer(self, key: str) -> Status:
        """To whether the take is to be kept."""
        playing = self._playing
        if key == "RET":
            self._asking, self._ends = False, True
            playing.do(inputs.End())
        elif key in {"X", "DEL"}:
            return self._drop()
        elif key in {"ESC", "SPACE"} and not playing.over:
            self._asking = False
            playing.set_pace(1.0)
        redraw.views()
        return {"RUNNING_MODAL"}

    def _keep(self, context: bpy.types.Context) -> Status:
        """Write the take, and bake it."""
        playing = self._playing
        armature = playing.turns[0].armature()
        playing.put_poses_back()
        try:
            playing.keep(context)
        except ValueError as error:
            self._close()
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._close()
        self.report({"INFO"}, f"Kept a take of {settings_on(armature).take.seconds:.1f} s")
        bpy.ops.heft.bake()  # type: ignore[attr-defined]
        return {"FINISHED"}

    def _drop(self) -> Status:
        """As if nothing had been."""
        self._close()
        self.report({"INFO"}, "The take was dropped")
        return {"CANCELLED"}

    def _close(self) -> None:
        self._playing.stop(at_once=False)  # the worker goes on with its kernels loaded
        self._playing.close()
        redraw.views()
        redraw.panels()

    def _throw(self, context: bpy.types.Context, view: picking.View) -> None:
        armature = self._armature()
        if armature is None:
            return
        target = view.at_depth_of(picking.hips_of(context, armature)) if self._part is None else self._part.place
        speed = settings_on(armature).take.ball_speed
        start, velocity = picking.throw_at(target, view, speed, self._unit(context))
        x, y, z = start.tolist()
        vx, vy, vz = velocity.tolist()
        self._playing.do(inputs.Throw(0.0, (x, y, z), (vx, vy, vz)))

    def _shove(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        view, armature = picking.view_at(context, event.mouse_x, event.mouse_y), self._armature()
        if view is None or armature is None:
            return
        part = self._part_under(context, view)
        body, point = (part.body, part.point) if part is not None else (self._root(armature), (0.0, 0.0, 0.0))
        x, y, z = (settings_on(armature).take.shove * picking.away_from_viewer(view)).tolist()
        self._playing.do(inputs.Shove(0.0, body, point, (x, y, z), SHOVE))

    def _part_under(self, context: bpy.types.Context, view: picking.View) -> picking.Part | None:
        armature = self._armature()
        if armature is None or not self._playing.plays:
            return None
        bones = {bone for chain in self._playing.turns[0].gathered.job.roles.values() for bone in chain}
        return picking.part_under(context, armature, bones, view)

    def _armature(self) -> bpy.types.Object | None:
        return self._playing.turns[0].armature() if self._playing.turns else None

    def _unit(self, context: bpy.types.Context) -> float:
        armature = self._armature()
        scale = 1.0 if armature is None else settings_on(armature).scale
        return float(context.scene.unit_settings.scale_length * scale)

    @staticmethod
    def _root(armature: bpy.types.Object) -> str:
        return next(iter(picking.riding(settings_on(armature).rides)))


class HEFT_OT_drop_take(bpy.types.Operator):
    """Take everything away that takes on the stage left in the scene: pushes with their keys, and balls"""

    bl_idname = "heft.drop_take"
    bl_label = "Drop Takes"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only where there is a take."""
        if not active_armature(cls, context):
            return False
        armature = context.active_object
        if settings_on(armature).take.seconds > 0.0 or things_taken(armature):
            return True
        cls.poll_message_set("There is no take: press Play on Stage")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        """Remove them."""
        try:
            count = drop_takes(context.active_object)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Dropped the takes of {context.active_object.name}: {count} things")
        return {"FINISHED"}
