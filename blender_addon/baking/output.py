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
from numpy.typing import NDArray

from ...core.job import BakeResult
from ...core.motion.quaternions import Array
from .. import words
from ..controls.drives import Map
from ..controls.mapping import mapping, recorded_now
from ..controls.solution import Solution, Solving
from ..controls.stand_in import known_by
from ..overlay import record
from ..properties.armature import HEFT_PG_armature
from ..rig.other_motion import mover_of
from ..rig.proxy import columns_of, is_driven, make_proxy, proxy_bones
from ..rig.reading import mean_scale, ordered_bones, rotations_of
from ..slices import Work, elsewhere, whole, within
from ..typed import as_kind, notes_on, settings_on
from ..writer import (
    Channelled,
    assign_action,
    assigned_curves,
    bag_of,
    channels_to_key,
    discard_action,
    resting_bones,
    slot_of,
    write_curve,
    writing_channels,
)
from .above import taken_along
from .fewer_keys import ENDS, Sought, Tolerance, fewer_keys
from .gather import Gathered
from .layers import difference, lay, take_off
from .looping import PERIODS, Loop, mark, one_period, repeat, stays_on_its_way
from .mixing import mix, ramps
from .onto_controls import parents_on_controls, told
from .outcome import is_good, note_failure, stamped
from .poses import armature_poses, rows_of
from .props import write_prop
from .root_motion import Choice, with_root_motion
from .source import Source, Unkeyed, constraint_of, play, playing, plays, source_of, unkeyed_by

if TYPE_CHECKING:
    from .session import Turn

Level = Literal["INFO", "WARNING", "ERROR"]
FRAME = 1e-6  # frames


@dataclass(frozen=True)
class Motion:
    """What is keyed."""

    frames: Array  # (nf,)
    pose: Array  # (nf, nb, 4, 4) in the armature's space
    rows: NDArray[np.int64]  # (nf,) of the source's sampling that they are like


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


def keys_sought(
    armature: bpy.types.Object,
    target: bpy.types.Object,
    gathered: Gathered,
    result: BakeResult,
    motion: Motion,
    channels: Channelled,
    layer: str,
    loop: Loop | None,
) -> Sought:
    """Return what fewer keys are sought for."""
    if target != armature:
        now = recorded_now(target)
        recorded = now.at(np.zeros(len(motion.frames), dtype=np.int64))
    elif gathered.recorded is None:
        raise ValueError(f"Fewer Keys of {armature.name} was changed during the bake: bake again.")
    else:
        recorded = gathered.recorded.at(motion.rows)
    roles = {role: bones for role, bones in gathered.job.roles.items() if role.partition(".")[0] in ENDS}
    ends = {name: role for role, bones in roles.items() for name in bones if name in target.data.bones}
    events = {name: events_of(role, result, motion.frames) for name, role in ends.items()}
    return Sought(motion.frames, channels, recorded, tuple(ends), events, loop is not None, layer == "COMBINE")


def events_of(role: str, result: BakeResult, frames: Array) -> NDArray[np.intp]:
    """Return the rows at which a foot comes down or lifts; none of what is no foot."""
    side = role.partition(".")[2]
    found: list[NDArray[np.intp]] = [np.zeros(0, dtype=np.intp)]
    for name, values in result.curves.items():
        foot = name.removeprefix("contact_force_").removesuffix("_n")
        if foot != name and role.partition(".")[0] != "hand" and foot.startswith(SIDES.get(side, "?")):
            changes = np.flatnonzero(np.diff((values > 0.0).astype(int))) + 1
            found.append(np.searchsorted(frames, result.frames[changes]))
    rows: NDArray[np.intp] = np.unique(np.concatenate(found))
    return rows[rows < len(frames)]


def tolerance_of(settings: HEFT_PG_armature, gathered: Gathered) -> Tolerance:
    """Return how far hands and feet may be off with fewer keys."""
    scale = gathered.sampling.unit * mean_scale(gathered.sampling.object_matrix[0])
    return Tolerance(settings.key_tolerance / 1000.0, 1.0 / scale)


def with_root(armature: bpy.types.Object, gathered: Gathered, pose: Array) -> Array:
    """Return the poses with the way over the ground where it is to be."""
    settings, sampling = settings_on(armature), gathered.sampling
    names, parent = sampling.clip.skeleton.names, sampling.clip.skeleton.parent
    choice = Choice(settings.root_motion, settings.root_turns, settings.root_rises)
    up = rotations_of(sampling.object_matrix[:1, :3, :3])[0].T @ np.array([0.0, 0.0, 1.0])
    hips = names.index(gathered.job.roles["pelvis"][0])
    return with_root_motion(pose, parent, hips, up, gathered.job.fps, choice, armature.name)


