# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves of what was measured, on the armature's own properties."""

import bpy
import numpy as np

from ...core.job import BakeResult
from ..typed import settings_on
from ..writer import write_curve

PATHS = {
    "tracking_error_deg": "heft.tracking_error",
    "root_error_m": "heft.root_error",
    "balance_margin_m": "heft.balance_margin",
    "help_share": "heft.help_share",
}  # where the curves of a result are shown, besides the feet's


def write_diagnostics(
    armature: bpy.types.Object, bag: bpy.types.ActionChannelbag, result: BakeResult, rows: slice
) -> None:
    """Key what was measured on the armature's own properties."""
    feet = settings_on(armature).feet
    feet.clear()
    for name, values in sorted(result.curves.items()):
        path = PATHS.get(name)
        foot = name.removeprefix("contact_force_").removesuffix("_n")
        if path is None and foot != name:
            feet.add().name = foot
            path = f'heft.feet["{bpy.utils.escape_identifier(foot)}"].force'
        there = np.flatnonzero(np.isfinite(values[rows]))
        if path is not None and len(there):
            write_curve(bag, path, 0, "Heft", result.frames[there], values[rows][there])
