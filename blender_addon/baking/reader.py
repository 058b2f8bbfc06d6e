# SPDX-License-Identifier: GPL-3.0-or-later
"""What Auto Bake reads: an armature at a time, in slices, by the short way where that tells what the long one does.

The long way is that of Bake: every frame of the whole scene. The short one is many times as quick (`rig/viewing.py`),
and so it is checked against the long one once a bake has come to rest, and again where something moves the armature
otherwise than before. Where the two tell of different jobs, the long way is taken from then on.
"""

from __future__ import annotations

import json

import bpy

from ..controls.stand_in import targets_of
from ..rig.mesh import Weights
from ..rig.other_motion import mover_of
from ..rig.viewing import can_be_apart
from ..slices import Slices, history
from .gather import Gathered, gathering
from .preview import Preview
from .session import there

AT_ONCE = 0.03  # s of work, after which a window is shown again; to draw it may take longer than that


class Reader:
    """Reads one armature at a time."""

    def __init__(self) -> None:
        self.uid: int | None = None  # of the armature that is being read
        self.checks = False  # it was read before, by the short way
        self._slices: Slices[list[Gathered]] | None = None
        self._weights = Weights()
        self._turned = history.turned
        self._agrees: dict[int, tuple[str, bool]] = {}  # whether the short way does, by armatures and what moves them

    def begin(self, armature: bpy.types.Object, *, check: bool = False) -> None:
        """Begin to read an armature; to `check` what was read of it, by the long way."""
        self.end()
        if self._turned != history.turned:
            self._turned = history.turned
            self.forget_meshes()
        uid, self.uid, self.checks = armature.session_uid, armature.session_uid, check
        agrees = self._known(armature)
        short = not check and agrees is not False and can_be_apart(bpy.context.scene)
        weights = self._weights if short else None
        self._slices = Slices(lambda: gathering(bpy.context, [there(uid)], at_once=AT_ONCE, shortly=weights))

    def go_on(self) -> Gathered | None:
        """Read some more; what was read, once it is over. ValueError, in words for the user, if it cannot be baked."""
        assert self._slices is not None
        assert self.uid is not None
        armature = there(self.uid)
        kept = Preview(armature)  # a pose that is not keyed yet
        try:
            if not self._slices.go_on(AT_ONCE):
                return None
            (found,) = self._slices.results[0]
        except ValueError:
            self.end()
            raise
        finally:
            kept.restore(armature)
            bpy.context.view_layer.update()
        self.end()
        return found

    def end(self) -> None:
        """Leave what is being read."""
        if self._slices is not None:
            self._slices.end()
        self._slices, self.uid = None, None

    def wants_check(self, armature: bpy.types.Object) -> bool:
        """Whether nobody knows if the short way tells the same of an armature."""
        return self._known(armature) is None and can_be_apart(bpy.context.scene)

    def note(self, armature: bpy.types.Object, *, agrees: bool) -> None:
        """What came of a check."""
        self._agrees[armature.session_uid] = (relations_of(armature), agrees)

    def forget_meshes(self) -> None:
        """Some mesh has changed."""
        self._weights.forget()

    def _known(self, armature: bpy.types.Object) -> bool | None:
        relations, agrees = self._agrees.get(armature.session_uid, ("", False))
        return agrees if relations == relations_of(armature) else None


def relations_of(armature: bpy.types.Object) -> str:
    """Return as text what moves an armature and the one whose motion it has: parents, constraints, drivers, tracks."""
    found: list[object] = []
    for one in dict.fromkeys((armature, mover_of(armature))):
        found += [one.session_uid, one.parent and one.parent.session_uid, one.parent_type]
        for owner in (one, *one.pose.bones):
            for constraint in owner.constraints:
                targets = [(target and target.session_uid, part) for target, part in targets_of(constraint)]
                found.append((owner.name, constraint.type, constraint.mute, targets))
        for animation in (one.animation_data, one.data.animation_data):
            if animation is not None:
                found += [(driver.data_path, driver.driver.expression) for driver in animation.drivers]
                found += [(track.name, track.mute) for track in animation.nla_tracks]
    return json.dumps(found)
