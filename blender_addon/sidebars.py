# SPDX-License-Identifier: GPL-3.0-or-later
"""Have Heft's panels drawn anew, and nothing else: a 3D Viewport takes many times as long as its sidebar."""

import bpy


def redraw() -> None:
    """Tag the sidebars of all 3D Viewports."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
