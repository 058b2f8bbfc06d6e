# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of the extension's own: compiled kernels, shipped or made here, and the cache of references and gains.

Kernels are kept by what they compile to; core/maths/kernel_cache.py says how. It must not be imported here: that would
import core, and numba looks where to keep a kernel when the kernel is defined.
"""

import contextlib
import os
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import bpy

from . import shipped

ROOT = Path(__file__).parents[2]
EXTENSION = __package__.removesuffix(".blender_addon.worker")


@cache
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


@cache
def kernel_folder() -> Path | None:
    """The folder of kernels, a temporary one where the user's cannot be written; None: numba's own choice.

    Kernels that came with the extension are put there when it is first asked for.
    """
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if not is_extension():
        return None
    return shipped.install(ROOT / "kernels", user_folder("kernels") or Path(bpy.app.tempdir) / "heft-kernels")


@cache
def digest_of_core() -> str:
    """A name for the content of core."""
    return shipped.digest_of_core(ROOT)


def cache_folder() -> Path:
    """The folder of references and gains, a temporary one where the user's cannot be written."""
    return user_folder("cache") or Path(bpy.app.tempdir) / "heft-cache"


def keep_kernels_outside() -> None:
    """Have numba, in this process, keep what it compiles in that folder instead of beside the extension's source.

    This comes before any other module of the extension; core/rounding.py, which says for which processors numba is to
    compile, stands alone.
    """
    runpy.run_path(str(ROOT / "core" / "rounding.py"))
    import numba

    folder = kernel_folder()
    settings: Any = numba.config
    if folder is not None and not settings.CACHE_DIR:
        settings.CACHE_DIR = str(folder)


def are_ready(method: str) -> bool:
    """Whether all kernels of a method are there; a checkout's are taken to be."""
    folder = kernel_folder()
    return folder is None or method in shipped.ready(folder, digest_of_core())


def note_ready(method: str) -> None:
    """Remember it, where the folder can be written."""
    folder = kernel_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            shipped.note_ready(folder, digest_of_core(), method)
