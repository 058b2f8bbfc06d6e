# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Bake, and a glance at the physics of the keys: what follows when keys, settings or surroundings were changed.

A task is begun once changes have come to rest, and where its job is another than the last one's, so it does not matter
how a change came about, nor that some of what Blender tells of changes nothing. What a bake writes is what Bake would
write, in one undo step; until then a stick figure shows it as it comes. There is one task at a time, in one process: a
task that changes have overtaken is left for the one that they ask for.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.worker import tasks
from .. import redraw
from ..overlay import glance, live
from ..typed import progress_on, settings_on
from ..worker.keeper import Keeper, keeper
from .gather import Gathered, gather
from .outcome import note_failure
from .output import write_all
from .pace import Pace
from .preview import Preview
from .session import Session, Turn
from .source import plays

GLANCE, BAKE = "glance", "bake"  # tasks of the worker's
QUIET = 0.05  # s without a change, after which it is baked
EVERY, BUSY = 0.05, 0.02  # s between looks, while nothing goes on and while something does
WRITTEN = (
    "output",
    "layer",
    "bones",
    "influence",
    "blend_in",
    "blend_out",
    "root_motion",
    "root_turns",
    "root_rises",
    "reduce",
    "key_tolerance",
    "mark_asset",
    "write_diagnostics",
)  # not in the job
SHOWN = "show_"  # how the names of settings begin that only say what is drawn
MADE = {"report", "reference_report", "tracking_error", "root_error", "balance_margin", "help_share", "feet"}


class Wanted(NamedTuple):
    """What a bake is made from, all of it: equal ones give equal actions."""

    job: str
    source: str
    written: str


