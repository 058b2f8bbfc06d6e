# SPDX-License-Identifier: GPL-3.0-or-later
"""The three-link balance model of da Silva 2010, section 3.2.3 and figure 3-5: nine velocities, 18 numbers of state.

A base link (the stance leg) stands on the ground by a ball joint; an upper body and a swing leg are joined to its top
by one ball each. "The inertial properties of each simple link are created by summing the inertial properties of
corresponding links": here those of muico29 in its neutral pose. The stance foot stays on the ground and is left out;
both hips are the one point at the top of the base.
"""

import numpy as np
from numpy.typing import NDArray

from ..character import Character
from ..mass import Mass, combine
from ..parts import Joint
from . import muico29, person

LEG = ("thigh", "shank")


def make() -> Character:
    """The balance model: 3 bodies, 3 balls."""
    full = muico29.make()
    places = neutral_places(full)
    stance = [f"left_{part}" for part in LEG]
    swing = [f"right_{part}" for part in (*LEG, "foot")]
    upper = [body.name for body in full.bodies if body.name not in {*stance, *swing, "left_foot"}]
    height = places["left_thigh"] - places["left_foot"]
    return Character(
        "balance3",
        (
            person.body("base", None, Joint("ankle", "ball"), _sum(full, places, stance, "left_foot"), (0.0, 0.0, 0.0)),
            person.body("upper", "base", Joint("trunk", "ball"), _sum(full, places, upper, "pelvis"), height),
            person.body("swing", "base", Joint("hip", "ball"), _sum(full, places, swing, "right_thigh"), height),
        ),
    )


def neutral_places(character: Character) -> dict[str, NDArray[np.float64]]:
    """Where each body's origin stands in the neutral pose, all frames being parallel."""
    places: dict[str, NDArray[np.float64]] = {}
    for body in character.bodies:
        above = np.zeros(3) if body.parent is None else places[body.parent]
        places[body.name] = above + body.position
    return places


def _sum(character: Character, places: dict[str, NDArray[np.float64]], names: list[str], origin: str) -> Mass:
    """The named bodies as one, seen from another body's origin."""
    return combine(
        [
            Mass(body.mass, np.array(body.center_of_mass), np.array(body.inertia)).moved(
                places[body.name] - places[origin]
            )
            for body in character.bodies
            if body.name in names
        ]
    )
