# SPDX-License-Identifier: GPL-3.0-or-later
"""How a process ends that may have loaded Blender as a module."""

import os
import sys
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """End without the bpy module's own clean-up: 4.5's can wait for ever on one of its threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
