# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that Blender reads, cleaned: FBX, glTF and .blend files, each action of each armature by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ..core.control.method import DEFAULT
from ..core.job import BakeJob, BakeResult
from .baking import keyed_motion, output
from .baking.gather import Gathered, gather
from .baking.source import bone_of, slot_for
from .exchange import open_file, save_file, what_is_wrong
from .rig.proxy import is_driven
from .typed import settings_on
from .writer import assigned_curves, channels_to_key, resting_bones, slot_of, write_channels


@dataclass(frozen=True)
class Motion:
    """An action of an armature in the open file; none where the NLA or constraints alone move it."""

    armature: str
    action: str | None

    def name(self, others: Sequence[Motion]) -> str:
        """As people are told of it among others: nothing where it is alone."""
        if len(others) == 1:
            return ""
        action = self.action or "NLA"
        return action if len({other.armature for other in others}) == 1 else f"{self.armature}, {action}"


class BlenderFormat:
    """A format of core.clean; the file that was opened last stays open."""

    def __init__(self) -> None:
        self._open: Path | None = None

    def takes(self, path: Path) -> list[str]:
        """Names of the file's motions; ValueError, in a sentence, where it has none."""
        return list(self._motions(path))

    def job(self, path: Path, take: str) -> BakeJob:
        """A motion as a job, set up as Set Up does it."""
        motions = self._motions(path)
        if take not in motions:
            raise ValueError(f"{path.name} no longer has the motion {take}.")
        return self._gathered(motions[take]).job

    def write(self, path: Path, results: Mapping[str, BakeResult], target: Path) -> None:
        """Write the file with these motions; actions keep their names."""
        motions = self._motions(path)
        gathered = {take: self._gathered(motions[take]) for take in results}
        self._open = None  # from here on it is not as it was
        for take, result in results.items():
            _replace(motions[take], gathered[take], result)
        moved = {motion.action: motion.armature for motion in motions.values() if motion.action is not None}
        if path.suffix.lower() != ".blend":
            _show(motions[next(iter(results))])
            ranges = [bpy.data.actions[action].frame_range for action in moved]
            scene = bpy.context.scene
            scene.frame_start = round(min(each[0] for each in ranges))
            scene.frame_end = round(max(each[1] for each in ranges))
        try:
            save_file(target, moved)
        except RuntimeError as error:
            raise ValueError(what_is_wrong(error)) from error

    def _motions(self, path: Path) -> dict[str, Motion]:
        if self._open != path:
            self._open = None
            open_file(path)
            self._open = path
        found = [motion for armature in _armatures() for motion in _motions_of(armature, path)]
        if not found:
            raise ValueError(f"{path.name} holds no motion of an armature.")
        return {motion.name(found): motion for motion in found}

    def _gathered(self, motion: Motion) -> Gathered:
        armature = bpy.data.objects[motion.armature]
        with _playing(armature, motion):
            found = gather(bpy.context, [armature])[0]
        job = replace(
            found.job, method=DEFAULT, settings={}, optimise=True, help="as_needed", others=(), choices=(), loop=False
        )
        return replace(found, job=job, loop=None)


def _armatures() -> list[bpy.types.Object]:
    return [
        one
        for one in bpy.context.view_layer.objects
        if one.type == "ARMATURE" and settings_on(one).proxy_of is None and len(one.data.bones) > 1
    ]


def _motions_of(armature: bpy.types.Object, path: Path) -> Iterator[Motion]:
    """What a .blend plays; of other files every action that moves the armature's bones."""
    animation = armature.animation_data
    if animation is None:
        return
    if path.suffix.lower() == ".blend":
        if animation.action is not None or any(track.strips and not track.mute for track in animation.nla_tracks):
            yield Motion(armature.name, animation.action.name if animation.action else None)
        return
    for action in bpy.data.actions:
        if _moves(armature, action):
            yield Motion(armature.name, action.name)


def _moves(armature: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an action keys bones of an armature over more than a frame."""
    with contextlib.suppress(ValueError), _playing(armature, Motion(armature.name, action.name)):
        for curve in assigned_curves(armature, action):
            bone, _ = bone_of(curve.data_path)
            span = curve.range()
            if bone in armature.data.bones and span.y > span.x:
                return True
    return False


@contextlib.contextmanager
def _playing(armature: bpy.types.Object, motion: Motion) -> Iterator[None]:
    """Have the armature play an action alone."""
    animation = armature.animation_data
    if motion.action is None or (animation.action is not None and animation.action.name == motion.action):
        yield
        return
    before = animation.action, animation.action_slot
    muted = [track.mute for track in animation.nla_tracks]
    try:
        _show(motion)
        for track in animation.nla_tracks:
            track.mute = True
        yield
    finally:
        animation.action = before[0]
        if before[1] is not None:
            animation.action_slot = before[1]
        for track, mute in zip(animation.nla_tracks, muted, strict=True):
            track.mute = mute


def _show(motion: Motion) -> None:
    """Have an armature play an action from now on."""
    armature = bpy.data.objects[motion.armature]
    if motion.action is not None:
        action = bpy.data.actions[motion.action]
        slot = slot_for(armature, action)
        armature.animation_data.action = action
        armature.animation_data.action_slot = slot


def _replace(motion: Motion, gathered: Gathered, result: BakeResult) -> None:
    """Put a result in the place of the action that it came from; on rigs with controls where a bake puts it."""
    armature = bpy.data.objects[motion.armature]
    action = gathered.source.action()
    with _playing(armature, motion):
        if action is None or is_driven(armature):
            output.write(bpy.context, armature, gathered, result)
            return
        moved = keyed_motion.motion_of(armature, gathered, result, None)
        channels = channels_to_key(resting_bones(armature, moved.pose), moved.pose)
        slot = gathered.source.slot[2:]
        new = write_channels(armature, moved.frames, channels, f"{action.name} cleaned", slot=slot, keep=action)
    output.replace_action(action, new)
    if armature.animation_data.action == new and armature.animation_data.action_slot is None:
        armature.animation_data.action_slot = slot_of(new, gathered.source.slot)
