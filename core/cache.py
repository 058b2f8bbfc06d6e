# SPDX-License-Identifier: GPL-3.0-or-later
"""References and policies kept in a folder, under the keys of all that they depend on, this code included.

A file that is not there, damaged, or cannot be read counts as none; one that cannot be written is done without. What
went wrong is told in `notes`, and never ends a run.
"""

import hashlib
import platform
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np

T = TypeVar("T")

SUFFIX = ".heftcache"


class Cache:
    """A folder, made when it is needed, or nothing at all."""

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.notes: list[str] = []

    def get(self, key: str, load: Callable[[Path], T]) -> T | None:
        """What was kept under the key."""
        if self.folder is None:
            return None
        path = self._path(self.folder, key)
        try:
            return load(path) if path.is_file() else None
        except ValueError:
            return None  # a damaged file is replaced
        except OSError as error:
            self._note(f"The cache could not be read: {error.strerror or error}.")
            return None

    def put(self, key: str, save: Callable[[Path], None]) -> None:
        """Keep something under the key; `save` writes it whole or not at all."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            save(self._path(self.folder, key))
        except OSError as error:
            self._note(f"The cache could not be written: {error.strerror or error}.")

    def _path(self, folder: Path, key: str) -> Path:
        return folder / f"{key}-{code_version()[:16]}{SUFFIX}"

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@lru_cache(maxsize=1)
def code_version() -> str:
    """A digest of the core's own source, and of what runs it: whatever changes, nothing made before is used again."""
    root = Path(__file__).resolve().parents[0]
    digest = hashlib.sha256(f"{sys.version} {platform.machine()} {np.__version__}\0".encode())
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).parts):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def size(folder: str | Path) -> int:
    """Bytes of what is kept."""
    return sum(path.stat().st_size for path in Path(folder).glob(f"*{SUFFIX}"))


def clear(folder: str | Path) -> None:
    """Forget everything."""
    for path in Path(folder).glob(f"*{SUFFIX}"):
        path.unlink(missing_ok=True)
