# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks of the NLA that a bake lies in as a layer: the source's, and its own above.

They are known by their actions: a bake says that it is a layer, and what it was made from.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import bpy

from ..typed import notes_on


class Stack(NamedTuple):
    """A bake that is a layer, with what it lies on."""

    below: tuple[bpy.types.Action, ...]  # what has no keys in the source, and the source
    strip: bpy.types.NlaStrip  # of the bake
    action: bpy.types.Action  # the bake
    tracks: tuple[bpy.types.NlaTrack, ...]  # of these, from below


def stack_of(armature: bpy.types.Object) -> Stack | None:
    """Return the layer of an armature's bake; None where it has none."""
    animation = armature.animation_data
    if animation is None:
        return None
    places = [
        (track, strip, strip.action)
        for track in animation.nla_tracks
        for strip in track.strips
        if strip.action is not None
    ]
    for index, (track, strip, action) in enumerate(places):
        if notes_on(action).is_layer:
            source = notes_on(action).source
            below = [place for place in places[:index] if place[2] == source or notes_on(place[2]).is_beneath]
            tracks = (*(place[0] for place in below), track)
            return Stack(tuple(place[2] for place in below), strip, action, tracks)
    return None


@contextlib.contextmanager
def lifted(armature: bpy.types.Object) -> Iterator[None]:
    """Have the layer, what it lies on and all tracks above play nothing: the source itself is assigned meanwhile."""
    stack = stack_of(armature)
    if stack is None:
        yield
        return
    tracks = list(armature.animation_data.nla_tracks)
    above = tracks[tracks.index(stack.tracks[0]) :]
    were = [track.mute for track in above]
    try:
        for track in above:
            track.mute = True
        yield
    finally:
        for track, mute in zip(above, were, strict=True):
            track.mute = mute
