# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions beside the source, for methods that take several, on the armature."""

import bpy
from bpy.props import PointerProperty

from .overrides import OVERRIDABLE


class HEFT_PG_other_action(bpy.types.PropertyGroup):
    """An action beside the source."""

    action: PointerProperty(
        name="Action",
        description="Another action of the same rig to blend with or switch to, such as a longer stride or standing",
        type=bpy.types.Action,
        override=OVERRIDABLE,
    )


CLASSES = (HEFT_PG_other_action,)
