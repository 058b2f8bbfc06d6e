# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as keys: intervals in which a point of the character stands on something, on and off in the Dope Sheet.

The keys are the armature's own, in the slot of its action. They stand half a sample outside the interval that they
mark, but never outside the motion, so that reading them back gives the same samples again. What was found is kept with
the action: where the keys say anything else, an animator has changed them, and their word counts.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.job import ContactInterval
from ..core.motion.schedule import contact_points, runs
from .overlay.data import read_character
from .properties.contacts import FEET, POINTS
from .typed import notes_on, settings_on
from .writer import assigned_curves, own_bag, remove_curves, write_steps

PATH = "heft.contacts."
GROUP = "Contacts"
ON = 0.5  # of a curve: from here on it is on


@dataclass(frozen=True)
class Samples:
    """The scene's frames at which contacts are told apart."""

    first: float
    last: float
    step: float

    @property
    def frames(self) -> NDArray[np.float64]:
        """All of them."""
        return np.asarray(
            self.first + self.step * np.arange(round((self.last - self.first) / self.step) + 1), np.float64
        )


def key_contacts(
    armature: bpy.types.Object, points: Container[str], intervals: Sequence[ContactInterval], samples: Samples
) -> None:
    """Write the contacts of a character's points into its action, and remember that they were found."""
    bag = own_bag(armature)
    remove_curves(bag, PATH)
    half = 0.5 * samples.step
    for point in (known for known in POINTS if known in points):
        own = sorted((one for one in intervals if one.point == point), key=lambda one: one.start)
        if not own and point not in FEET:
            continue
        keys = {samples.first: 0.0}
        for one in own:
            keys[max(one.start - half, samples.first)] = 1.0
            if one.end + half < samples.last:
                keys[one.end + half] = 0.0
        frames, values = np.array(sorted(keys.items())).T
        write_steps(bag, PATH + point, GROUP, frames, values)
    remember(armature)


@lru_cache(maxsize=16)
def _points(character: str) -> frozenset[str]:
    return frozenset(point.name for point in contact_points(read_character(character)))


def points_of(armature: bpy.types.Object) -> frozenset[str]:
    """Return the names of the points of an armature's character."""
    return _points(settings_on(armature).character) if settings_on(armature).character else frozenset()


def keyed(armature: bpy.types.Object) -> dict[str, bpy.types.FCurve]:
    """Return the curves of contacts by point."""
    animation = armature.animation_data
    if animation is None or animation.action is None:
        return {}
    return {
        curve.data_path.removeprefix(PATH): curve
        for curve in assigned_curves(armature, animation.action)
        if curve.data_path.startswith(PATH)
    }


def read_contacts(armature: bpy.types.Object, samples: Samples) -> list[ContactInterval] | None:
    """Return the intervals that the keys say of the character's points; None where nothing is keyed."""
    curves = keyed(armature)
    if not curves:
        return None
    found = []
    frames = samples.frames
    for point in POINTS.keys() & points_of(armature):
        curve = curves.get(point)
        if curve is None:
            active = np.full(len(frames), getattr(settings_on(armature).contacts, point), dtype=np.bool_)
        else:
            active = np.array([curve.evaluate(frame) >= ON for frame in frames.tolist()], dtype=np.bool_)
        found += [ContactInterval(point, float(frames[start]), float(frames[stop - 1])) for start, stop in runs(active)]
    return sorted(found)


def intervals_of_keys(curve: bpy.types.FCurve) -> list[tuple[float, float]]:
    """Return from when to when a curve of steps is on; endless where it never goes off again."""
    places = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", places)
    frames, on = places[0::2].tolist(), places[1::2] >= ON
    return [(frames[start], frames[stop] if stop < len(frames) else np.inf) for start, stop in runs(on)]


def remember(armature: bpy.types.Object) -> None:
    """Keep with the action that its keys are those that were found."""
    animation = armature.animation_data
    kept = json.loads(notes_on(animation.action).contacts or "{}")
    kept[animation.action_slot.identifier] = _keys(keyed(armature))
    notes_on(animation.action).contacts = json.dumps(kept)


def are_edited(armature: bpy.types.Object) -> bool:
    """Whether there are contacts that are not just those that were found."""
    curves = keyed(armature)
    if not curves:
        return False
    animation = armature.animation_data
    kept = json.loads(notes_on(animation.action).contacts or "{}").get(animation.action_slot.identifier)
    return bool(kept != _keys(curves))


def edited_contacts(armature: bpy.types.Object, samples: Samples) -> list[ContactInterval] | None:
    """Return the contacts that an animator wants; None where they are to be found."""
    return read_contacts(armature, samples) if are_edited(armature) else None


def _keys(curves: Mapping[str, bpy.types.FCurve]) -> dict[str, list[float]]:
    """Return frames and values of all keys, as JSON gives them back."""
    found = {}
    for point, curve in sorted(curves.items()):
        places = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", places)
        found[point] = [round(float(place), 3) for place in places]
    return found
