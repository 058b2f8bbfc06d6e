# SPDX-License-Identifier: GPL-3.0-or-later
"""What Build Reference leaves on an armature: contacts as keys, changes as curves, how good it is as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ..core.job import BakeJob, ContactInterval
from .contacts import Samples, are_edited, key_contacts, points_of
from .properties.contacts import JOINTS
from .typed import settings_on
from .writer import own_bag, remove_curves, write_curve

PATH = "heft.changes."
GROUP = "Reference"


def show_contacts(armature: bpy.types.Object, job: BakeJob, said: Mapping[str, Any]) -> None:
    """Key the contacts that the worker found for a job; ValueError where there is no action to key them in."""
    if armature.animation_data is None or armature.animation_data.action is None:
        raise ValueError(f"{armature.name} has no action of its own to key contacts in: assign one.")
    intervals = [ContactInterval(*one) for one in said["contacts"]]
    key_contacts(armature, points_of(armature), intervals, Samples(*job.frames, job.fps / job.rate))


def show_changes(armature: bpy.types.Object, said: Mapping[str, Any], unit: float) -> None:
    """Key by how much the reference differs from the action; `unit` is metres per Blender unit."""
    bag = own_bag(armature)
    remove_curves(bag, PATH)
    frames = np.array(said["frames"])
    curves: dict[str, Sequence[float]] = {name: values for name, values in said["joints"].items() if name in JOINTS}
    curves |= {"place": (np.array(said["place"]) / unit).tolist(), "heading": said["heading"]}
    for name in sorted(curves):
        write_curve(bag, PATH + name, 0, GROUP, frames, np.array(curves[name]))


def show(armature: bpy.types.Object, job: BakeJob, said: Mapping[str, Any], unit: float) -> None:
    """Write all that the worker said of a job's reference; the armature plays the action that it is of.

    Contacts that an animator has changed are left as they are. Without an action there is nowhere for keys.
    """
    settings_on(armature).reference_report = json.dumps(said["summary"])
    if armature.animation_data is None or armature.animation_data.action is None:
        return
    if not are_edited(armature):
        show_contacts(armature, job, said)
    show_changes(armature, said, unit)


def report_of(armature: bpy.types.Object) -> dict[str, Any]:
    """Return how good the last reference was; empty where there is none."""
    found = json.loads(settings_on(armature).reference_report or "{}")
    return found if isinstance(found, dict) else {}
