# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made once and kept in the cache."""

from collections.abc import Callable
from typing import TypeVar

from .. import archive
from ..cache import Cache

T = TypeVar("T")
VERSION = 1  # of what is kept in the cache


def keep(cache: Cache, key: str, kind: type[T], make: Callable[[], T]) -> T:
    """What the cache has under the key, or else what is made and kept there."""
    name = f"heft.cache.{kind.__name__}"
    found = cache.get(key, lambda path: archive.load(kind, path, name, VERSION, "of this cache"))
    if found is None:
        found = make()
        cache.put(key, found, lambda value, path: archive.save(value, kind, path, name, VERSION))
    return found
