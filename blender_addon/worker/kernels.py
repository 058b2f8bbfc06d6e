# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the extension's own: compiled kernels, and the cache of references and gains.

Kernels are kept by what they compile to; core/maths/kernel_cache.py says how. It must not be imported here: that would
import core, and numba looks where to keep a kernel when the kernel is defined.
"""

import hashlib
import os
import shutil
from functools import cache
from pathlib import Path

import bpy

ROOT = Path(__file__).parents[2]
EXTENSION = __package__.removesuffix(".blender_addon.worker")


def user_folder(name: str) -> Path | None:
    """A folder of that name for the extension's own files, made if need be; None where it cannot be written.

    A checkout that was imported as a package of its own has no place among extensions: None as well.
    """
    if not is_extension():
        return None
    folder = Path(bpy.utils.extension_path_user(EXTENSION)) / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return None
    return folder


def is_extension() -> bool:
    """Whether Blender has installed this, rather than Python imported a checkout."""
    return EXTENSION.startswith("bl_ext.")


def kernel_folder() -> Path | None:
    """The folder of kernels, a temporary one where the user's cannot be written; None: numba's own choice.

    Each version of core has one: numba cannot read what was kept by a version whose classes stood in other modules.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if not is_extension():
        return None
    kept = user_folder("kernels")
    return Path(bpy.app.tempdir) / "heft-kernels" if kept is None else kept / digest_of_core()


def forget_other_kernels() -> None:
    """Delete the kernels of versions that are not installed any more."""
    current = kernel_folder()
    if current is None or not is_extension() or "NUMBA_CACHE_DIR" in os.environ:
        return
    for other in current.parent.glob("*/"):
        if other != current:
            shutil.rmtree(other, ignore_errors=True)


@cache
def digest_of_core() -> str:
    """A name for the content of core."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "core").rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """The folder of references and gains, a temporary one where the user's cannot be written."""
    return user_folder("cache") or Path(bpy.app.tempdir) / "heft-cache"


def keep_kernels_outside() -> None:
    """Have numba, in this process, keep what it compiles in that folder instead of beside the extension's source.

    This comes before any other module of the extension.
    """
    import numba

    folder = kernel_folder()
    if folder is not None and not numba.config.CACHE_DIR:
        numba.config.CACHE_DIR = str(folder)


def mark_of_ready() -> Path | None:
    """A file that is there once all kernels of this version have been compiled."""
    folder = kernel_folder()
    return None if folder is None else folder / f"ready-{digest_of_core()}"
