# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake onto a rig's controls: whether it is one, and what is told of what they do not reach."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..controls.solution import Miss, map_for
from ..typed import settings_on

MOST_TOLD = 3


def is_onto_controls(armature: bpy.types.Object) -> bool:
    """Whether a bake of an armature is to go onto its controls; ValueError where these are not known."""
    if settings_on(armature).output != "CONTROLS":
        return False
    if map_for(armature) is None:
        raise ValueError(
            f"{armature.name} has no controls that Heft knows, only a Rigify human's: choose another Output."
        )
    return True


def needs_channels(armature: bpy.types.Object) -> bool:
    """Whether a bake needs to know the source's channels: of controls, or for the difference to them."""
    return is_onto_controls(armature) or settings_on(armature).layer == "COMBINE"


def told(misses: Sequence[Miss]) -> list[str]:
    """Return a sentence for each of the worst misses."""
    lines = [
        f"{miss.bone} is up to {1000.0 * miss.metres:.1f} mm and {miss.degrees:.1f} degrees off, most at frame "
        f"{miss.frame:.0f}: its controls do not reach further."
        for miss in misses[:MOST_TOLD]
    ]
    if len(misses) > MOST_TOLD:
        lines.append(f"{len(misses) - MOST_TOLD} more bones are off by more than 1 mm or 0.5 degrees.")
    return lines
