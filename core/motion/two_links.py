# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of two links bent so that their ends come where they are wanted: thigh and shank, arm and forearm.

The triangle of root, middle and end has sides of given length, so where its end is wanted tells how it is bent (law of
cosines); the plane in which it is bent goes along as the line from root to end is turned.
"""

from typing import NamedTuple

import numpy as np

from . import quaternions
from .quaternions import Array

STRAIGHT = 0.02  # of the first link: a middle no further off the line says little of the plane
LONGEST = 1.0 - 1e-6  # of both links


class Turns(NamedTuple):
    """By what the links are turned, in the world, (nf, 4) each."""

    first: Array
    second: Array


def reach(root: Array, middle: Array, end: Array, wanted: Array, across: Array) -> Turns:
    """The least turns of both links about `root` that bring `end` to where it is `wanted`, all (nf, 3).

    What is too far, or too near, is reached for as far as that goes. `across` is where the middle bends to, out of the
    line from root to end, in frames in which the limb is as good as straight.
    """
    first, second = middle - root, end - middle
    a, b = (np.linalg.norm(link, axis=1) for link in (first, second))
    line, goal = end - root, wanted - root
    far = np.linalg.norm(goal, axis=1)
    far = np.clip(far, np.abs(a - b) + 1e-6 * (a + b), LONGEST * (a + b))
    swing = turn_between(line, goal)
    along = unit(line)
    off = first - _along(first, along)
    off = off / a[:, None]
    straight = np.clip(1.0 - np.linalg.norm(off, axis=1) / STRAIGHT, 0.0, 1.0)
    off = off + STRAIGHT * straight[:, None] * unit(across - _along(across, along))
    pole = unit(quaternions.rotate(swing, off))
    x = (a**2 + far**2 - b**2) / (2.0 * far)
    y = np.sqrt(np.maximum(a**2 - x**2, 0.0))
    knee = x[:, None] * unit(goal) + y[:, None] * pole
    tip = far[:, None] * unit(goal)
    upper, lower = (
        turn_between(quaternions.rotate(swing, link), new) for link, new in ((first, knee), (second, tip - knee))
    )
    return Turns(quaternions.multiply(upper, swing), quaternions.multiply(lower, swing))


def turn_between(start: Array, end: Array) -> Array:
    """The least turns (nf, 4) that bring vectors (nf, 3) to the directions of others."""
    start, end = unit(start), unit(end)
    half = np.column_stack([1.0 + np.sum(start * end, axis=1), np.cross(start, end)])
    back = half[:, 0] < 1e-9  # half a turn about anything across
    if back.any():
        other = np.eye(3)[np.argmin(np.abs(start[back]), axis=1)]
        half[back] = np.column_stack([np.zeros(int(back.sum())), np.cross(start[back], other)])
    return quaternions.normalize(half)


def unit(vectors: Array) -> Array:
    """Vectors (..., 3) of length one."""
    result: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return result


def _along(vectors: Array, direction: Array) -> Array:
    """The parts of vectors (nf, 3) along directions."""
    result: Array = np.sum(vectors * direction, axis=1)[:, None] * direction
    return result
