# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that glide, pivot or turn under load: contacts whose planned places move along the ground.

Coulomb's law knows two cases. A point that sticks takes any force in friction's cone; one that slides takes friction
against its way, mu f_n, and no more. A reference knows beforehand how each point moves [s], so its forces can be
written down for both at once, with a share [c] that goes from 0 to 1 with the planned speed:

    f = f_n (n - c mu s / |s|) + (1 - c) (f_1 t_1 + f_2 t_2),        |f_1| + |f_2| <= mu f_n

Who pivots or drags a foot meets all of the ground's friction. Who glides on a sole as a whole, and fast, lets it slip:
skaters and moonwalkers choose floors and shoes for that. Such a sole has a part of the friction meanwhile, EASED, in
the reference as in the simulation.
"""

import numpy as np

from .quaternions import Array
from .schedule import ContactSchedule, Mask

STICKS, SLIDES = 0.02, 0.1  # m/s, between which a contact goes over from sticking to sliding
DRAGS, GLIDES = 0.2, 0.5  # m/s of a sole as a whole, between which it goes over to slipping
EASED = 0.2  # of the friction that holds a sole that stands, where it slips


def planned_velocities(schedule: ContactSchedule, rate: float) -> Array:
    """How the places (nf, np, 3) go on from each frame, m/s; at the end of a contact as they came.

    Of feet; and along the ground of what else touches: a place on a ball comes down and rises again as that rolls.
    """
    result = np.zeros_like(schedule.place)
    both = schedule.active[1:] & schedule.active[:-1] & ~_led(schedule)
    ways = np.where(both[:, :, None], np.diff(schedule.place, axis=0), 0.0) * rate
    ways[:, ~_of_feet(schedule), 2] = 0.0
    result[1:] = ways
    result[:-1] = np.where(both[:, :, None], ways, result[:-1])
    return result


def slipping(schedule: ContactSchedule, velocity: Array) -> Array:
    """The share (nf, np), 0 to 1, to which the sole of each point slips, by its points' planned velocities."""
    result, body, feet = np.zeros(velocity.shape[:2]), schedule.body, _of_feet(schedule)
    for b in np.unique(body[feet]):
        own = np.flatnonzero(feet & (body == b))
        count = np.maximum(schedule.active[:, own].sum(axis=1), 1)
        mean = velocity[:, own].sum(axis=1) / count[:, None]
        result[:, own] = _share(np.linalg.norm(mean, axis=1), DRAGS, GLIDES)[:, None]
    return np.where(schedule.active, result, 0.0)


def sliding_axes(axes: Array, velocity: Array, slips: Array, friction: float) -> Array:
    """Axes (..., 3, 3), two tangents and a normal, along which forces of sliding contacts are counted.

    A force within the pyramid of `friction` over them is the force above, eased by the share to which the sole `slips`.
    Rows of what sticks stay as they are, to the bit.
    """
    share = _share(np.linalg.norm(velocity, axis=-1), STICKS, SLIDES)
    slides = share > 0.0
    if not slides.any():
        return axes
    result, share = axes.copy(), share[slides][:, None]
    eased = friction * (1.0 - (1.0 - EASED) * slips[slides])[:, None]
    way = velocity[slides] / np.linalg.norm(velocity[slides], axis=-1, keepdims=True)
    result[slides, :2] *= (1.0 - share)[:, None]
    result[slides, 2] -= eased * share * way
    return result


def gliding(velocity: Array) -> Mask:
    """Which of velocities (..., 3) are not those of feet that stand."""
    result: Mask = np.linalg.norm(velocity, axis=-1) > STICKS
    return result


def _of_feet(schedule: ContactSchedule) -> Mask:
    return np.array([point.foot for point in schedule.points], dtype=np.bool_) & ~_led(schedule)


def _led(schedule: ContactSchedule) -> Mask:
    """Points that go where what they hold on to goes."""
    return np.array([point.grab or point.moves for point in schedule.points], dtype=np.bool_)


def _share(speed: Array, none: float, all_of_it: float) -> Array:
    """A smooth step from 0 to 1 between two speeds."""
    x = np.clip((speed - none) / (all_of_it - none), 0.0, 1.0)
    result: Array = x * x * (3.0 - 2.0 * x)
    return result
