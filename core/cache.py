# SPDX-License-Identifier: GPL-3.0-or-later
"""References and policies kept in a folder, under the keys of all that they depend on, this code included.

A file that is not there, damaged, or cannot be read counts as none; one that cannot be written is done without. What
went wrong is told in `notes`, and never ends a run.
"""

import hashlib
import platform
import queue
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .maths.structure import Structure

T = TypeVar("T")

SUFFIX = ".heftcache"
MOST, LARGEST = 8, 200_000_000  # values that are kept in memory, and their bytes
LATER = 0.5  # s after which what was made is written: whoever made it has something better to do


class Memory:
    """The last few values of a process that runs job after job; their files are written while it waits for the next.

    A value is what its file says, bit for bit, so it does not matter where it comes from.
    """

    def __init__(self) -> None:
        self._values: OrderedDict[Path, Any] = OrderedDict()
        self._bytes: dict[Path, int] = {}
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self.trouble: list[str] = []  # with files that could not be written

    def get(self, path: Path) -> Any:
        """The value of that file, None where it is not known."""
        if path in self._values:
            self._values.move_to_end(path)
        return self._values.get(path)

    def keep(self, path: Path, value: Any) -> None:
        """Remember a value, and forget the oldest."""
        self._values[path], self._bytes[path] = value, array_bytes(value)
        self._values.move_to_end(path)
        while len(self._values) > MOST or sum(self._bytes.values()) > LARGEST:
            del self._bytes[self._values.popitem(last=False)[0]]

    def write(self, save: Callable[[], None]) -> None:
        """Write a file by and by, in a thread that ends with the process."""
        self._waiting.put(save)
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="Heft's cache", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        while True:
            save = self._waiting.get()
            time.sleep(LATER)
            try:
                save()
            except OSError as error:
                self.trouble.append(f"The cache could not be written: {error.strerror or error}.")


class Cache:
    """A folder, made when it is needed, or nothing at all; with the memory of a process that goes on, if there is one.

    Nobody changes what it gives. `later` has files written once the process has nothing better to do: what was made
    last is lost where it ends before that.
    """

    def __init__(
        self, folder: "str | Path | Cache | None", memory: Memory | None = None, *, later: bool = False
    ) -> None:
        self.folder: Path | None
        self.memory: Memory | None
        self.later: bool
        if isinstance(folder, Cache):
            self.folder, self.memory, self.later = folder.folder, folder.memory, folder.later
        else:
            self.folder, self.memory = None if folder is None else Path(folder), memory
            self.later = later and memory is not None
        self.notes: list[str] = [] if self.memory is None else self.memory.trouble[-1:]

    def get(self, key: str, load: Callable[[Path], T]) -> T | None:
        """What was kept under the key."""
        if self.folder is None:
            return None
        path = self._path(self.folder, key)
        found: T | None = None if self.memory is None else self.memory.get(path)
        if found is not None:
            return found
        try:
            found = load(path) if path.is_file() else None
        except ValueError:
            return None  # a damaged file is replaced
        except OSError as error:
            self._note(f"The cache could not be read: {error.strerror or error}.")
            return None
        if found is not None and self.memory is not None:
            self.memory.keep(path, found)
        return found

    def put(self, key: str, value: T, save: Callable[[T, Path], None]) -> None:
        """Keep a value under the key; `save` writes it whole or not at all."""
        if self.folder is None:
            return
        path = self._path(self.folder, key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self.later:
                save(value, path)
        except OSError as error:
            self._note(f"The cache could not be written: {error.strerror or error}.")
        if self.memory is not None:
            self.memory.keep(path, value)
            if self.later:
                self.memory.write(lambda: save(value, path))

    def shelf(self, key: str) -> dict[str, Any]:
        """What this process remembers under the key, to be added to; it is in no file."""
        if self.folder is None or self.memory is None:
            return {}
        path = self._path(self.folder, key)
        found: dict[str, Any] | None = self.memory.get(path)
        if found is None:
            found = {}
            self.memory.keep(path, found)
        return found

    def _path(self, folder: Path, key: str) -> Path:
        return folder / f"{key}-{code_version()[:16]}{SUFFIX}"

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def array_bytes(value: Any) -> int:
    """The size of all arrays in a value, about."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Structure):
        return sum(array_bytes(getattr(value, name)) for name in value._fields)
    if is_dataclass(value):
        return sum(array_bytes(getattr(value, one.name)) for one in fields(value))
    return sum(map(array_bytes, value)) if isinstance(value, tuple) else 0


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