def check_root(armature: bpy.types.Object) -> None:
    """ValueError where a proxy, which has deforming bones only, would lack the root that is to take the way."""
    settings = settings_on(armature)
    if settings.root_motion != "ROOT":
        return
    root = armature.data.bones[settings.chosen_roles()["pelvis"][0]].parent_recursive[-1].name
    if root not in proxy_bones(armature):
        raise ValueError(
            f"The root of {armature.name} does not deform, so that its proxy has none: switch on Deform of {root}, or "
            "choose In Place under Root Motion."
        )


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


def motion_of(armature: bpy.types.Object, gathered: Gathered, result: BakeResult, loop: Loop | None) -> Motion:
    """Return what is keyed."""
    return motion_made(whole(wanting(armature, gathered)), gathered, result, loop)


@dataclass(frozen=True)
class Wanted:
    """What is taken of a simulated motion, by an armature's settings."""

    taken: set[str] | None  # bones; None: all
    parent: NDArray[np.int64]  # (nb,) what each hangs from
    influence: float
    blend_in: float  # frames
    blend_out: float
    takes_along: bool  # the controls above what is simulated


def wanting(armature: bpy.types.Object, gathered: Gathered) -> Work[Wanted]:
    """Return what is wanted of a bake."""
    settings, skeleton = settings_on(armature), gathered.sampling.clip.skeleton
    chart = None
    if settings.bones != "ALL" and settings.output == "CONTROLS":
        chart = yield from mapping(armature, gathered.recorded)
    taken, parent = taken_bones(armature, skeleton.names, chart), skeleton.parent
    if chart is not None:
        parent = parents_on_controls(chart, skeleton.names, parent)
    along = settings.output in {"MUTE", "CONTROLS"}
    return Wanted(taken, parent, float(settings.influence), settings.blend_in, settings.blend_out, along)


def motion_made(wanted: Wanted, gathered: Gathered, result: BakeResult, loop: Loop | None) -> Motion:
    """Return the keyed and the simulated motion as one: outside the range, and for bones not taken, the keyed one."""
    sampling, taken = gathered.sampling, wanted.taken
    asked = asked_for(gathered, result)
    frames = result.frames[:asked]
    rows = rows_of(sampling, shown(gathered, frames))
    simulated = armature_poses(result.poses[:asked], sampling, rows)
    if wanted.takes_along:
        bones = [bone for chain in gathered.job.roles.values() for bone in chain]
        simulated = taken_along(sampling.clip, bones, sampling.pose[rows], simulated)
    names = sampling.clip.skeleton.names
    if loop is not None:
        simulated = one_period(sampling.pose[rows], simulated, sampling.clip.skeleton.parent, loop.period)
        frames, rows = frames[: len(simulated)], rows[: len(simulated)]
    chosen = np.ones(len(names)) if taken is None else np.array([float(name in taken) for name in names])
    weight = wanted.influence * chosen[None].repeat(len(frames), axis=0)
    if loop is None:
        ramp = ramps(frames, wanted.blend_in, wanted.blend_out if result.outcome == "completed" else 0)
        weight *= ramp[:, None]
    pose = mix(sampling.pose[rows], simulated, weight, wanted.parent)
    before = np.flatnonzero(sampling.frames < frames[0] - FRAME)
    # a motion that ends earlier than it would is not followed by what is left of the keyed one in its range
    after = np.flatnonzero(sampling.frames > max(frames[-1], end_of(gathered)) + FRAME)
    is_take = gathered.job.ends is not None
    if result.outcome != "completed" or gathered.job.cyclic or gathered.job.playback.changes or is_take:
        after = after[:0]  # it lies somewhere, has walked on, or is elsewhere in time
    return Motion(
        np.concatenate([sampling.frames[before], frames, sampling.frames[after]]),
        np.concatenate([sampling.pose[before], pose, sampling.pose[after]]),
        np.concatenate([before, rows, after]),
    )


def shown(gathered: Gathered, frames: Array) -> Array:
    """Return which of the action's frames are played at frames of the bake."""
    job = gathered.job
    first, playback = job.frames[0], job.playback
    return np.array([first + job.fps * playback.shown((frame - first) / job.fps) for frame in frames])


def loop_in(gathered: Gathered, result: BakeResult) -> Loop | None:
    """Return how the bake repeats; None where it fell, left its way, or a method has changed its time."""
    loop, asked = gathered.loop, asked_for(gathered, result)
    if loop is None or result.outcome != "completed" or asked != PERIODS * loop.period + 1:
        return None
    keyed = gathered.sampling.clip.position[rows_of(gathered.sampling, result.frames[:asked])]
    simulated = result.poses[:asked, : keyed.shape[1], :3, 3]
    return loop if stays_on_its_way(keyed, simulated, loop.period) else None


