# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduced models of a walking character: Carensac et al., section 5.1.

    M0  all of it
    M1  without arms
    M2  without arms and head
    M3  without what is above the pelvis
    M4  without that and the swinging leg
    M5  without arms, head and swinging leg
    M6  M3 while both feet touch the ground, else M4

What is taken off is replaced by its weight, at its own centre of mass, on the body that carried it.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...character import Character
from ...character.tree import POSITIONS_OF_JOINT, VELOCITIES_OF_JOINT
from ...maths.structure import Structure
from .biped import NONE, Biped

Indices = NDArray[np.int64]

MODELS = ("M0", "M1", "M2", "M3", "M4", "M5", "M6")


class Mirror(Structure):
    """Where what a reduced character consists of lies in the whole one's arrays."""

    body: Indices  # (nb,)
    position: Indices  # (nq,)
    velocity: Indices  # (nv,)
    removed: Indices  # (nr,) bodies, of the whole, with which what was taken off begins
    carrier: Indices  # (nr,) bodies, of the reduced, that carried it


def removed_bodies(model: str, character: Character, biped: Biped, swing: int) -> list[int]:
    """Bodies that are taken off with all that hangs from them, while the leg `swing` swings; M6 as in the air."""
    arms = [int(b) for b in biped.arm if b != NONE]
    head = [b for b, body in enumerate(character.bodies) if body.name == "head"]
    upper, leg = [int(b) for b in biped.trunk if b != NONE], [int(biped.thigh[swing])]
    return {
        "M0": [],
        "M1": arms,
        "M2": [*arms, *head],
        "M3": upper,
        "M4": [*upper, *leg],
        "M5": [*arms, *head, *leg],
        "M6": [*upper, *leg],
    }[model]


def reduce(character: Character, removed: list[int]) -> tuple[Character, Mirror]:
    """What is left of a character."""
    tree = character.tree
    gone = set(removed)
    for b, parent in enumerate(tree.parent.tolist()):
        if parent in gone:
            gone.add(b)
    kept = [b for b in range(len(tree.parent)) if b not in gone]
    names = {character.bodies[b].name for b in kept}
    smaller = replace(
        character,
        bodies=tuple(character.bodies[b] for b in kept),
        contacts=tuple(shape for shape in character.contacts if shape.body in names),
    )
    roots = [b for b in removed if int(tree.parent[b]) not in gone]
    mirror = Mirror(
        body=np.array(kept, dtype=np.int64),
        position=_entries(tree.position_start, POSITIONS_OF_JOINT, tree.joint, kept),
        velocity=_entries(tree.velocity_start, VELOCITIES_OF_JOINT, tree.joint, kept),
        removed=np.array(roots, dtype=np.int64),
        carrier=np.array([kept.index(int(tree.parent[b])) for b in roots], dtype=np.int64),
    )
    return smaller, mirror


def _entries(start: Indices, sizes: tuple[int, ...], joint: Indices, kept: list[int]) -> Indices:
    found = [np.arange(start[b], start[b] + sizes[joint[b]]) for b in kept]
    return np.concatenate(found).astype(np.int64)
