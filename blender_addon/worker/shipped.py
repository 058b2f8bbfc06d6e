# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels that come with a zip: what `run.py build` puts there, and how they get into the user's folder.

numba keeps its indices as pickles, so nobody else may write where they are read: they are taken once from the archive
that was installed, after a check of its digest, into a folder of the user's own, whole or not at all.

Standard library only, and nothing of Heft: run.py loads this file by itself, and Blender before anything of core.
"""

import hashlib
import json
import os
import platform
import shutil
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

ARCHIVE = "kernels.zip"
LABEL = "kernels.json"  # beside it: the archive's digest, and for what it is
READY = "ready.json"  # in a folder of kernels: the methods whose kernels are all there, by the digest of core
OWN = "own"  # the folder of those that were compiled here
THIS_PROCESSOR = "this-processor"  # the folder of those that HEFT_PROCESSOR=own asks for, which no zip has


def digest_of_core(root: Path) -> str:
    """A name for the content of core."""
    digest = hashlib.sha256()
    for path in sorted((root / "core").rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def fits() -> dict[str, str]:
    """For what kernels compiled here are."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": version, "system": sys.platform, "machine": platform.machine().lower()}


def pack(kernels: Path, files: Iterable[str], methods: Iterable[str], root: Path, where: Mapping[str, str]) -> None:
    """Put files of a folder of kernels, all that these methods need and for what `fits` said, into `root`."""
    root.mkdir(exist_ok=True)
    archive = root / ARCHIVE
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for name in sorted(files):
            _write(whole, name, (kernels / name).read_bytes())
        _write(whole, READY, json.dumps({digest_of_core(root.parent): sorted(methods)}).encode())
    label = {"sha256": hashlib.sha256(archive.read_bytes()).hexdigest(), **where}
    (root / LABEL).write_text(json.dumps(label, indent=1) + "\n", encoding="utf-8")


def _write(whole: zipfile.ZipFile, name: str, content: bytes) -> None:
    """As the same bytes, whenever."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    whole.writestr(info, content)


def install(root: Path, folder: Path) -> Path:
    """The folder, among those in `folder`, in which kernels are to be kept: with those of the archive, if one fits.

    What is left of other archives goes.
    """
    if os.environ.get("HEFT_PROCESSOR") == "own":
        return folder / THIS_PROCESSOR
    try:
        label = json.loads((root / LABEL).read_text(encoding="utf-8"))
        if {name: label[name] for name in fits()} != fits():
            return folder / OWN
        target = folder / str(label["sha256"])[:16]
        if not target.is_dir():
            _unpack(root / ARCHIVE, label["sha256"], target)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return folder / OWN
    for other in folder.iterdir():
        if other.is_dir() and other not in {target, folder / THIS_PROCESSOR}:
            shutil.rmtree(other, ignore_errors=True)
    return target


def _unpack(archive: Path, digest: str, target: Path) -> None:
    """Whole or not at all."""
    if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
        raise ValueError(f"{archive} is damaged: install Heft again.")
    unfinished = target.with_name(f".{target.name}-{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        with zipfile.ZipFile(archive) as whole:
            whole.extractall(unfinished)
        unfinished.rename(target)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not target.is_dir():  # by another Blender, at the same moment
            raise


def ready(folder: Path, core: str) -> set[str]:
    """The methods whose kernels are all there."""
    try:
        found = json.loads((folder / READY).read_text(encoding="utf-8"))[core]
        return {str(name) for name in found}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def note_ready(folder: Path, core: str, method: str) -> None:
    """Remember one more."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{READY}-{os.getpid()}"
    unfinished.write_text(json.dumps({core: sorted(ready(folder, core) | {method})}), encoding="utf-8")
    unfinished.replace(folder / READY)
