# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that make up the extension, and the zip without wheels, which needs nothing but a Python."""

import shutil
import tomllib
import zipfile
from pathlib import Path

from tools.environment import ROOT, say

# What of the checkout goes into a zip.
CONTENTS = (
    "__init__.py",
    "registration.py",
    "LICENSE",
    "core",
    "blender_addon",
    "operators",
    "panels",
    "presets",
    "examples",
)
MANIFEST = "blender_manifest.toml"
ALIKE = (1980, 1, 1, 0, 0, 0)  # the time of every file, so that the same files make the same zip


def stage(folder: Path, manifest: str) -> None:
    """Copy what the zip shall contain, with this manifest."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in CONTENTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        elif source.exists():
            shutil.copy2(source, folder / name)
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")


def version_of_manifest() -> str:
    """The version that every zip's name carries."""
    return str(tomllib.loads((ROOT / MANIFEST).read_text(encoding="utf-8"))["version"])


def build_bare() -> Path:
    """The zip for a Blender whose own Python has numba, scipy and osqp."""
    folder = ROOT / "build" / "bare"
    stage(folder, (ROOT / MANIFEST).read_text(encoding="utf-8"))
    output = ROOT / "dist" / f"heft-{version_of_manifest()}-bare.zip"
    output.parent.mkdir(exist_ok=True)
    unfinished = output.with_name("unfinished-" + output.name)
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), ALIKE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    unfinished.replace(output)
    say(f"dist/{output.name}  {output.stat().st_size / 1e6:.1f} MB")
    return output
