# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion on supports that were found: whether they carry it."""

from collections.abc import Mapping
from typing import Any

from ...character import Character
from ...contact.terrain import Terrain
from ...motion.fit import Trajectory
from ...motion.make_reference import MadeReference, make_reference
from ...motion.spacetime.help import helping, shares, weight_of
from ...motion.spacetime.measure import mean_distance
from .lacking import Surroundings

NO_HELP = 0.002  # of the weight
SAVES = 0.25  # of the help that a motion takes without supports: those that leave more are not worth having
RESTS_WITHIN = 0.04  # m of mean distance from the clip, from which on help is asked for besides
WORTH_RESTING = 0.045  # m, up to which it may be from the clip for resting on them
BORNE = 0.3  # of the weight, that is at least on what a body rests on
SETTLED, SUNK, SLIPS = 5e-3, 30.0, 3.0  # rad or m, mm and mm, of a reference that may be used as it is


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
    found = make_reference(character, trajectory, **wanted, far=RESTS_WITHIN)
    near = mean_distance(character, found.source, found.reference.q) < WORTH_RESTING
    if near and _is_sound(found) and _mean_help(found) < max(NO_HELP, SAVES * BORNE * _share_of_rest(found)):
        return found, around
    bare = around.bare(terrain)
    without = make_reference(character, trajectory, **{**wanted, "terrain": bare.terrain, "grabs": bare.grabs})
    if near and _is_sound(found) and _mean_help(found) < SAVES * _mean_help(without):
        return found, around
    return without, bare


def _share_of_rest(made: MadeReference) -> float:
    """Of the frames, in which it rests on something or holds on."""
    schedule = made.labelled
    resting = [i for i, point in enumerate(schedule.points) if point.rests or point.grab]
    return float(schedule.active[:, resting].any(axis=1).mean())


def _is_sound(made: MadeReference) -> bool:
    """Whether the optimiser came to an end, and what is in the ground is next to nothing."""
    quality = made.reference.quality
    return quality.last_step < SETTLED and quality.penetration_millimetres < SUNK and quality.slip_millimetres < SLIPS


def _mean_help(made: MadeReference) -> float:
    """Over all of a motion, as a share of the weight."""
    reference = made.reference
    helps = helping(reference.schedule.points)
    return float(shares(reference.force[:, helps], weight_of(reference.character)).mean())
