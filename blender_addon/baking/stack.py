# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks of the NLA that a bake lies in as a layer: the source's, and its own above.

They are known by their actions: a bake says that it is a layer, and what it was made from.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import bpy


class Stack(NamedTuple):
    """A bake that is a layer, with what it lies on."""

    below: tuple[bpy.types.NlaStrip, ...]  # what has no keys in the source, and the source
    strip: bpy.types.NlaStrip  # of the bake
    tracks: tuple[bpy.types.NlaTrack, ...]  # of these, from below


def stack_of(armature: bpy.types.Object) -> Stack | None:
    """Return the layer of an armature's bake; None where it has none."""
    animation = armature.animation_data
    places = [] if animation is None else [(track, strip) for track in animation.nla_tracks for strip in track.strips]
    of_bake = [place for place in places if place[1].action is not None and place[1].action.heft.is_layer]
    if not of_bake:
        return None
    source = of_bake[0][1].action.heft.source
    below = [
        place
        for place in places[: places.index(of_bake[0])]
        if place[1].action is not None and (place[1].action == source or place[1].action.heft.is_beneath)
    ]
    return Stack(tuple(strip for _, strip in below), of_bake[0][1], tuple(track for track, _ in (*below, of_bake[0])))


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
