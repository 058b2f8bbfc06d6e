# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in characters, by name. Each module says where its figures come from."""

from ..character import Character
from . import jain42, muico29

MAKERS = {
    "muico29": muico29.make,
    "jain42": jain42.make,
}
NAMES = tuple(MAKERS)


def make(name: str) -> Character:
    """The preset of that name."""
    if name not in MAKERS:
        raise ValueError(f"There is no preset '{name}': choose from {', '.join(NAMES)}.")
    return MAKERS[name]()
