# SPDX-License-Identifier: GPL-3.0-or-later
"""Random characters with every kind of joint, and random states of them: the same for the same seed."""

import numpy as np
from heft.core.character import Body, Character, Joint

KINDS = ("free", "ball", "universal", "hinge", "fixed")


def random_character(seed, bodies=8, root=None, *, passive=False):
    """A tree of `bodies` bodies with random offsets, axes, masses and full inertias.

    Children have ball, universal, hinge or fixed joints; the root any kind, or the one given. `passive` adds springs
    and dampers. Seeds 0, 1, 2, ... go through the kinds of root in turn.
    """
    rng = np.random.default_rng([seed, bodies])
    root = KINDS[seed % len(KINDS)] if root is None else root
    parts = []
    for index in range(bodies):
        kind = root if index == 0 else str(rng.choice(KINDS[1:]))
        if index == 1 and root == "fixed":
            kind = "hinge"  # something must move
        mass, center, inertia = random_mass(rng)
        parts.append(
            Body(
                name=f"body_{index}",
                parent=None if index == 0 else f"body_{rng.integers(index)}",
                joint=random_joint(rng, f"joint_{index}", kind, passive=passive),
                mass=mass,
                inertia=inertia,
                center_of_mass=center,
                position=rng.normal(scale=0.3, size=3),
                orientation=random_quaternion(rng),
            )
        )
    return Character(f"random_{seed}", tuple(parts))


def random_joint(rng, name, kind, *, passive=False):
    axes = rng.normal(size=({"hinge": 1, "universal": 2}.get(kind, 0), 3))
    if not passive or kind in {"free", "fixed"}:
        return Joint(name, kind, axes=tuple(axes))
    rest = tuple(rng.uniform(-1.0, 1.0, size=len(axes)))
    return Joint(name, kind, tuple(axes), stiffness=rng.uniform(1, 50), damping=rng.uniform(0.1, 5), rest=rest)


def random_mass(rng):
    """Mass, centre and inertia of a cloud of points: no real body violates the triangle inequality."""
    points = rng.normal(scale=rng.uniform(0.05, 0.3, size=3), size=(8, 3)) + rng.normal(scale=0.1, size=3)
    masses = rng.uniform(0.05, 1.0, size=8)
    mass = masses.sum()
    center = masses @ points / mass
    arms = points - center
    inertia = (masses * (arms**2).sum(axis=1)).sum() * np.eye(3) - (arms.T * masses) @ arms
    return mass, center, inertia


def random_quaternion(rng):
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_state(character, rng):
    """Positions and velocities far from rest: any orientation, angles within half a turn."""
    parts = []
    for joint in character.joints:
        if joint.kind == "free":
            parts.append(rng.normal(size=3))
        if joint.kind in {"free", "ball"}:
            parts.append(random_quaternion(rng))
        else:
            parts.append(rng.uniform(-np.pi, np.pi, size=len(joint.axes)))
    return np.concatenate(parts), rng.normal(scale=2.0, size=character.nv)
