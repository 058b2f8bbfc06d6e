# SPDX-License-Identifier: GPL-3.0-or-later
"""Where compiled kernels are kept: in the extension's user folder, each by what it compiles to.

core/maths/kernel_cache.py says how. It must not be imported here: that would import core, and numba looks where to keep
a kernel when the kernel is defined.
"""

import os
from pathlib import Path

import bpy

from .worker import LOCATOR, PACKAGE


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


def kernel_folder() -> Path | None:
    """The folder of kernels; None: numba's own choice."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if not PACKAGE.startswith("bl_ext."):
        return None
    return user_folder("kernels") or Path(bpy.app.tempdir) / "heft-kernels"


def keep_kernels_outside() -> None:
    """Have numba, in this process, keep what it compiles in that folder instead of beside the extension's source.

    This comes before any other module of the extension.
    """
    import numba

    folder = kernel_folder()
    if folder is not None and not numba.config.CACHE_DIR:
        numba.config.CACHE_DIR = str(folder)
        numba.config.CACHE_LOCATOR_CLASSES = LOCATOR