def rows_shown(gathered: Gathered, result: BakeResult, loop: Loop | None) -> slice:
    """Return the rows of a result that are written: of a loop the second period."""
    return slice(asked_for(gathered, result)) if loop is None else slice(loop.period, 2 * loop.period + 1)


def asked_for(gathered: Gathered, result: BakeResult) -> int:
    """Return how many frames of a result were asked for: the last step may lead further, where frames are short.

    A method may give a motion more time than it had, and a path takes the time it takes; then all of it is meant.
    """
    if gathered.job.path is not None:
        return len(result.frames)
    asked = int(np.searchsorted(result.frames, end_of(gathered) + FRAME, side="right"))
    more = len(result.frames) - asked
    return asked if more <= int(gathered.job.fps / gathered.job.rate) else len(result.frames)


def end_of(gathered: Gathered) -> float:
    """Return the last frame that was asked for."""
    job = gathered.job
    seconds = job.duration if job.ends is None else min(job.duration, job.ends)
    return job.frames[0] + seconds * job.fps


def taken_bones(armature: bpy.types.Object, names: tuple[str, ...], chart: Map | None) -> set[str] | None:
    """Return the bones whose simulated motion is taken, also those that chosen controls move; None for all."""
    settings = settings_on(armature)
    chosen = {entry.name for entry in settings.chosen_bones}
    if chart is not None:
        chosen |= chart.moved_by(chosen)
    if settings.bones == "CHOSEN":
        return chosen & set(names)
    if settings.bones == "OTHERS":
        return set(names) - chosen
    return None


def proxy_of(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object:
    """Return the proxy that an earlier bake made, or a new one."""
    proxy = proxy_there(context, armature)
    if proxy is None:
        proxy = make_proxy(context, armature)
        settings_on(proxy).proxy_of = armature
    return proxy


def proxy_there(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Object | None:
    """Return the proxy that an earlier bake made, None where there is none."""
    wanted = {bone.name for bone in armature.data.bones}
    for other in context.view_layer.objects:
        if (
            other.type == "ARMATURE"
            and settings_on(other).proxy_of == armature
            and {bone.name for bone in other.data.bones} <= wanted
        ):
            return other
    return None


def mute(armature: bpy.types.Object, bones: set[str] | None) -> list[tuple[str, str]]:
    """Mute the constraints of bones, and return which they are."""
    found = [
        (bone.name, constraint.name)
        for bone in armature.pose.bones
        if bones is None or bone.name in bones
        for constraint in bone.constraints
        if not constraint.mute
    ]
    for names in found:
        constraint = constraint_of(armature, *names)
        if constraint is not None:
            constraint.mute = True
    return found


def layer_of_bake(settings: HEFT_PG_armature, output: str) -> Literal["ACTION", "REPLACE", "COMBINE"]:
    """Return how a bake is laid over its source: only what is keyed on the rig itself, with nothing muted, can be."""
    return settings.layer if output in {"ACTION", "CONTROLS"} else "ACTION"


def unmute(armature: bpy.types.Object, muted: Sequence[tuple[str, str]]) -> None:
    """Have constraints act again that an earlier bake muted: the controls work by them."""
    for names in muted:
        constraint = constraint_of(armature, *names)
        if constraint is not None:
            constraint.mute = False


def remember(
    action: bpy.types.Action, target: bpy.types.Object, gathered: Gathered, overlay: str, report: str, kept: str
) -> None:
    """Keep on the action what it was made from and for, how it went, and what the overlay draws."""
    notes = notes_on(action)
    notes.report, notes.kept, notes.armature = report, kept, target.name
    notes.source, notes.source_slot = gathered.source.action(), gathered.source.slot
    notes.overlay = overlay


def write_diagnostics(
    armature: bpy.types.Object, bag: bpy.types.ActionChannelbag, result: BakeResult, rows: slice
) -> None:
    """Key what was measured on the armature's own properties."""
    feet = settings_on(armature).feet
    feet.clear()
    for name, values in sorted(result.curves.items()):
        path = PATHS.get(name)
        foot = name.removeprefix("contact_force_").removesuffix("_n")
        if path is None and foot != name:
            feet.add().name = foot
            path = f'heft.feet["{bpy.utils.escape_identifier(foot)}"].force'
        there = np.flatnonzero(np.isfinite(values[rows]))
        if path is not None and len(there):
            write_curve(bag, path, 0, "Heft", result.frames[there], values[rows][there])


SIDES = {"L": "left_", "R": "right_"}
"""How a character's bodies of a side are called."""

PATHS = {
    "tracking_error_deg": "heft.tracking_error",
    "root_error_m": "heft.root_error",
    "balance_margin_m": "heft.balance_margin",
    "help_share": "heft.help_share",
}
"""Where the curves of a result are shown, besides the feet's."""
