# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion on supports that were found: whether they carry it."""

import contextlib
from collections.abc import Mapping
from typing import Any

from ...character import Character
from ...contact.terrain import Terrain
from ...motion.fit import Trajectory
from ...motion.make_reference import MadeReference, make_reference
from ...motion.spacetime import NoReferenceError
from ...motion.spacetime.help import helping, shares, weight_of
from .lacking import Surroundings

NO_HELP = 0.002  # of the weight
SAVES = 0.25  # of the help that a motion takes without supports: those that leave more are not worth having
SETTLED, SUNK, SLIPS = 1e-3, 30.0, 3.0  # rad or m, mm and mm, of a reference that may be used as it is


def supported(
    character: Character,
    trajectory: Trajectory,
    terrain: Terrain | None,
    wanted: Mapping[str, Any],
    around: Surroundings,
) -> tuple[MadeReference, Surroundings]:
    """The motion on what was put there; where that does not carry all of it, with help too, or without those things.

    They are worth having if they save much of the help that it takes without. With them it need not be as near as with
    help, which holds anything anywhere.
    """
    with contextlib.suppress(NoReferenceError):
        alone = make_reference(character, trajectory, **{**wanted, "help_given": "none"})
        if _is_carried(alone):
            return alone, around
    found = make_reference(character, trajectory, **wanted, help_first=True)
    bare = around.bare(terrain)
    without = make_reference(character, trajectory, **{**wanted, "terrain": bare.terrain, "grabs": bare.grabs})
    if _is_sound(found) and _mean_help(found) < SAVES * _mean_help(without):
        return found, around
    return without, bare


def _is_carried(made: MadeReference) -> bool:
    """Whether a motion can do with what carries it."""
    return _is_sound(made) and _mean_help(made) < NO_HELP


def _is_sound(made: MadeReference) -> bool:
    """Whether the optimiser came to an end, and what is in the ground is next to nothing."""
    quality = made.reference.quality
    return quality.last_step < SETTLED and quality.penetration_millimetres < SUNK and quality.slip_millimetres < SLIPS


def _mean_help(made: MadeReference) -> float:
    """Over all of a motion, as a share of the weight."""
    reference = made.reference
    helps = helping(reference.schedule.points)
    return float(shares(reference.force[:, helps], weight_of(reference.character)).mean())
