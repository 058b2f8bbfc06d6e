# SPDX-License-Identifier: GPL-3.0-or-later
"""Which controls an armature has: by a table where it is of a known family, else by trying what each bone moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core.motion.counterparts import body_of
from ...core.motion.quaternions import Array
from ..rig.pose_space import RestBone, rest_bones
from ..rig.reading import ordered_bones, read_skeleton
from ..slices import Work, at_once, whole, within
from ..typed import settings_on
from . import rigify
from .choosing import Aims, chosen_map, united
from .drives import Map
from .recording import Recorded, Recorder
from .responses import responses_of
from .stand_in import StandIn
from .traits import chains_of, obeys, traits_of

FAMILIES = (rigify.map_of,)
MOST_STATES = 4  # of switches that are keyed, that are tried


def map_for(armature: bpy.types.Object, recorded: Recorded | None = None) -> Map:
    """Return which controls move the bones that have roles, with switches as recorded, or as they are now."""
    return whole(mapping(armature, recorded))


def mapping(armature: bpy.types.Object, recorded: Recorded | None = None) -> Work[Map]:
    """Find them a little at a time; what is read of the armature is read now."""
    names = armature.data.bones.keys()
    known = next((found for make in FAMILIES if (found := make(names)) is not None), None)
    if known is not None:
        return at_once(known)
    return Trying(armature, recorded_now(armature) if recorded is None else recorded).steps()


class Trying:
    """The search for the controls of a rig of no known family."""

    def __init__(self, armature: bpy.types.Object, recorded: Recorded) -> None:
        """Read what there is to know of an armature; where it is looked at while it is tried is the recording."""
        self._aims, self._recorded = aims_of(armature), recorded
        self._stand_in = StandIn(armature, {bone for bone, _ in self._aims})
        every = rest_bones(armature)
        by_name = {bone.name: bone for bone in every}
        self._bones = placed([by_name[name] for name in self._stand_in.names], every)
        self._traits = traits_of(armature, self._stand_in.names)

    def steps(self) -> Work[Map]:
        """Try every bone in every state of the switches."""
        maps, stand_in = [], self._stand_in
        rows = states_of(self._recorded)
        try:
            for done, row in enumerate(rows):
                base = self._recorded.at(np.array([row]))
                stand_in.pose(base, 0)
                posed = stand_in.evaluated()
                tried = [name for name in stand_in.names if obeys(posed.pose.bones[name])]
                chains = chains_of(posed)
                trial = responses_of(self._bones, tried, base, stand_in.pose)
                found = yield from within(trial, done / len(rows), (done + 1) / len(rows))
                maps.append(chosen_map(self._aims, found, {name: self._traits[name] for name in tried}, chains))
        finally:
            stand_in.remove()
        return united(maps)


def aims_of(armature: bpy.types.Object) -> Aims:
    """Return the bones that have roles, each with the one that it hangs from, those above first."""
    names = [bone.name for bone in ordered_bones(armature)]
    chains = {
        role: tuple(names.index(name) for name in bones if name in names)
        for role, bones in settings_on(armature).chosen_roles().items()
    }
    carriers = body_of(read_skeleton(armature), chains).carriers() if chains else []
    return [(names[bone], names[above] if above >= 0 else "") for bone, above in carriers]


def states_of(recorded: Recorded) -> list[int]:
    """Return a row for each state of the switches, which are custom properties, in the middle of the rows with it."""
    if not recorded.properties:
        return [len(recorded.frames) // 2]
    values = np.round(np.column_stack(list(recorded.properties.values())))
    rows: list[int] = []
    for state in np.unique(values, axis=0):
        there = np.flatnonzero((values == state).all(axis=1))
        rows.append(int(there[len(there) // 2]))
    return sorted(rows)[:MOST_STATES]


def recorded_now(armature: bpy.types.Object) -> Recorded:
    """What an armature's channels are now."""
    recorder = Recorder(armature, 1)
    recorder.look(0, bpy.context.evaluated_depsgraph_get())
    place: Array = np.array(armature.matrix_world)[None]
    return recorder.recorded(np.array([float(bpy.context.scene.frame_current)]), place)


def placed(bones: Sequence[RestBone], of: Sequence[RestBone]) -> list[RestBone]:
    """Return some of an armature's bones, parents included, that know their parents' places among themselves."""
    place = {bone.name: index for index, bone in enumerate(bones)}
    return [replace(bone, parent=place[of[bone.parent].name] if bone.parent >= 0 else -1) for bone in bones]
