# SPDX-License-Identifier: GPL-3.0-or-later
"""From a result to what Blender keeps: a new action on the rig or on a proxy, its report, curves of diagnostics, props.

Everything is computed before anything is written.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import bpy
import numpy as np

from ...core.job import BakeResult
from .. import words
from ..controls.mapping import mapping
from ..controls.solution import Solution, Solving
from ..controls.stand_in import known_by
from ..overlay import record
from ..properties.armature import HEFT_PG_armature
from ..rig.other_motion import mover_of
from ..rig.proxy import check_root, columns_of, is_driven, proxy_of, proxy_there
from ..rig.reading import mean_scale, ordered_bones
from ..slices import Work, elsewhere, whole, within
from ..typed import as_kind, notes_on, settings_on
from ..writer import (
    assign_action,
    assigned_curves,
    bag_of,
    channels_to_key,
    discard_action,
    resting_bones,
    slot_of,
    writing_channels,
)
from .diagnostics import write_diagnostics
from .fewer_keys import fewer_keys
from .gather import Gathered
from .keyed_motion import loop_in, motion_made, rows_shown, wanting, with_root
from .layers import difference, lay, take_off
from .looping import Loop, mark, repeat
from .onto_controls import told
from .outcome import is_good, note_failure, stamped
from .props import write_prop
from .sought import keys_sought, tolerance_of
from .source import Source, Unkeyed, mute, play, playing, plays, source_of, unkeyed_by, unmute

if TYPE_CHECKING:
    from .session import Turn

Level = Literal["INFO", "WARNING", "ERROR"]
FRAME = 1e-6  # frames


def write_all(
    context: bpy.types.Context, turns: Sequence[Turn], *, stay: bool = False
) -> tuple[int, list[tuple[Level, str]]]:
    """Write the results of all turns; return how many were written, and the messages with their levels.

    Who is to `stay` with the source and plays it goes on doing so.
    """
    return whole(writing_all(context, turns, stay=stay))


def writing_all(
    context: bpy.types.Context, turns: Sequence[Turn], *, stay: bool = False
) -> Work[tuple[int, list[tuple[Level, str]]]]:
    """Write them as `write_all` does, a little at a time: left half-way, the file is as it was.

    What takes long comes first, and is in nobody's way: new actions that nothing plays yet. The rest is done at once.
    """
    done: list[tuple[Turn, Written | str]] = []
    try:
        for number, turn in enumerate(turns):
            armature = turn.armature()
            if armature is None or turn.result is None or turn.cancelled:
                continue
            steps = preparing(context, armature, turn.gathered, turn.result, turn.controls)
            try:
                written = yield from within(steps, number / len(turns), (number + 1) / len(turns))
            except ValueError as error:
                done.append((turn, str(error)))
            else:
                done.append((turn, written))
        said = {turn.uid: commit_turn(context, turn, written, stay=stay) for turn, written in done}
        done.clear()
    finally:
        for _, left in done:
            if isinstance(left, Written):
                left.discard()
    lines: list[tuple[Level, str]] = []
    for turn in turns:
        armature = turn.armature()
        if armature is None:
            lines.append(("WARNING", f"{turn.name} was deleted during the bake: nothing was written."))
        elif turn.cancelled:
            lines.append(("INFO", f"{turn.name}: {turn.why}"))
        elif turn.result is None:
            why = " ".join([turn.why, *turn.gathered.doubts])
            note_failure(armature, why)
            lines.append(("ERROR", f"{turn.name}: {why}"))
        else:
            lines += said[turn.uid]
    return sum(any(level != "ERROR" for level, _ in each) for each in said.values()), lines


def commit_turn(
    context: bpy.types.Context, turn: Turn, written: Written | str, *, stay: bool
) -> list[tuple[Level, str]]:
    """Put in place what was prepared of a turn, and return what is told; where that failed, why it did."""
    armature, result = turn.armature(), turn.result
    assert armature is not None
    assert result is not None
    if isinstance(written, str):
        note_failure(armature, written)
        return [("ERROR", written)]
    stays = stay and plays(armature, turn.gathered.source)
    action, target = commit(context, armature, turn.gathered, result, written)
    animation = armature.animation_data
    if stays and animation is not None and animation.action == bpy.data.actions.get(action):
        play(armature, source_of(armature))
    level: Level = "INFO" if is_good(result.report) else "WARNING"
    on = "" if target == armature.name else f" on {target}"
    lines: list[tuple[Level, str]] = [("INFO", f"{armature.name}: {note}") for note in turn.gathered.notes]
    return [*lines, (level, f"{armature.name}: {action}{on}. {words.why(result.report)}")]


@dataclass(frozen=True)
class Written:
    """A result as a new action that nothing plays yet."""

    action: int  # its session number
    slot: str
    target: bpy.types.Object
    made: bool  # the target is a proxy that was made for it
    output: str
    layer: Literal["ACTION", "REPLACE", "COMBINE"]
    bones: set[str] | None
    controls: Solution | None
    unkeyed: Sequence[Unkeyed]
    loop: Loop | None
    overlay: str

    def found(self) -> bpy.types.Action:
        """The action."""
        return next(action for action in bpy.data.actions if action.session_uid == self.action)

    def discard(self) -> None:
        """Nothing is to come of it."""
        discard_action(self.action)
        if self.made:
            with contextlib.suppress(ReferenceError):  # it has gone already
                data = as_kind(self.target.data, bpy.types.Armature)
                bpy.data.objects.remove(self.target)
                bpy.data.armatures.remove(data)


def write(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    gathered: Gathered,
    result: BakeResult,
    controls: Solution | None = None,
) -> tuple[str, str]:
    """Write a result; return the names of the action and of the armature that it is on.

    `controls` is what they are keyed with where that is what is baked to; it is found here unless it was before.
    ValueError, in words for the user, if the rig is another by now. An action that an earlier bake of the same source
    made on the same armature is replaced, unless it is to be kept.
    """
    return commit(context, armature, gathered, result, whole(preparing(context, armature, gathered, result, controls)))


def preparing(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    gathered: Gathered,
    result: BakeResult,
    controls: Solution | None = None,
) -> Work[Written]:
    """Make a result's action, as `write` would put it in place; left half-way, there is none."""
    names = tuple(bone.name for bone in ordered_bones(armature))
    if names != result.bones[: len(names)]:
        raise ValueError(f"The bones of {armature.name} changed during the bake: bake again.")
    settings: HEFT_PG_armature = settings_on(armature)
    output = settings.output
    if output == "AUTO":
        output = "PROXY" if is_driven(armature) else "ACTION"
    layer = layer_of_bake(settings, output)
    if layer == "COMBINE" and gathered.recorded is None:
        raise ValueError(f"The Layer of {armature.name} was changed during the bake: bake again.")
    overlay = yield from elsewhere(partial(record.pack, result))
    loop, wanted = loop_in(gathered, result), (yield from wanting(armature, gathered))
    motion = yield from elsewhere(partial(motion_made, wanted, gathered, result, loop))
    if output != "CONTROLS":
        controls = None
    elif controls is None:
        solving = yield from solving_of(armature, gathered, result)
        yield from solving.steps()
        controls = solving.solution()
    target, pose, bones, made = armature, motion.pose, wanted.taken, False
    if output != "CONTROLS":
        pose = with_root(armature, gathered, pose)
    if output == "PROXY":
        check_root(armature)
        there = proxy_there(context, armature)
        target, made = there or proxy_of(context, armature), there is None
        pose, bones = pose[:, columns_of(armature, target)], None
    slot = slot_name(gathered.source, target) if target == armature else target.name
    finished = False
    try:
        if controls is not None:
            channels = controls.channels
        else:
            channels = yield from elsewhere(partial(channels_to_key, resting_bones(target, pose), pose, bones))
        if layer == "COMBINE":
            assert gathered.recorded is not None
            channels = difference(armature, channels, gathered.recorded.at(motion.rows))
        keep = gathered.source.action() if target == armature and layer == "ACTION" else None
        with playing(armature, gathered.source):
            carried = [] if keep is None or controls is not None else assigned_curves(armature, keep)
        fits = None
        if settings.reduce:
            sought = keys_sought(armature, target, gathered, result, motion, channels, layer, loop)
            fits = yield from fewer_keys(target, sought, tolerance_of(settings, gathered))
        steps = writing_channels(
            target,
            motion.frames,
            channels,
            f"{gathered.source.name} Simulated",
            slot=slot,
            keep=keep if controls is not None else None,
            carried=carried,
            fits=fits,
        )
        action = yield from steps
        with playing(armature, gathered.source):
            keyed = [(curve.data_path, curve.array_index) for curve in bag_of(action, f"OB{slot}").fcurves]
            unkeyed = unkeyed_by(armature, gathered.source, keyed) if target == armature else []
        found = Written(action.session_uid, slot, target, made, output, layer, bones, controls, unkeyed, loop, overlay)
        finished = True
    finally:
        if made and not finished:
            Written(0, slot, target, made, output, layer, bones, controls, [], loop, overlay).discard()
    return found


