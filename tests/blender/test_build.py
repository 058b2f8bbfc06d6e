# SPDX-License-Identifier: GPL-3.0-or-later
"""What is inside the zips, and for whom."""

import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tools import bare, build

BARE = "import sys; sys.path.insert(0, sys.argv[1]); import run; run.environment.ensure = None; run.main(sys.argv[2:])"
ZIPS = [(platform, line) for platform in build.PLATFORMS for line in platform.lines]


@pytest.mark.parametrize(("platform", "line"), ZIPS, ids=[f"{platform.name}-{line}" for platform, line in ZIPS])
def test_every_zip_gets_each_locked_package_once(platform, line):
    lock = build.WHEEL_LOCK.read_text(encoding="utf-8")
    names = [entry.split("==")[0] for entry in build.locked_for(platform, line, lock)]
    assert sorted(names) == ["jinja2", "llvmlite", "markupsafe", "numba", "osqp", "scipy"]


def test_markers_choose_the_version_that_has_wheels():
    lock = build.WHEEL_LOCK.read_text(encoding="utf-8")
    by_name = {platform.name: platform for platform in build.PLATFORMS}
    intel = dict(entry.split(" ")[0].split("==") for entry in build.locked_for(by_name["macos-x64"], "4.5", lock))
    linux = dict(entry.split(" ")[0].split("==") for entry in build.locked_for(by_name["linux-x64"], "5.2", lock))
    assert intel["numba"].startswith("0.62.")
    assert linux["numba"] != intel["numba"]
    assert linux["scipy"] != intel["scipy"]


@pytest.mark.parametrize("lock", ["develop.txt", "wheels.txt"])
def test_locks_name_packages_versions_and_hashes_and_no_host(lock):
    text = (build.ROOT / "locks" / lock).read_text(encoding="utf-8")
    assert "//" not in text
    for entry in text.replace("\\\n", " ").splitlines():
        assert re.fullmatch(r"[a-z0-9-]+==[\w.+]+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+", entry.strip()), entry


def test_zip_holds_the_extension_and_nothing_else(extension_zip):
    with zipfile.ZipFile(extension_zip) as archive:
        names = archive.namelist()
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    tops = {name.split("/")[0] for name in names}
    assert tops <= {*bare.CONTENTS, "blender_manifest.toml", "wheels", "kernels"}
    assert {name for name in names if name.startswith("kernels/")} >= {"kernels/kernels.zip", "kernels/kernels.json"}
    assert {"__init__.py", "registration.py", "core", "LICENSE"} <= tops
    assert not [name for name in names if "__pycache__" in name or "numpy" in name]
    assert sorted(manifest["wheels"]) == sorted(f"./{name}" for name in names if name.endswith(".whl"))
    assert len(manifest["platforms"]) == 1


def test_bare_zip_has_no_wheels(tmp_path):
    """And is made by a Python that has nothing, without an environment."""
    alone = [sys.executable, "-I", "-S", "-c", BARE, str(bare.ROOT), "build", "--bare"]
    subprocess.run(alone, check=True, cwd=tmp_path, capture_output=True)
    with zipfile.ZipFile(bare.ROOT / "dist" / f"heft-{bare.version_of_manifest()}-bare.zip") as archive:
        names = archive.namelist()
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert {name.split("/")[0] for name in names} == {*bare.CONTENTS, "blender_manifest.toml"}
    assert "wheels" not in manifest
    assert "platforms" not in manifest
