# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender by itself, as its users have it: its own packages, a user folder of its own, and nothing of this checkout."""

import platform
import re
import sys

import pytest

pytest.importorskip("bpy", reason="bpy is not in this environment")

from tests.blender import alone
from tools import bare, build, environment

LINE = next(line for line, python in environment.PYTHON_OF_BLENDER.items() if sys.version.startswith(python))


def this_platform():
    """The entry of the build's table that this machine is, or None."""
    for candidate in build.PLATFORMS:
        markers = candidate.markers
        if markers["sys_platform"] == sys.platform and markers["platform_machine"] == platform.machine():
            return candidate
    return None


@pytest.fixture(scope="session")
def blender_packages(tmp_path_factory):
    """A folder with links to what Blender's Python has: bpy and its requirements, none of Heft's."""
    return alone.link_packages(tmp_path_factory.mktemp("blender-packages"))


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
        path = tmp_path / "script.py"
        path.write_text(script, encoding="utf-8")
        done = alone.run(path, blender_packages, tmp_path / "user", *arguments, **named)
        printed = done.stdout + done.stderr
        assert done.returncode == 0, printed
        assert not re.search(r"(?i)warning|error|traceback", printed), printed
        return done.stdout

    return run
