# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of cleaned clips by programs that are not Heft: MuJoCo's inverse dynamics, Blender's importers."""

from pathlib import Path
from typing import NamedTuple

import bpy
import mujoco
import numpy as np
from heft.blender_addon import exchange
from heft.blender_addon.cleaning import BlenderFormat
from heft.core.motion import quaternions
from heft.core.motion.bvh import UP_IS_Y, clip_of_bvh, read_bvh_file
from heft.core.rig.recognition import recognise

GRAVITY = 9.81


class Off(NamedTuple):
    """By how much MuJoCo's inverse dynamics differs, RMS over all steps and coordinates."""

    torques: float  # share of the torques' own RMS
    contact: float  # forces at the root that nothing of what was written gives, as a share of the weight
    differences: float  # the same with differences of velocities in place of the accelerations that were written


def inverse_dynamics(arrays: Path, mjcf: Path) -> Off:
    """MuJoCo's torques and its balance of the root, beside what was written."""
    model = mujoco.MjModel.from_xml_path(str(mjcf))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, jacobian = mujoco.MjData(model), np.zeros((3, model.nv))
    with np.load(arrays) as clip:
        named = {name: clip[name] for name in clip.files}
    differences = np.diff(named["qvel"], axis=0) * float(named["rate"])
    given = np.zeros_like(differences)
    given[:, :6] = named["help"]
    given[:, 6:] = named["torques"]
    off = np.zeros((2, *differences.shape))
    for k in range(len(given)):
        for found, accelerations in zip(off, (named["qacc"], differences), strict=True):
            data.qpos[:], data.qvel[:], data.qacc[:] = named["qpos"][k + 1], named["qvel"][k], accelerations[k]
            mujoco.mj_inverse(model, data)
            found[k] = data.qfrc_inverse - given[k]
        for row in range(int(named["contact_start"][k]), int(named["contact_start"][k + 1])):
            point, body = named["contact_points"][row], int(named["contact_bodies"][row])
            mujoco.mj_jac(model, data, jacobian, None, point, body + 1)
            off[:, k] -= jacobian.T @ named["contact_point_forces"][row]
    weight = GRAVITY * float(named["masses"].sum())
    torques = max(_rms(named["torques"]), 1e-9)
    return Off(_rms(off[0, :, 6:]) / torques, _rms(off[0, :, :3]) / weight, _rms(off[1, :, :3]) / weight)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0


def read_back(source: Path, written: Path, arrays: Path, take: str) -> float:
    """How far a joint of the file, read by Blender, is at most from where the arrays have it, mm."""
    with np.load(arrays) as clip:
        names, wanted, frames = clip["joint_names"].tolist(), clip["joint_positions"], clip["frames"]
    if written.suffix.lower() == ".bvh":
        return 1000.0 * _bvh_off(source, written, names, wanted, frames)
    clip = BlenderFormat().job(written, take).clip
    rows = np.rint((frames - clip.first_frame) / clip.frames_per_sample).astype(int)
    there = [clip.skeleton.index(name) for name in names]
    return 1000.0 * float(np.abs(clip.position[rows][:, there] - wanted).max())


def _bvh_off(source: Path, written: Path, names: list[str], wanted: np.ndarray, frames: np.ndarray) -> float:
    """The same of a BVH file, in metres: heads of bones, as Blender's importer has them, in the source's own unit."""
    file = read_bvh_file(source)
    found = recognise(clip_of_bvh(file, 1.0, UP_IS_Y))
    bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    try:
        bpy.ops.import_anim.bvh(
            filepath=str(written), global_scale=found.unit, update_scene_fps=False, use_fps_scale=False
        )
    except RuntimeError as error:
        raise ValueError(exchange.what_is_wrong(error)) from error
    armature = bpy.context.object
    own = [name for name in names if name in armature.pose.bones]
    columns = [names.index(name) for name in own]
    # the importer's first frame is 1, and so is that of a clip of ours
    worst = 0.0
    for row, frame in enumerate(np.rint(frames).astype(int).tolist()):
        bpy.context.scene.frame_set(frame)
        heads = np.array([armature.matrix_world @ armature.pose.bones[name].head for name in own])
        places = quaternions.rotate(found.turn, heads)
        worst = max(worst, float(np.abs(places - wanted[row, columns]).max()))
    return worst
