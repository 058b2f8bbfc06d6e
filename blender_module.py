# SPDX-License-Identifier: GPL-3.0-or-later
"""Heft's command in a Python that has Blender as a module: `python -m heft.blender_module batch JOBS.toml`.

The same words as after `blender --command heft`. What pip installed uses it for what only Blender can do.
"""

import os
import sys
from collections.abc import Sequence

import heft
from heft.blender_addon import commands
from heft.registration import make_demo


def main(arguments: Sequence[str]) -> int:
    """Enable the extension, do what is asked, and disable it; the exit status."""
    heft.register()
    try:
        return commands.run(arguments, make_demo)
    finally:
        heft.unregister()


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # without the bpy module's own clean-up: 4.5's can wait for ever on one of its threads
    os._exit(status)
