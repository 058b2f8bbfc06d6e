# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles as far under their ankles as each foot stands.

A captured skeleton's ankles lie where markers were, and its legs are seldom as long as their owner's. So one sole may
stand 17 mm under the floor that both were found to stand on, and the other 9 mm over it: then every step is off, and
lifts or lowers the whole body. Each sole is moved by what it is usually off while it stands flat.
"""

from dataclasses import replace

import numpy as np

from ..character import Character, Corner
from .body_plan import BodyPlan
from .clip import Clip
from .feet import FLAT_SPEEDS, greatest_speed
from .floor import BIWEIGHT, FEWEST, Floor, soles_of

LEVEL = 0.03  # m, by which the corners of a sole differ in height that stands flat
SURE = 0.008  # m: the median distance of its heights from their middle, up to which that is believed
LEAST, MOST = 0.005, 0.025  # m, of the sole that is off by more


def with_standing_soles(plan: BodyPlan, clip: Clip, floor: Floor) -> Character:
    """The plan's character with soles that stand on the floor of a clip; its own where too little tells of one."""
    character = plan.character
    corners = [shape for shape in character.contacts if isinstance(shape, Corner)]
    if plan.quadruped or not corners or any(floor.drift) or not floor.samples:
        return character
    places = soles_of(plan, clip)
    speed, level = greatest_speed(places, clip.rate), np.ptp(places[..., 2], axis=2) < LEVEL
    middle = places.mean(axis=2)
    above = middle[..., 2] - floor.height - middle[..., :2] @ np.array(floor.slope)
    lower = {}
    for sole in range(places.shape[1]):
        near = level[:, sole] & (np.abs(above[:, sole]) < BIWEIGHT)
        slow = (near & (speed[:, sole] < limit) for limit in FLAT_SPEEDS)
        found = next((above[when, sole] for when in slow if np.count_nonzero(when) >= FEWEST), None)
        if found is None:
            return character
        usual = float(np.median(found))
        if np.median(np.abs(found - usual)) > SURE or abs(usual) > MOST:
            return character
        lower[corners[4 * sole].body] = usual
    if max(abs(usual) for usual in lower.values()) < LEAST:
        return character
    return replace(
        character,
        contacts=tuple(
            replace(shape, position=(*shape.position[:2], shape.position[2] - lower[shape.body]))
            if isinstance(shape, Corner)
            else shape
            for shape in character.contacts
        ),
    )
