# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion that was made for level ground, on the scene's."""

import contextlib
from collections.abc import Mapping
from typing import Any

from ...character import Character
from ...contact.terrain import Terrain
from ...control.methods import method_named
from ...motion.fit import Trajectory
from ...motion.make_reference import MadeReference, OtherGround, make_reference
from ...motion.spacetime.help import helping
from ..job import BakeJob

LONGEST_PUT = 60.0  # s of a motion that are put on other ground


def is_other_ground(job: BakeJob, terrain: Terrain | None) -> bool:
    """Whether a motion for level ground is to be put on the scene's, if that is another.

    Not onto what moves, nor where hands hold on to something that does not come along, nor for a method that places
    feet itself, or goes where it is led.
    """
    needs = method_named(job.method).needs
    return (
        terrain is None
        and job.optimise
        and not needs.places_feet
        and not needs.led
        and job.ground == "auto"
        and len(job.scene.surfaces) > 0
        and len(job.scene.grabs) == 0
        and job.duration <= LONGEST_PUT
        and not any(surface.motion.moves for surface in job.scene.surfaces)
    )


def put_onto(
    onto: OtherGround, character: Character, trajectory: Trajectory, wanted: Mapping[str, Any]
) -> tuple[MadeReference, str]:
    """The motion on the scene's ground; or that on level ground, and why.

    With help only where it takes some on level ground too, for help for the sake of a wall in its way would put it on
    top; or along a path, which somebody has drawn over that ground.
    """
    try:
        return make_reference(character, trajectory, onto=onto, **{**wanted, "help_given": "none"}), ""
    except ValueError as error:
        why = str(error)
    if wanted.get("path") is not None:
        with contextlib.suppress(ValueError):
            return make_reference(character, trajectory, onto=onto, **wanted), ""
    level = make_reference(character, trajectory, **wanted)
    if helping(level.reference.schedule.points).any():
        with contextlib.suppress(ValueError):
            return make_reference(character, trajectory, onto=onto, **wanted), ""
    return level, why
