# SPDX-License-Identifier: GPL-3.0-or-later
"""How a process ends that may have loaded Blender as a module."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def leave_after(main: Callable[[], int | None]) -> NoReturn:
    """Do it, and end without the bpy module's own clean-up: 4.5's can wait for ever on one of its threads."""
    try:
        status = main() or 0
    except SystemExit as end:  # as argparse ends after what it has said
        status = end.code if isinstance(end.code, int) else 1
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
