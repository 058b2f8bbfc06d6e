# SPDX-License-Identifier: GPL-3.0-or-later
"""Props after a bake: their objects move as they were simulated."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.motion.quaternions import Array
from ..rig.pose_space import in_mode
from ..rig.reading import rotations_of
from ..scene.props import SceneProp
from ..typed import settings_on
from ..writer import ROTATION_PATH, assign_action, new_action, write_curve


def write_prop(prop: SceneProp, frames: Array, poses: Array, unit: float) -> None:
    """Give a prop's object a new action with the poses (nf, 4, 4) of the prop in the world, in metres."""
    thing = next((found for found in bpy.data.objects if found.name_full == prop.object_name), None)
    if thing is None or thing.library is not None:
        return
    world = poses.copy()
    world[:, :3, 3] += poses[:, :3, :3] @ np.array(prop.origin)
    world[:, :3, 3] /= unit
    # What stands between the object's own channels and the world: parents, and deltas.
    base = np.array(thing.matrix_world) @ np.linalg.inv(np.array(thing.matrix_basis))
    basis = np.linalg.inv(base) @ world
    turns = in_mode(rotations_of(basis[:, :3, :3]), thing.rotation_mode)
    action, bag = new_action(f"{thing.name} Simulated", thing.name)
    turn_path = ROTATION_PATH.get(thing.rotation_mode, "rotation_euler")
    for path, values in (("location", basis[:, :3, 3]), (turn_path, turns)):
        for index in range(values.shape[1]):
            write_curve(bag, path, index, "Object Transforms", frames, values[:, index])
    if settings_on(thing).throw.taken:
        thrown = frames[frames <= settings_on(thing).throw.frame]
        for path in ("hide_viewport", "hide_render"):
            keys = np.array([frames[0], thrown[-1] + 1.0]) if len(thrown) else frames[:1]
            hidden = np.array([1.0, 0.0]) if len(thrown) else np.zeros(1)
            write_curve(bag, path, 0, "Visibility", keys, hidden, "CONSTANT")
    assign_action(thing, action)
    if thing.rigid_body is not None:
        thing.rigid_body.kinematic = True  # or Blender's own simulation would move it instead
