# SPDX-License-Identifier: GPL-3.0-or-later
"""Heft gives keyframes weight."""


def register() -> None:
    """Called by Blender when the extension is enabled."""
    from .blender_addon.worker import kernels

    kernels.keep_kernels_outside()
    from . import registration

    registration.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    from . import registration

    registration.unregister()
