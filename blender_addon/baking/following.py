# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Bake, and a glance at the physics of the keys: what follows when keys, settings or surroundings were changed.

A task is begun once changes have come to rest, and where its job is another than the last one's, so it does not matter
how a change came about, nor that some of what Blender tells of changes nothing. What a bake writes is what Bake would
write, in one undo step; until then a stick figure shows it as it comes. There is one task at a time, in one process: a
task that changes have overtaken is left for the one that they ask for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.worker import tasks
from .. import redraw
from ..overlay import glance, live
from ..slices import Slices
from ..typed import progress_on, settings_on
from ..worker.keeper import Keeper, keeper
from .gather import Gathered
from .outcome import note_failure
from .output import writing_all
from .pace import Pace
from .preview import Preview
from .reader import AT_ONCE, Reader
from .session import Session, Turn
from .source import plays
from .wanted import Wanted, settings_text, wanted_of

GLANCE, BAKE = "glance", "bake"  # tasks of the worker's
QUIET = 0.03  # s without a change, after which it is baked
EVERY, BUSY = 0.04, 0.02  # s between looks, while nothing goes on and while something does
REST = 1.0  # s without a change, after which what was read is checked


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
        self._writing: Slices[object] | None = None
        self._reader = Reader()
        self._rested: dict[int, float] = {}  # armatures whose bake has ended, and when
        self._pace = Pace(BUSY)
        self._drawing = False  # there is something new to see
        glance.shown.clear()
        live.shown.clear()
        self._own = False  # what is changed now is changed by this

    @property
    def busy(self) -> bool:
        """Whether a bake goes on, or what it needs is being read."""
        return self._session is not None or (self.reads and not self._reader.checks)

    @property
    def reads(self) -> bool:
        """Whether something is being read."""
        return self._reader.uid is not None

    @property
    def waits(self) -> bool:
        """Whether something has changed that was not read yet."""
        return bool(self._changed) or self.reads

    def note(self, armature: bpy.types.Object) -> None:
        """It has changed. A check of what was read before is in vain."""
        self._changed[armature.session_uid] = time.monotonic()
        self._rested.pop(armature.session_uid, None)
        if self._reader.checks and self._reader.uid == armature.session_uid:
            self._reader.end()

    def take(self, graph: bpy.types.Depsgraph) -> None:
        """Note which armatures an update of Blender's may have changed for a bake."""
        if self._own:
            return
        if any(isinstance(update.id.original, bpy.types.Mesh) for update in graph.updates):
            self._reader.forget_meshes()
        for armature in followed():
            if any(concerns(update, armature) for update in graph.updates):
                self.note(armature)

    def look(self, context: bpy.types.Context, now: float | None = None) -> None:
        """Take in what the worker says, and begin what has come to rest."""
        state = progress_on(context.window_manager)
        if state.running:
            return
        if self.busy or self.reads:  # Blender tells now of what was changed before, else only amid what is done here
            context.view_layer.update()
        self._look(context, time.monotonic() if now is None else now)
        if state.following != self.busy:
            state.following = self.busy
            redraw.panels()

    def _look(self, context: bpy.types.Context, now: float) -> None:
        wanted = followed()
        known = {one.session_uid for one in wanted}
        self._changed = {uid: since for uid, since in self._changed.items() if uid in known}
        if self._session is not None and self._session.turns[0].uid not in known:
            self._leave()
        if self.reads and self._reader.uid not in known:
            self._reader.end()
        if self._session is not None:
            if self._writing is None:
                self._take_in(context, self._session, now)
            if self._session.over and not self._is_stale(self._session.turns[0].uid):
                self._end(context)
                return
        for armature in wanted:
            uid = armature.session_uid
            unknown = not self.busy and any((uid, task) not in self._done for task in tasks_of(armature))
            # of settings Blender tells nothing if a script sets them
            if self._settings_moved(context.scene, armature) or (
                unknown and uid not in self._changed and self._reader.uid != uid
            ):
                self.note(armature)
            since = self._changed.get(uid)
            waits = self._session is not None and self._session.turns[0].uid != uid
            if since is not None and now - since > QUIET and not waits and not in_the_middle(armature):
                del self._changed[uid]
                self._reader.begin(armature)
                break
            rested = self._rested.get(uid)
            if rested is not None and now - rested > REST and not (self.busy or self.waits or is_playing(context)):
                del self._rested[uid]
                if self._reader.wants_check(armature):
                    self._reader.begin(armature, check=True)
                    break
        if self.reads:
            self._read_on(context)

    def _is_stale(self, uid: int) -> bool:
        """Whether an armature has changed since it was read for the bake that goes on."""
        return uid in self._changed or (self._reader.uid == uid and not self._reader.checks)

    def note_baked(self, turns: Sequence[Turn]) -> None:
        """A bake that somebody asked for was written: it need not be done again."""
        for turn in turns:
            armature = turn.armature()
            if armature is not None and turn.result is not None:
                self._done[turn.uid, BAKE] = wanted_of(armature, turn.gathered)

    def give_way(self) -> None:
        """To a bake that somebody asked for."""
        if self._reader.uid is not None and not self._reader.checks:
            self._changed.setdefault(self._reader.uid, 0.0)
        self._reader.end()
        if self._session is not None:
            self._changed.setdefault(self._session.turns[0].uid, 0.0)
            self._leave()
        progress_on(bpy.context.window_manager).following = False

    def _leave(self) -> None:
        """Have the worker leave what goes on."""
        self._own = True
        try:
            if self._writing is not None:
                self._writing.end()
            if self._session is not None:
                self._session.stop(at_once=False)
        finally:
            self._own = False
        self._writing = None
        self._session, self._wanted = None, None

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

    def _read_on(self, context: bpy.types.Context) -> None:
        """Read some more, and have the worker begin when all is read."""
        uid, checks = self._reader.uid, self._reader.checks
        armature = next((one for one in followed() if one.session_uid == uid), None)
        if armature is None or in_the_middle(armature):
            self._reader.end()
            return
        self._own = True
        try:
            found = self._reader.go_on()
            if found is not None and checks:
                self._check(armature, found)
            elif found is not None:
                self._begin(context, armature, found)
        except (ValueError, OSError) as error:
            self._leave()
            for task in tasks_of(armature):
                self._done[armature.session_uid, task] = None
            if settings_on(armature).auto_bake:
                note_failure(armature, str(error))
            glance.shown.pop(armature.session_uid, None)
            redraw.panels()
        finally:
            self._own = False

    def _begin(self, context: bpy.types.Context, armature: bpy.types.Object, found: Gathered) -> None:
        """Have the worker do what is to be done with what was read."""
        uid, wanted = armature.session_uid, wanted_of(armature, found)
        task = next((one for one in tasks_of(armature) if self._done.get((uid, one)) != wanted), None)
        if self._session is not None and (task, wanted) == (self._task, self._wanted):
            return  # it is being done
        self._leave()
        if task is not None:
            self._wanted, self._task = wanted, task
            seen: tasks.Wanted = "all" if task == BAKE else "nothing"
            self._session = Session(context, [armature], self._keeper, task, [found], at_once=AT_ONCE, wanted=seen)
            self._pace, self._drawing = Pace(BUSY), False

    def _check(self, armature: bpy.types.Object, found: Gathered) -> None:
        """What was read by the short way, by the long one: if that is another job, it is the one to bake."""
        uid, wanted = armature.session_uid, wanted_of(armature, found)
        agrees = all(self._done.get((uid, task), wanted) in {wanted, None} for task in tasks_of(armature))
        self._reader.note(armature, agrees=agrees)
        if not agrees:
            self.note(armature)

    def _end(self, context: bpy.types.Context) -> None:
        session, wanted, task = self._session, self._wanted, self._task
        assert session is not None
        turn = session.turns[0]
        armature = turn.armature()
        lost = turn.cancelled or armature is None or wanted is None
        if task == BAKE and not lost and armature is not None and not self._written(context, session, armature):
            return
        self._session, self._wanted, self._writing = None, None, None
        if lost or armature is None:
            return
        self._done[turn.uid, task] = wanted
        self._rested[turn.uid] = time.monotonic()
        if task == BAKE:
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

    def _written(self, context: bpy.types.Context, session: Session, armature: bpy.types.Object) -> bool:
        """Write some more of what came of a bake; whether that is over."""
        if self._writing is None:
            self._writing = Slices(lambda: writing_all(bpy.context, session.turns, stay=True))
        kept = Preview(armature) if plays(armature, session.turns[0].gathered.source) else None
        self._own = True
        try:
            if not self._writing.go_on(AT_ONCE):
                return False
            context.view_layer.update()
            if kept is not None:
                kept.restore(armature)
            bpy.ops.ed.undo_push(message="Auto Bake")
        finally:
            self._own = False
        return True


def in_the_middle(armature: bpy.types.Object) -> bool:
    """Whether it is in a mode in which its motion cannot be read."""
    animation = armature.animation_data
    return armature.mode == "EDIT" or (animation is not None and animation.use_tweak_mode)


def is_playing(context: bpy.types.Context) -> bool:
    """Whether frames go by: to read others meanwhile would have them stutter."""
    return any(window.screen.is_animation_playing for window in context.window_manager.windows)


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
