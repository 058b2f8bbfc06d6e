# SPDX-License-Identifier: GPL-3.0-or-later
"""The common part of operators that use the worker: modal in a window, blocking in background mode."""

from __future__ import annotations

import math
import time

import bpy

from ..blender_addon import redraw
from ..blender_addon.baking import session
from ..blender_addon.baking.following import following
from ..blender_addon.baking.pace import Pace
from ..blender_addon.baking.session import CANCELLED, Session
from ..blender_addon.slices import AT_ONCE, Slices, Work, whole
from ..blender_addon.typed import progress_on, shared_by
from ..blender_addon.words import interface as _
from ..blender_addon.worker.keeper import keeper
from .set_up import active_armature
from .status import Status

EVERY = 0.05  # s between looks at what the worker says
SHORT, LONG = 10.0, 90.0  # s
TAB = "Heft"
WRITING = "Writing the motion"


class Working(bpy.types.Operator):
    """Not registered itself: `task` names what the worker does, `finish` handles the result."""

    task = ""
    can_be_together = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with an armature, and one at a time."""
        if progress_on(context.window_manager).running:
            cls.poll_message_set("A bake is running: wait for it, or cancel it")
            return False
        return active_armature(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        """Run to completion in the background; in a window go on as a modal operator."""
        following.give_way()
        at_once = math.inf if bpy.app.background else AT_ONCE
        try:
            self._session = Session(
                context,
                chosen_armatures(context),
                keeper,
                self.task,
                at_once=at_once,
                together=self.can_be_together and shared_by(context.scene).together,
            )
        except (ValueError, OSError) as error:
            self.refuse(context, str(error))
            return {"CANCELLED"}
        self._finishing: Slices[Status] | None = None
        self._evaluated = False  # what was written
        if bpy.app.background:
            self._session.wait()
            return whole(self.finish(context, self._session))
        window = context.window
        timer = context.window_manager.event_timer_add(EVERY, window=window)
        self._pace = Pace(EVERY)
        self._session.at_end(lambda: bpy.context.window_manager.event_timer_remove(timer))
        context.window_manager.modal_handler_add(self)
        self._session.begin_showing()
        show_progress(self._session)
        redraw.panels()
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        """Handle what the worker has sent. Esc over the progress asks whether to cancel; elsewhere it is Blender's."""
        if not session.is_going_on(self._session):  # the extension was disabled, and put everything back
            self._leave()
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS" and is_over_progress(context, event.mouse_x, event.mouse_y):
            bpy.ops.heft.cancel("INVOKE_DEFAULT", ask=True)  # type: ignore[attr-defined]
            return {"RUNNING_MODAL"}
        state = progress_on(context.window_manager)
        if state.stop and not self._evaluated:
            return self._stop()
        if state.skip:
            state.skip = False
            self._session.skip()
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if self._finishing is not None:
            return self._finish_on(self._finishing)
        self._session.take(keeper.poll())
        show_progress(self._session)
        drawing = self._pace.due(time.monotonic(), posed=self._session.has_pose)
        if drawing == "view":
            self._session.show()
            redraw.views()
            redraw.status_bars()
        elif drawing == "panels":
            redraw.panels()
        if not self._session.over:
            return {"PASS_THROUGH"}
        if self._session.refused:
            why = self._session.refused
            self._close()
            self.refuse(context, why)
            return {"CANCELLED"}
        self._session.put_poses_back()
        redraw.views()
        self._finishing = Slices(lambda: self.finish(bpy.context, self._session))
        return self._finish_on(self._finishing)

    def cancel(self, _context: bpy.types.Context) -> None:
        """Blender ends it: another file is loaded, or Blender quits."""
        self._leave()
        self._session.abandon()

    def _finish_on(self, finishing: Slices[Status]) -> Status:
        """Handle some more of the result."""
        over = finishing.go_on()
        state = progress_on(bpy.context.window_manager)
        state.stage, state.fraction, state.left = _(WRITING), finishing.fraction, ""
        if not over:
            if self._pace.due(time.monotonic(), posed=False) == "panels":
                redraw.panels()
            return {"PASS_THROUGH"}
        if not self._evaluated:  # with many keys that takes as long as to remember them for undo: one at a time
            self._evaluated = True
            bpy.context.view_layer.update()
            return {"PASS_THROUGH"}
        self._close()
        return finishing.results[0]

    def _stop(self) -> Status:
        """End it, as if nothing had been."""
        self._leave()
        self._session.stop()
        self._close()
        self.report({"INFO"}, CANCELLED)
        return {"CANCELLED"}

    def _close(self) -> None:
        self._session.close()
        redraw.views()
        redraw.panels()

    def _leave(self) -> None:
        if self._finishing is not None:
            self._finishing.end()

    def refuse(self, context: bpy.types.Context, why: str) -> None:
        """Say why it does not begin."""
        del context
        self.report({"ERROR"}, why)

    def finish(self, context: bpy.types.Context, ended: Session) -> Work[Status]:
        """Handle the result, a little at a time."""
        raise NotImplementedError


def is_over_progress(context: bpy.types.Context, x: int, y: int) -> bool:
    """Whether a place in the window is over what shows the progress: the tab in the sidebar, or the status bar."""
    inside = False
    for area in context.window.screen.areas:
        if not (area.x <= x < area.x + area.width and area.y <= y < area.y + area.height):
            continue
        inside = True
        for region in area.regions:
            shows = region.type == "UI" and area.type == "VIEW_3D" and region.active_panel_category == TAB
            if shows and region.x <= x < region.x + region.width and region.y <= y < region.y + region.height:
                return True
    lowest = min(area.y for area in context.window.screen.areas)
    return not inside and y < lowest


def chosen_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The active armature and those that are selected with it."""
    others = [o for o in context.selected_objects if o.type == "ARMATURE" and o != context.active_object]
    return [context.active_object, *others]


def show_progress(running: Session) -> None:
    """Write the progress for the panels to draw."""
    state = progress_on(bpy.context.window_manager)
    if running.over:
        return
    state.who = running.turn.name if len(running.turns) > 1 else ""
    state.stage, state.rehearses = _(running.stage), running.rehearses
    state.fraction, state.left = running.whole_fraction, in_words(running.seconds_left)
    if not running.timed and running.of_stage > 0.0:
        state.left = _("{:.0f} % of the tries at most").format(100.0 * running.of_stage)


def in_words(seconds: float | None) -> str:
    """The time left, in words."""
    if seconds is None:
        return ""
    if seconds < SHORT:
        return str(_("a few seconds left"))
    if seconds < LONG:
        return str(_("about {:.0f} seconds left").format(round(seconds, -1)))
    return str(_("about {:.0f} minutes left").format(seconds / 60.0))
