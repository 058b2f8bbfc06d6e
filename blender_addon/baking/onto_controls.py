# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake onto a rig's controls: whether it is one, and what is told of what they do not reach."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..controls.drives import Map
from ..controls.solution import Miss
from ..typed import settings_on
from ..writer import Rows

MOST_TOLD = 3


def is_onto_controls(armature: bpy.types.Object) -> bool:
    """Whether a bake of an armature is to go onto its controls."""
    return bool(settings_on(armature).output == "CONTROLS")


def needs_channels(armature: bpy.types.Object) -> bool:
    """Whether a bake needs to know the source's channels: of controls, for the difference to them, for fewer keys."""
    settings = settings_on(armature)
    return is_onto_controls(armature) or settings.layer == "COMBINE" or bool(settings.reduce)


def parents_on_controls(chart: Map, names: Sequence[str], parent: Rows) -> Rows:
    """Return what each bone hangs from: of deforming bones another one, whatever the rig has between them."""
    place = {name: index for index, name in enumerate(names)}
    result = parent.copy()
    for bone, above in chart.carrier().items():
        if above and place[above] < place[bone]:  # as in any skeleton parents come first
            result[place[bone]] = place[above]
    return result


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
