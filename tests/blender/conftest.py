# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender by itself, as its users have it: its own packages, a user folder of its own, and nothing of this checkout."""

import importlib.metadata
import os
import platform
import re
import subprocess
import sys

import pytest

pytest.importorskip("bpy", reason="bpy is not in this environment")

from tools import bare, build, environment

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
LINE = next(line for line, python in environment.PYTHON_OF_BLENDER.items() if sys.version.startswith(python))


def this_platform():
    """The entry of the build's table that this machine is, or None."""
    for candidate in build.PLATFORMS:
        markers = candidate.markers
        if markers["sys_platform"] == sys.platform and markers["platform_machine"] == platform.machine():
            return candidate
    return None


def needed_by(distribution, found=None):
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


@pytest.fixture(scope="session")
def blender_packages(tmp_path_factory):
    """A folder with links to what Blender's Python has: bpy and its requirements, none of Heft's."""
    folder = tmp_path_factory.mktemp("blender-packages")
    for metadata in needed_by("bpy").values():
        for top in {file.parts[0] for file in metadata.files if file.parts[0] != ".."}:
            if top != "__pycache__":
                (folder / top).symlink_to(metadata.locate_file(top))
    return folder


@pytest.fixture(scope="session")
def extension_zip():
    """The zip for this platform and Blender line, built now."""
    here = this_platform()
    if here is None:
        pytest.skip(f"no zip is built for {platform.system()} {platform.machine()}")
    return build.build(here, LINE, bare.version_of_manifest())


@pytest.fixture
def run_in_blender(blender_packages, tmp_path):
    """A function that runs a script in a new Blender and returns what it printed; it fails on any warning.

    Whatever is named is put into the process's environment.
    """

    def run(script, *arguments, **named):
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BLENDER", "NUMBA"))
        }
        variables |= {"PYTHONPATH": str(blender_packages), "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
        variables |= named
        path = tmp_path / "script.py"
        path.write_text(script, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-S", "-c", DRIVER, str(path), *map(str, arguments)],
            capture_output=True,
            text=True,
            env=variables,
            timeout=600,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == 0, printed
        assert not re.search(r"(?i)warning|error|traceback", printed), printed
        return done.stdout

    return run
