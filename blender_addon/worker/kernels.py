# SPDX-License-Identifier: GPL-3.0-or-later
"""Where compiled kernels are kept: in the extension's user folder, by the content of core.

numba looks only at the file of the outermost function; a folder for each content never gives it a stale callee.
"""

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

import bpy

from .worker import PACKAGE, ROOT


def user_folder(name: str) -> Path | None:
    """A folder of that name for the extension's own files, made if need be; None where it cannot be written.

    A checkout that was imported as a package of its own has no place among extensions: None as well.
    """
    if not PACKAGE.startswith("bl_ext."):
        return None
    folder = Path(bpy.utils.extension_path_user(PACKAGE)) / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return None
    return folder


@cache
def digest_of_core() -> str:
    """A name for the content of core."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "core").rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def kernel_folder() -> Path | None:
    """The folder of this version's kernels; those of other versions go. None: numba's own choice."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    kept = user_folder("kernels")
    if kept is None:
        if not PACKAGE.startswith("bl_ext."):
            return None
        return Path(bpy.app.tempdir) / "heft-kernels"
    current = kept / digest_of_core()
    for old in kept.iterdir():
        if old != current:
            shutil.rmtree(old, ignore_errors=True)
    current.mkdir(exist_ok=True)
    return current


def keep_kernels_outside() -> None:
    """Have numba, in this process, keep what it compiles in that folder instead of beside the extension's source.

    numba looks when a kernel is defined, so this comes before any other module of the extension.
    """
    import numba

    folder = kernel_folder()
    if folder is not None and not numba.config.CACHE_DIR:
        numba.config.CACHE_DIR = str(folder)
