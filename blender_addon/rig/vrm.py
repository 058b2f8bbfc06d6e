# SPDX-License-Identifier: GPL-3.0-or-later
"""The mapping from VRM's words for bones to names that the VRM add-on keeps on an armature it imported."""

import re
from collections.abc import Iterator
from typing import Any

import bpy

EXTENSION = "vrm_addon_extension"


def humanoid_of(armature: bpy.types.Object) -> dict[str, str]:
    """Return VRM's mapping (hips, leftUpperArm, ... to bone names), empty where the armature carries none.

    Both versions of the format are read, and the plain properties that stay when the add-on is not there.
    """
    extension = field(armature.data, EXTENSION)
    newer = field(extension, "vrm1", "humanoid", "human_bones")
    found = {word: str(name) for word, name in _newer(newer) if name}
    if not found:
        found = {str(word): str(name) for word, name in _older(extension) if word and name}
    return found if "hips" in found else {}


def field(owner: Any, *path: str) -> Any:
    """Follow a path of attributes, or of keys where the add-on that defined the attributes is not there."""
    for name in path:
        if owner is None:
            return None
        found = getattr(owner, name, None)
        if found is None and hasattr(owner, "get"):
            found = owner.get(name)
        owner = found
    return owner


def _newer(bones: Any) -> Iterator[tuple[str, Any]]:
    """VRM 1.0: a field for each bone, in Python's spelling."""
    if bones is None:
        return
    words = bones.keys() if hasattr(bones, "keys") and not hasattr(bones, "bl_rna") else bones.bl_rna.properties.keys()
    for word in words:
        name = field(bones, word, "node", "bone_name")
        if isinstance(name, str):
            yield re.sub(r"_(\w)", lambda match: match.group(1).upper(), word), name


def _older(extension: Any) -> Iterator[tuple[Any, Any]]:
    """VRM 0: a list of entries that name VRM's bone and the armature's."""
    for entry in field(extension, "vrm0", "humanoid", "human_bones") or ():
        yield field(entry, "bone"), field(entry, "node", "bone_name")