def commit(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    gathered: Gathered,
    result: BakeResult,
    written: Written,
) -> tuple[str, str]:
    """Have the armature, or its proxy, play what was prepared, and tell of it; the names of the action and of who."""
    settings: HEFT_PG_armature = settings_on(armature)
    action, slot, target, layer = written.found(), written.slot, written.target, written.layer
    bag, controls, loop = bag_of(action, f"OB{slot}"), written.controls, written.loop
    if controls is not None:
        unmute(armature, gathered.source.muted)
    muted = [] if controls is not None else [*gathered.source.muted]
    if written.output == "MUTE":
        muted += mute(armature, written.bones)
    moved_by = gathered.source.name if mover_of(armature) != armature else ""
    kept = {"layer": gathered.source.layer, "muted": muted, "unkeyed": written.unkeyed, "moved_by": moved_by}
    replaced = earlier(gathered, target, action, moved_by)
    if settings.write_diagnostics:
        write_diagnostics(target, bag, result, rows_shown(gathered, result, loop))
    if loop is not None:
        repeat(bag, loop)
        mark(action, loop)
    if layer == "ACTION":
        take_off(target)
        assign_action(target, action, slot_of(action, f"OB{slot}"))
    notes_on(action).is_layer = layer != "ACTION"
    if settings.mark_asset:
        action.asset_mark()
    if replaced is not None:
        replace_action(replaced, action)
    if layer != "ACTION":
        lay(context.scene, target, action, f"OB{slot}", gathered.source.action(), layer, written.unkeyed)
    misses = controls.misses if controls is not None else ()
    report = stamped(result.report_text, action.name, target.name, told(misses))
    remember(action, target, gathered, written.overlay, report, json.dumps(kept))
    settings_on(target).report = settings_on(armature).report = report
    # of props that two characters have, one has the poses
    there = {prop.prop.name: prop for prop in gathered.props}
    own = [there[name] for name in result.props]
    for prop, poses in zip(own, np.swapaxes(result.prop_poses, 0, 1), strict=True):
        write_prop(prop, result.frames, poses, gathered.sampling.unit)
    return str(action.name), str(target.name)