class Following:
    """Which armatures have changed, and the bake that goes on. It belongs to the running Blender, not to a file."""

    def __init__(self, worker_keeper: Keeper) -> None:
        self._keeper = worker_keeper
        self.forget()

    def forget(self) -> None:
        """Another file: nothing is known."""
        self._changed: dict[int, float] = {}  # armatures by session number, and when they last did
        self._settings: dict[int, str] = {}
        self._done: dict[tuple[int, str], Wanted | None] = {}  # by armature and task; None: it failed
        self._wanted: Wanted | None = None
        self._task = ""
        self._session: Session | None = None
        self._pace = Pace(BUSY)
        self._drawing = False  # there is something new to see
        glance.shown.clear()
        live.shown.clear()
        self._own = False  # what is changed now is changed by this

    @property
    def busy(self) -> bool:
        """Whether a bake goes on."""
        return self._session is not None

    @property
    def waits(self) -> bool:
        """Whether something has changed that was not read yet."""
        return bool(self._changed)

    def note(self, armature: bpy.types.Object) -> None:
        """It has changed."""
        self._changed[armature.session_uid] = time.monotonic()

    def take(self, graph: bpy.types.Depsgraph) -> None:
        """Note which armatures an update of Blender's may have changed for a bake."""
        if self._own:
            return
        for armature in followed():
            if any(concerns(update, armature) for update in graph.updates):
                self.note(armature)

    def look(self, context: bpy.types.Context, now: float | None = None) -> None:
        """Take in what the worker says, and begin what has come to rest."""
        state = progress_on(context.window_manager)
        if state.running:
            return
        now = time.monotonic() if now is None else now
        wanted = followed()
        known = {one.session_uid for one in wanted}
        self._changed = {uid: since for uid, since in self._changed.items() if uid in known}
        if self._session is not None and self._session.turns[0].uid not in known:
            self._leave()
        if self._session is not None:
            self._take_in(context, self._session, now)
            if self._session.over and self._session.turns[0].uid not in self._changed:
                self._end(context)
                return
        for armature in wanted:
            uid = armature.session_uid
            unknown = not self.busy and any((uid, task) not in self._done for task in tasks_of(armature))
            # of settings Blender tells nothing if a script sets them
            if self._settings_moved(context.scene, armature) or (unknown and uid not in self._changed):
                self.note(armature)
            since = self._changed.get(uid)
            waits = self._session is not None and self._session.turns[0].uid != uid
            if since is not None and now - since > QUIET and not waits and not in_the_middle(armature):
                self._begin(context, armature)
                return

    def note_baked(self, turns: Sequence[Turn]) -> None:
        """A bake that somebody asked for was written: it need not be done again."""
        for turn in turns:
            armature = turn.armature()
            if armature is not None and turn.result is not None:
                self._done[turn.uid, BAKE] = wanted_of(armature, turn.gathered)

    def give_way(self) -> None:
        """To a bake that somebody asked for."""
        if self._session is not None:
            self._changed.setdefault(self._session.turns[0].uid, 0.0)
            self._leave()

    def _leave(self) -> None:
        """Have the worker leave what goes on."""
        if self._session is not None:
            self._own = True
            try:
                self._session.stop(at_once=False)
            finally:
                self._own = False
        self._session, self._wanted = None, None
        progress_on(bpy.context.window_manager).following = False

    def _take_in(self, context: bpy.types.Context, session: Session, now: float) -> None:
        """What the worker has said, and what there is to see of it."""
        self._own = True
        try:
            session.take(self._keeper.poll())
        finally:
            self._own = False
        turn = session.turns[0]
        parent = tuple(turn.gathered.job.clip.skeleton.parent)
        for row, heads in turn.heads:
            known = live.shown.get(turn.uid)
            if known is None or known.parent != parent:
                known = live.Live(turn.gathered.job.frames[0], parent, np.zeros((0, len(parent), 3)))
            live.shown[turn.uid] = known = known.with_rows(row, heads)
            at = context.scene.frame_current_final - known.first_frame - row
            self._drawing = self._drawing or -1.0 < at < len(heads)
        turn.heads.clear()
        if self._pace.due(now, posed=self._drawing) == "view":
            self._drawing = False
            redraw.views()

    def _settings_moved(self, scene: bpy.types.Scene, armature: bpy.types.Object) -> bool:
        told = settings_text(scene, armature)
        before = self._settings.get(armature.session_uid)
        self._settings[armature.session_uid] = told
        return told != before

    def _begin(self, context: bpy.types.Context, armature: bpy.types.Object) -> None:
        uid = armature.session_uid
        del self._changed[uid]
        kept = Preview(armature)  # a pose that is not keyed yet
        self._own = True
        try:
            (found,) = gather(context, [armature])
            wanted = wanted_of(armature, found)
            task = next((one for one in tasks_of(armature) if self._done.get((uid, one)) != wanted), None)
            if self._session is not None and (task, wanted) == (self._task, self._wanted):
                return  # it is being done
            self._leave()
            if task is not None:
                self._wanted, self._task = wanted, task
                seen: tasks.Wanted = "all" if task == BAKE else "nothing"
                self._session = Session(context, [armature], self._keeper, task, [found], wanted=seen)
                self._pace = Pace(BUSY)
                progress_on(context.window_manager).following = True
        except (ValueError, OSError) as error:
            self._leave()
            for task in tasks_of(armature):
                self._done[uid, task] = None
            if settings_on(armature).auto_bake:
                note_failure(armature, str(error))
            glance.shown.pop(uid, None)
        finally:
            kept.restore(armature)
            context.view_layer.update()
            self._own = False
        redraw.panels()

    def _end(self, context: bpy.types.Context) -> None:
        session, wanted, task = self._session, self._wanted, self._task
        self._session, self._wanted = None, None
        progress_on(context.window_manager).following = False
        assert session is not None
        turn = session.turns[0]
        armature = turn.armature()
        if turn.cancelled or armature is None or wanted is None:
            return
        self._done[turn.uid, task] = wanted
        if task == BAKE:
            self._write(context, session, armature)
            if turn.result is None:
                live.shown.pop(turn.uid, None)
            else:
                live.shown[turn.uid] = live.Live.of(turn.result, tuple(turn.gathered.job.clip.skeleton.parent))
        elif turn.said:
            glance.shown[turn.uid] = glance.Shown.of(turn.said, turn.gathered.job.fps)
        else:
            glance.shown.pop(turn.uid, None)
        if any(self._done.get((turn.uid, one)) != wanted for one in tasks_of(armature)):
            self._changed[turn.uid] = 0.0  # the next task
        redraw.views()
        redraw.dope_sheets()
        redraw.panels()

    def _write(self, context: bpy.types.Context, session: Session, armature: bpy.types.Object) -> None:
        kept = Preview(armature) if plays(armature, session.turns[0].gathered.source) else None
        self._own = True
        try:
            write_all(context, session.turns, stay=True)
            context.view_layer.update()
            if kept is not None:
                kept.restore(armature)
            bpy.ops.ed.undo_push(message="Auto Bake")
        finally:
            self._own = False


