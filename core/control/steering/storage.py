# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made for a steered walk, kept piece by piece: who stops it half-way goes on from there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ... import archive
from ...cache import Cache
from ...motion.reference import Reference
from .library import Library
from .repertoire import Cost
from .settings import Settings
from .trials import Tour

LIBRARY, TOURS, COSTS, VERSION = "heft.steering.library", "heft.steering.tours", "heft.steering.costs", 3


class Origin(NamedTuple):
    """Everything that motions and trials depend on."""

    reference: Reference
    slow: float
    fast: float
    sharpest: float


@dataclass(frozen=True, eq=False)
class Tours:
    """What is in a file."""

    tours: tuple[Tour, ...]


@dataclass(frozen=True, eq=False)
class Costs:
    """What is in a file."""

    costs: tuple[Cost, ...]  # of the actions' first states


def key_of(reference: Reference, settings: Settings) -> str:
    """A digest of it."""
    origin = Origin(reference, settings.slow, settings.fast, settings.sharpest)
    return archive.digest(origin, Origin, f"heft.steering {VERSION}")


def kept_library(cache: Cache, key: str, make: Callable[[], Library]) -> Library:
    """What the cache has, or else what is made and kept there."""
    name = f"{key}-motions"
    found = cache.get(name, lambda path: archive.load(Library, path, LIBRARY, VERSION, "of this cache"))
    if found is None:
        found = make()
        cache.put(name, found, lambda value, path: archive.save(value, Library, path, LIBRARY, VERSION))
    return found


def kept_tours(cache: Cache, key: str) -> tuple[Tour, ...]:
    """As many as there are."""
    name = f"{key}-tours"
    found = cache.get(name, lambda path: archive.load(Tours, path, TOURS, VERSION, "of this cache"))
    return () if found is None else found.tours


def keep_tours(cache: Cache, key: str, tours: tuple[Tour, ...]) -> None:
    """All that there are now."""
    cache.put(f"{key}-tours", Tours(tours), lambda value, path: archive.save(value, Tours, path, TOURS, VERSION))


def kept_costs(cache: Cache, key: str) -> tuple[Cost, ...]:
    """What the actions' first states cost, where that is known."""
    name = f"{key}-costs"
    found = cache.get(name, lambda path: archive.load(Costs, path, COSTS, VERSION, "of this cache"))
    return () if found is None else found.costs


def keep_costs(cache: Cache, key: str, costs: tuple[Cost, ...]) -> None:
    """All of them."""
    cache.put(f"{key}-costs", Costs(costs), lambda value, path: archive.save(value, Costs, path, COSTS, VERSION))
