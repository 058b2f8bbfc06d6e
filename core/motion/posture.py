# SPDX-License-Identifier: GPL-3.0-or-later
"""The trunk of a figure that stands, straightened as it would be at rest, from the places of its joints alone.

What a trunk weighs, and where, is told for one that is upright. Nobody holds it so in every motion, and what the bones'
own axes say of it is lost with the rest pose: so it is put upright, the hips level below it and the lowest joint of the
spine as far behind them as in people. Limbs stay as they are in the world, from where they hang.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from . import quaternions, roles
from .clip import Clip, Skeleton
from .quaternions import Array

LUMBAR_BEHIND = 0.053  # of the leg: the lowest joint of the spine behind the hips, mean of 17 captured people
SHORTEST = 0.02  # of the leg: between joints that are closer there is no direction
Z = np.array([0.0, 0.0, 1.0])


def straightened(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]], clip: Clip) -> Skeleton:
    """The skeleton of a figure on two legs with its trunk, neck and head upright; Z is up already.

    The chest is turned so that the line from the hips to the neck, as it mostly goes in the clip, is upright.
    """
    head = skeleton.head
    hips, knees, ankles = (
        [head[chains[f"{part}.{side}"][0]] for side in roles.SIDES] for part in ("thigh", "shin", "foot")
    )
    shoulders = [head[chains[f"upper_arm.{side}"][0]] for side in roles.SIDES if f"upper_arm.{side}" in chains]
    middle = 0.5 * (hips[0] + hips[1])
    lengths = [np.linalg.norm(b - a) for a, b in (*zip(hips, knees, strict=True), *zip(knees, ankles, strict=True))]
    leg = 0.5 * float(np.sum(lengths))
    trunk = [bone for role in ("spine", "chest", "neck", "head") for bone in chains.get(role, ())]
    joints = [*(head[bone] for bone in trunk), *(skeleton.tail[bone] for bone in trunk[-1:])]
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(skeleton.names), 1))
    lumbar = _next(joints, middle, SHORTEST * leg)
    limbs = {chains[role][0] for role in chains if role.startswith(("thigh", "upper_arm"))}
    along = {bone: _next(joints[place:], head[bone], SHORTEST * leg) for place, bone in enumerate(trunk)}
    spine = chains.get("spine", ()) + chains.get("chest", ())
    chest = spine[-1] if spine else -1
    usual = _usual_line(clip, chains, chest) if spine else Z
    for bone, parent in enumerate(skeleton.parent):
        if bone in limbs:
            continue  # as it is in the world
        if parent >= 0:
            turn[bone] = turn[parent]
        if bone == chains["pelvis"][0] and lumbar is not None:
            turn[bone] = _level(hips[0] - hips[1], lumbar - middle, LUMBAR_BEHIND * leg)
        elif bone == chest:
            way = quaternions.rotate(quaternions.multiply(turn[bone], skeleton.orientation[bone]), usual)
            turn[bone] = quaternions.multiply(quaternions.between(way, Z), turn[bone])
        elif (end := along.get(bone)) is not None:
            way = quaternions.rotate(turn[bone], end - head[bone])
            turn[bone] = quaternions.multiply(quaternions.between(way, Z), turn[bone])
        if bone == chest and len(shoulders) == len(roles.SIDES):
            across = quaternions.rotate(turn[bone], shoulders[0] - shoulders[1])
            turn[bone] = quaternions.multiply(_about_z(across, hips[0] - hips[1]), turn[bone])
    return _turned_in_place(skeleton, turn)


def _usual_line(clip: Clip, chains: Mapping[str, tuple[int, ...]], chest: int) -> Array:
    """The direction (3,) from the hips to the neck, in the chest's frame, that it has on average."""
    hips = np.mean([clip.position[:, chains[f"thigh.{side}"][0]] for side in roles.SIDES], axis=0)
    above = next((chains[role][0] for role in ("neck", "head") if role in chains), chest)
    way = quaternions.rotate(quaternions.conjugate(clip.orientation[:, chest]), clip.position[:, above] - hips)
    result: Array = (way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)).mean(axis=0)
    return result


def _next(joints: Sequence[Array], place: Array, away: float) -> Array | None:
    """The first of the joints that is further from a place."""
    return next((joint for joint in joints if np.linalg.norm(joint - place) > away), None)


def _level(left: Array, up: Array, behind: float) -> Array:
    """The turn of a pelvis that brings its line of hips level, and the spine's lowest joint above and behind them."""
    aside = left / np.linalg.norm(left)
    level = np.array([left[0], left[1], 0.0])
    level /= max(float(np.linalg.norm(level)), 1e-9)
    lean = np.arcsin(min(behind / float(np.linalg.norm(up)), 0.7))
    wanted = np.cos(lean) * Z - np.sin(lean) * np.cross(level, Z)
    frames = []
    for first, other in ((aside, up), (level, wanted)):
        second = other - (other @ first) * first
        second /= max(float(np.linalg.norm(second)), 1e-9)
        frames.append(np.column_stack([first, second, np.cross(first, second)]))
    return quaternions.from_matrix(frames[1] @ frames[0].T)


def _about_z(line: Array, other: Array) -> Array:
    """The turn about Z by which a line comes to point the same way as another."""
    angle = 0.5 * float(np.arctan2(line[0] * other[1] - line[1] * other[0], line[:2] @ other[:2]))
    return np.array([np.cos(angle), 0.0, 0.0, np.sin(angle)])


def _turned_in_place(skeleton: Skeleton, turn: Array) -> Skeleton:
    """The skeleton with each bone turned in the world (nb, 4) about where its parent carries it."""
    head = skeleton.head.copy()
    for bone, parent in enumerate(skeleton.parent):
        if parent >= 0:
            head[bone] = head[parent] + quaternions.rotate(turn[parent], skeleton.head[bone] - skeleton.head[parent])
    tail = head + quaternions.rotate(turn, skeleton.tail - skeleton.head)
    return replace(skeleton, head=head, tail=tail, orientation=quaternions.multiply(turn, skeleton.orientation))
