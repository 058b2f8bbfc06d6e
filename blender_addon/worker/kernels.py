# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the extension's own: compiled kernels, and the cache of references and gains.

Kernels are kept by what they compile to; core/maths/kernel_cache.py says how. It must not be imported here: that would
import core, and numba looks where to keep a kernel when the kernel is defined.
"""

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

import bpy

ROOT = Path(__file__).parents[2]
EXTENSION = __package__.removesuffix(".blender_addon.worker")
READY = "ready"  # a file that names the version whose kernels are all there


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
    """The folder of kernels, a temporary one where the user's cannot be written; None: numba's own choice."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    return (user_folder("kernels") or Path(bpy.app.tempdir) / "heft-kernels") if is_extension() else None


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


def are_ready() -> bool:
    """Whether all kernels of this version were compiled once; a checkout's are taken to be."""
    folder = kernel_folder()
    if folder is None:
        return True
    try:
        return (folder / READY).read_text(encoding="utf-8") == digest_of_core()
    except OSError:
        return False


def note_ready() -> None:
    """Remember it, where the folder can be written."""
    folder = kernel_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / READY).write_text(digest_of_core(), encoding="utf-8")
