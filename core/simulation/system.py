# SPDX-License-Identifier: GPL-3.0-or-later
"""A `System` out of bodies, shapes and what acts on them: of one world, or of several that touch (company)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..character.check import Vector
from ..character.flatten import flatten
from ..character.parts import Body
from ..contact.shapes import Shape, make_shapes
from ..contact.terrain import Terrain
from ..dynamics.limits import make_limits
from .grabs import Grab, make_grabs
from .own_contact import FRICTION as OWN_FRICTION
from .pushes import Push, make_pushes
from .strength import TorqueLimits, make_limited
from .workspace import Settings, System, chains, extents, pyramid


class Parts(NamedTuple):
    """What a system is made of; everything names bodies and shapes by their names."""

    bodies: tuple[Body, ...]
    gravity: Vector
    shapes: tuple[Shape, ...]
    pairs: tuple[tuple[str, str], ...]  # shapes that may touch each other
    own_pairs: tuple[tuple[str, str], ...]  # those of a character's own that do where that is heeded
    of_legs: NDArray[np.bool_]  # which of these are of one leg and another
    inside: NDArray[np.float64]  # how deep a motion has these in each other, m
    friction: float  # between them
    factors: Mapping[str, float]  # of shapes, on the friction of whatever they touch; one where not given
    grabs: tuple[Grab, ...]
    pushes: tuple[Push, ...]
    torque_limits: tuple[TorqueLimits, ...]
    motors: Iterable[int]  # first velocity that a motor drives, and the one after the last


def make_system(parts: Parts, terrain: Terrain, settings: Settings) -> System:
    """Flatten."""
    index = {body.name: b for b, body in enumerate(parts.bodies)}
    tree = flatten(parts.bodies, parts.gravity)
    shapes = make_shapes(parts.shapes, index, pairs=parts.pairs, pair_friction=parts.friction, friction=parts.factors)
    chain, chain_length = chains(tree)
    return System(
        tree=tree,
        shapes=shapes,
        own=make_shapes(parts.shapes, index, pairs=parts.own_pairs, pair_friction=OWN_FRICTION),
        of_legs=parts.of_legs,
        inside=parts.inside,
        extent=extents(shapes, len(parts.bodies)),
        chain=chain,
        chain_length=chain_length,
        terrain=terrain,
        limits=make_limits(parts.bodies, tree),
        grabs=make_grabs(parts.grabs, index),
        pushes=make_pushes(parts.pushes, index),
        side=pyramid(settings.sides),
        motors=np.array([*parts.motors], dtype=np.int64),
        limited=make_limited(parts.torque_limits, parts.bodies, tree),
        settings=settings,
    )
