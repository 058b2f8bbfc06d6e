# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender by itself, as its users have it: its own packages, a user folder of its own, and nothing of this checkout."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

from tools import build

# Ends the process without the bpy module's own clean-up: 4.5's can wait for ever on one of its threads.
DRIVER = """
import os, runpy, sys, traceback
status = 0
try:
    del sys.argv[0]
    runpy.run_path(sys.argv[0])
except BaseException:
    traceback.print_exc()
    status = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
"""


def needed_by(distribution: str, found: dict | None = None) -> dict:
    """A distribution and all it requires here, by name."""
    found = {} if found is None else found
    if distribution.lower() not in found:
        metadata = importlib.metadata.distribution(distribution)
        found[distribution.lower()] = metadata
        for text in metadata.requires or []:
            requirement = build.Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed_by(requirement.name, found)
    return found


def link_packages(folder: Path) -> Path:
    """Fill a folder with links to what Blender's Python has: bpy and its requirements, none of Heft's."""
    for metadata in needed_by("bpy").values():
        for top in {file.parts[0] for file in metadata.files if file.parts[0] != ".."}:
            if top != "__pycache__":
                (folder / top).symlink_to(metadata.locate_file(top))
    return folder


def run(script: Path, packages: Path, user: Path, *arguments: object, **named: str) -> subprocess.CompletedProcess:
    """Run a script in a new Blender with those packages and that user folder.

    Whatever is named is put into the process's environment.
    """
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BLENDER", "NUMBA"))
    }
    variables |= {"PYTHONPATH": str(packages), "BLENDER_USER_RESOURCES": str(user)}
    return subprocess.run(
        [sys.executable, "-S", "-c", DRIVER, str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=variables | named,
        timeout=600,
        check=False,
    )
