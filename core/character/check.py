# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that parts of a character make of their own numbers: each raises ValueError with one sentence.

`owner` is what the sentence calls the part, as in "body 'left_shank'". Values come back as plain floats in tuples, so
that parts are immutable, compare by value and survive a file unchanged.
"""

import math
from collections.abc import Iterable
from typing import SupportsFloat

import numpy as np

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Inertia = tuple[Vector, Vector, Vector]

LARGEST_NUMBER = 1e9  # far beyond any length, mass or stiffness of a character; keeps products finite
LONGEST_NAME = 200


def number(value: SupportsFloat, what: str, owner: str) -> float:
    """A finite float."""
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not abs(result) <= LARGEST_NUMBER:
        raise ValueError(f"The {what} of {owner} must be a finite number, not {result}.")
    return result


def not_negative(value: SupportsFloat, what: str, owner: str) -> float:
    """A finite float of at least zero."""
    result = number(value, what, owner)
    if result < 0.0:
        raise ValueError(f"The {what} of {owner} must not be negative, but is {result}.")
    return result


def positive(value: SupportsFloat, what: str, owner: str) -> float:
    """A finite float above zero."""
    result = number(value, what, owner)
    if result <= 0.0:
        raise ValueError(f"The {what} of {owner} must be positive, not {result}.")
    return result


def numbers(values: Iterable[SupportsFloat], count: int, what: str, owner: str) -> tuple[float, ...]:
    """Exactly `count` finite floats."""
    result = tuple(number(value, what, owner) for value in values)
    if len(result) != count:
        raise ValueError(f"The {what} of {owner} must have {count} numbers, not {len(result)}.")
    return result


def vector(values: Iterable[SupportsFloat], what: str, owner: str) -> Vector:
    """Three finite floats."""
    x, y, z = numbers(values, 3, what, owner)
    return x, y, z


def unit(values: tuple[float, ...], what: str, owner: str) -> tuple[float, ...]:
    """The values scaled to length one; what is unit already, up to rounding, stays as it is."""
    length = math.hypot(*values)
    if length < 1e-9:
        raise ValueError(f"The {what} of {owner} must not be zero.")
    if abs(length - 1.0) < 1e-14:
        return values
    return tuple(value / length for value in values)


def direction(values: Iterable[SupportsFloat], what: str, owner: str) -> Vector:
    """A unit vector along the one given."""
    x, y, z = unit(vector(values, what, owner), what, owner)
    return x, y, z


def quaternion(values: Iterable[SupportsFloat], what: str, owner: str) -> Quaternion:
    """A unit quaternion w-x-y-z along the one given."""
    w, x, y, z = unit(numbers(values, 4, what, owner), what, owner)
    return w, x, y, z


def inertia(rows: Iterable[Iterable[SupportsFloat]], owner: str) -> Inertia:
    """A rotational inertia: symmetric, positive, and with principal moments that some distribution of mass can have.

    No principal moment can exceed the sum of the other two: A + B - C = 2 ∫ z² dm ≥ 0. Printed tables are rounded, so a
    millionth is let pass.
    """
    given = tuple(vector(row, "inertia", owner) for row in rows)
    if len(given) != 3:
        raise ValueError(f"The inertia of {owner} must have 3 rows, not {len(given)}.")
    matrix = np.array(given)
    if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise ValueError(f"The inertia of {owner} is not symmetric.")
    matrix = 0.5 * (matrix + matrix.T)
    small, middle, large = np.linalg.eigvalsh(matrix)
    if not small > 0.0:
        raise ValueError(f"The inertia of {owner} must be positive, but a principal moment is {small:g} kg m².")
    if not small + middle >= large * (1.0 - 1e-6):
        raise ValueError(
            f"The inertia of {owner} violates the triangle inequality: no rigid body has principal moments of "
            f"{small:g}, {middle:g} and {large:g} kg m²."
        )
    x, y, z = (vector(row, "inertia", owner) for row in matrix)
    return x, y, z


def switch(value: object, what: str, owner: str) -> bool:
    """True or False, and nothing that counts as one of them: the text "no" would be true."""
    if type(value) not in (bool, np.bool_):
        raise ValueError(f"The switch {what} of {owner} must be True or False, not {value!r}.")
    return bool(value)


def name(value: str, what: str) -> str:
    """A name that fits into a message, a file and XML."""
    if not value or len(value) > LONGEST_NAME or not value.isprintable():
        raise ValueError(f"The name of a {what} must be 1 to {LONGEST_NAME} printable characters, not {value[:40]!r}.")
    return value