def solving_of(armature: bpy.types.Object, gathered: Gathered, result: BakeResult) -> Work[Solving]:
    """Begin to put a result on the controls; ValueError, in words for the user, where the rig is another by now."""
    if tuple(bone.name for bone in ordered_bones(armature)) != result.bones:
        raise ValueError(f"The bones of {armature.name} changed during the bake: bake again.")
    if gathered.recorded is None:
        raise ValueError(f"The Output of {armature.name} was changed during the bake: bake again.")
    uid, sampling = armature.session_uid, gathered.sampling
    wanted, loop = (yield from wanting(armature, gathered)), loop_in(gathered, result)
    motion = yield from elsewhere(partial(motion_made, wanted, gathered, result, loop))
    scale = sampling.unit * mean_scale(sampling.object_matrix[0])
    recorded = yield from elsewhere(partial(gathered.recorded.at, motion.rows))
    before = yield from elsewhere(lambda: sampling.evaluated[motion.rows])
    armature = known_by(uid)
    with playing(armature, gathered.source):
        trying = mapping(armature, recorded)
    chart = yield from trying
    armature = known_by(uid)
    return Solving(
        armature,
        chart,
        recorded,
        before,
        motion.pose,
        1.0 / scale,
        seen={bone for bones in gathered.job.roles.values() for bone in bones},
        combined=settings_on(armature).layer == "COMBINE",
    )


def slot_name(source: Source, target: bpy.types.Object) -> str:
    """Return the name of the new action's slot: the source's, so that Blender finds it again when that is assigned."""
    return source.slot[2:] or target.name  # an identifier has the kind of its owner before the name


def earlier(
    gathered: Gathered, target: bpy.types.Object, new: bpy.types.Action, moved_by: str
) -> bpy.types.Action | None:
    """Return the action that the last bake of the same source made for an armature, if it is not to be kept.

    Where there is no source but another armature's motion, `moved_by` is its name.
    """
    source = gathered.source.action()
    if source is None and not moved_by:
        return None
    for action in bpy.data.actions:
        notes = notes_on(action)
        made = action not in {new, source} and bool(notes.report) and not notes.keep and action.library is None
        if made and moved_by != json.loads(notes.kept or "{}").get("moved_by", ""):
            continue
        if made and (notes.source, notes.source_slot, notes.armature) == (source, gathered.source.slot, target.name):
            return action
    return None


def replace_action(old: bpy.types.Action, new: bpy.types.Action) -> None:
    """Put a new action in the place of an old one, wherever that is used, under its name; undo has the old one back."""
    name = old.name
    old.user_remap(new)
    bpy.data.actions.remove(old)
    new.name = name


def layer_of_bake(settings: HEFT_PG_armature, output: str) -> Literal["ACTION", "REPLACE", "COMBINE"]:
    """Return how a bake is laid over its source: only what is keyed on the rig itself, with nothing muted, can be."""
    return settings.layer if output in {"ACTION", "CONTROLS"} else "ACTION"


def remember(
    action: bpy.types.Action, target: bpy.types.Object, gathered: Gathered, overlay: str, report: str, kept: str
) -> None:
    """Keep on the action what it was made from and for, how it went, and what the overlay draws."""
    notes = notes_on(action)
    notes.report, notes.kept, notes.armature = report, kept, target.name
    notes.source, notes.source_slot = gathered.source.action(), gathered.source.slot
    notes.overlay = overlay
