# SPDX-License-Identifier: GPL-3.0-or-later
"""The built-in characters, by name. Each module says where its figures come from."""

from ..character import Character
from . import balance3, diver7, gait28, gymnast2, jain42, muico29, simbicon2d

MAKERS = {
    "muico29": muico29.make,
    "jain42": jain42.make,
    "gait28": gait28.make,
    "simbicon2d": simbicon2d.make,
    "diver7": diver7.make,
    "gymnast2": gymnast2.make,
    "balance3": balance3.make,
}
NAMES = tuple(MAKERS)


def make(name: str) -> Character:
    """The preset of that name."""
    if name not in MAKERS:
        raise ValueError(f"There is no preset '{name}'; choose from {', '.join(NAMES)}.")
    return MAKERS[name]()
