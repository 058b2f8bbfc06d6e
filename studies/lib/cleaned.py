# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of cleaned clips by programs that are not Heft: MuJoCo's inverse dynamics, Blender's importers."""

from pathlib import Path

import bpy
import mujoco
import numpy as np
from heft.blender_addon import exchange
from heft.blender_addon.cleaning import BlenderFormat
from heft.core.motion import quaternions
from heft.core.motion.bvh import UP_IS_Y, clip_of_bvh, read_bvh_file
from heft.core.rig.recognition import recognise

GRAVITY = 9.81


def inverse_dynamics(arrays: Path, mjcf: Path) -> tuple[float, float]:
    """By how much MuJoCo's torques differ from those that were written, and its balance of the root from nothing.

    Both RMS over all steps and coordinates: of the torques' own RMS, and of the weight. Of the root's six the three
    forces count.
    """
    model = mujoco.MjModel.from_xml_path(str(mjcf))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, jacobian = mujoco.MjData(model), np.zeros((3, model.nv))
    with np.load(arrays) as clip:
        named = {name: clip[name] for name in clip.files}
    qpos, qvel, rate = named["qpos"], named["qvel"], float(named["rate"])
    off, bare = np.zeros_like(named["torques"]), np.zeros((len(named["torques"]), 3))
    for k in range(len(off)):
        data.qpos[:], data.qvel[:] = qpos[k + 1], qvel[k]
        data.qacc[:] = (qvel[k + 1] - qvel[k]) * rate
        mujoco.mj_inverse(model, data)
        torque = data.qfrc_inverse.copy()
        torque[:6] -= named["help"][k]  # what is left over stays in: it is what is looked for
        for row in range(int(named["contact_start"][k]), int(named["contact_start"][k + 1])):
            point, body = named["contact_points"][row], int(named["contact_bodies"][row])
            mujoco.mj_jac(model, data, jacobian, None, point, body + 1)
            torque -= jacobian.T @ named["contact_point_forces"][row]
        off[k], bare[k] = torque[6:] - named["torques"][k], torque[:3]
    weight = GRAVITY * float(named["masses"].sum())
    return _rms(off) / max(_rms(named["torques"]), 1e-9), _rms(bare) / weight


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
