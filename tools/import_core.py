# SPDX-License-Identifier: GPL-3.0-or-later
"""Import every module of core in a Python where bpy and mathutils do not exist: `python -m tools.import_core`."""

import importlib
import pkgutil
import sys


def main() -> None:
    """Import them all; what is wrong is raised."""
    for name in ("bpy", "mathutils"):
        sys.modules[name] = None  # type: ignore[assignment]
    core = importlib.import_module("heft.core")
    for module in pkgutil.walk_packages(core.__path__, "heft.core."):
        importlib.import_module(module.name)


if __name__ == "__main__":
    main()