def in_the_middle(armature: bpy.types.Object) -> bool:
    """Whether it is in a mode in which its motion cannot be read."""
    animation = armature.animation_data
    return armature.mode == "EDIT" or (animation is not None and animation.use_tweak_mode)


def tasks_of(armature: bpy.types.Object) -> list[str]:
    """Return what the worker is to do for an armature, in order."""
    settings = settings_on(armature)
    return [GLANCE] * settings.show_physics + [BAKE] * settings.auto_bake


def followed() -> list[bpy.types.Object]:
    """Return the armatures that there is something to do for: no stand-in's, which has a scene of its own."""
    there = bpy.context.view_layer.objects
    return [one for one in there if one.type == "ARMATURE" and one.library is None and tasks_of(one)]


def concerns(update: bpy.types.DepsgraphUpdate, armature: bpy.types.Object) -> bool:
    """Whether an update may be of what a bake of an armature is made from; of a pose that is not keyed it is not."""
    changed = update.id.original
    if isinstance(changed, bpy.types.Action):
        return True
    if not isinstance(changed, bpy.types.Object) or changed == armature:
        return False
    if changed in {settings_on(armature).path, settings_on(armature).target}:
        return True
    around = (settings_on(armature).terrain, settings_on(armature).props)
    return changed.type == "EMPTY" or any(one is not None and changed.name in one.all_objects for one in around)


def settings_text(scene: bpy.types.Scene, armature: bpy.types.Object) -> str:
    """Return all settings that a bake of an armature may depend on, as text to compare."""
    around = [scene.use_gravity, *(scene.gravity[axis] for axis in range(3)), scene.frame_end]
    return json.dumps([values_of(settings_on(armature)), *around, scene.render.fps, scene.render.fps_base])


def values_of(group: Any) -> dict[str, Any]:
    """Return the values of a group of settings, of groups in it and of its lists."""
    found: dict[str, Any] = {}
    for entry in group.bl_rna.properties:
        name = entry.identifier
        if name in {"rna_type", "name"} | MADE or name.startswith(SHOWN):
            continue
        value = getattr(group, name)
        if entry.type == "POINTER":
            is_group = entry.fixed_type.base is not None and entry.fixed_type.base.identifier == "PropertyGroup"
            found[name] = values_of(value) if is_group else getattr(value, "name", None)
        elif entry.type == "COLLECTION":
            found[name] = [values_of(one) | {"name": one.name} for one in value]
        else:
            found[name] = list(value) if getattr(entry, "is_array", False) else value
    return found


def wanted_of(armature: bpy.types.Object, found: Gathered) -> Wanted:
    """Return what a bake would be made from."""
    settings = settings_on(armature)
    written = [*(getattr(settings, name) for name in WRITTEN), sorted(one.name for one in settings.chosen_bones)]
    return Wanted(found.job.key(), f"{found.source.uid} {found.source.slot}", json.dumps([*written, found.loop]))


following = Following(keeper)


@persistent  # type: ignore[untyped-decorator]
def on_update(_scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> None:
    """Called by Blender when anything has changed."""
    following.take(graph)


@persistent  # type: ignore[untyped-decorator]
def on_load(*_arguments: object) -> None:
    """Called by Blender before another file is loaded."""
    following.give_way()
    following.forget()


def on_time() -> float:
    """Called by Blender again and again; not in the middle of what somebody does."""
    context = bpy.context
    if not any(len(window.modal_operators) for window in context.window_manager.windows):
        following.look(context)
    return BUSY if following.busy or following.waits else EVERY


def register() -> None:
    """In a window, follow what changes."""
    bpy.app.handlers.load_pre.append(on_load)
    if not bpy.app.background:
        bpy.app.handlers.depsgraph_update_post.append(on_update)
        bpy.app.timers.register(on_time, first_interval=EVERY, persistent=True)


def unregister() -> None:
    """Follow no more."""
    bpy.app.handlers.load_pre.remove(on_load)
    if not bpy.app.background:
        bpy.app.handlers.depsgraph_update_post.remove(on_update)
        if bpy.app.timers.is_registered(on_time):
            bpy.app.timers.unregister(on_time)
    following.give_way()
    following.forget()
