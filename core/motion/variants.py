# SPDX-License-Identifier: GPL-3.0-or-later
"""Related motions from one clip, by changed constraints (Muico et al. 2009, section 3.2).

"We use this approach to generate a number of trajectories for mild turns, different speeds and stride lengths." Each
function changes a motion's timing or its footholds; `make_reference` then adapts the rest. All are pure: trajectory in,
trajectory out; or character in, character out.

Feet go where a map of the ground takes them: a planted foot, which stays at one place, stays at one place, and between
its places it is carried along as smoothly as the map is. The legs follow by inverse kinematics.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..character import Character, Corner, check
from ..character.mass import Mass, combine
from ..character.tree import FREE
from . import quaternions
from .editing import ROOT_MOBILITY, TURN_MOBILITY, warped
from .fit import Trajectory, body_poses, velocities
from .inverse_kinematics import Targets, reach
from .quaternions import Array

FEET = 1e-6  # m²: slack of corners

Ground = Callable[[Array], tuple[Array, Array]]  # places (n, 3) to places (n, 3) and turns about the vertical (n,)


def at_speed(character: Character, trajectory: Trajectory, factor: float) -> Trajectory:
    """The same way in less time, or more: `factor` times as fast. Frames keep the source's numbers."""
    _check(factor, "speed")
    count = int((len(trajectory.q) - 1) / factor)
    return warped(character, trajectory, factor * np.arange(count + 1))


def with_stride(character: Character, trajectory: Trajectory, factor: float) -> Trajectory:
    """Strides `factor` times as long, in the same time, along the line from the motion's start to its end."""
    _check(factor, "stride length")
    start, ahead, _ = _course(trajectory)

    def stretch(places: Array) -> tuple[Array, Array]:
        along = (places[:, :2] - start) @ ahead
        moved = places.copy()
        moved[:, :2] += (factor - 1.0) * along[:, None] * ahead
        return moved, np.zeros(len(places))

    return _on_feet(character, trajectory, stretch)


def turning(character: Character, trajectory: Trajectory, angle: float) -> Trajectory:
    """A motion along a line, bent to an arc that turns by `angle` (rad, to the left) from its start to its end."""
    start, ahead, length = _course(trajectory)
    if not abs(angle) <= np.pi:
        raise ValueError(f"A turn of {np.degrees(angle):.0f}° is more than half a turn: choose at most 180°.")
    left = np.array([-ahead[1], ahead[0]])
    curvature = angle / length

    def bend(places: Array) -> tuple[Array, Array]:
        along, aside = (places[:, :2] - start) @ ahead, (places[:, :2] - start) @ left
        heading = curvature * along
        if abs(curvature) < 1e-9:
            return places.copy(), heading
        radius = 1.0 / curvature
        moved = places.copy()
        moved[:, :2] = start + np.outer((radius - aside) * np.sin(heading), ahead)
        moved[:, :2] += np.outer(radius - (radius - aside) * np.cos(heading), left)
        return moved, heading

    return _on_feet(character, trajectory, bend)


def with_mass(character: Character, factor: float) -> Character:
    """All bodies `factor` times as heavy."""
    _check(factor, "mass")
    bodies = [
        replace(
            body,
            mass=factor * body.mass,
            inertia=check.inertia((factor * np.array(body.inertia)).tolist(), f"body '{body.name}'"),
        )
        for body in character.bodies
    ]
    return replace(character, bodies=tuple(bodies))


def carrying(character: Character, body: str, load: Mass) -> Character:
    """The character with a load fixed to a body, given in the body's frame."""
    index = character.index(body)
    bodies = list(character.bodies)
    own = bodies[index]
    both = combine([Mass(own.mass, np.array(own.center_of_mass), np.array(own.inertia)), load])
    owner = f"body '{body}'"
    bodies[index] = replace(
        own,
        mass=both.mass,
        inertia=check.inertia(both.inertia, owner),
        center_of_mass=check.vector(both.center, "centre of mass", owner),
    )
    return replace(character, bodies=tuple(bodies))


def _check(factor: float, what: str) -> None:
    if not 0.1 <= factor <= 10.0:
        raise ValueError(f"A {what} of {factor:g} times the clip's is too far from it for a variant.")


def _course(trajectory: Trajectory) -> tuple[Array, Array, float]:
    """Where a motion starts (2,), which way it goes (2,), and how far."""
    start = trajectory.q[0, :2]
    way = trajectory.q[-1, :2] - start
    length = float(np.linalg.norm(way))
    if length < 0.1:
        raise ValueError("The motion stays in place, so it has no stride or path to change.")
    return start, way / length, length


def _feet(character: Character) -> dict[int, Array]:
    """The corners (n, 3) of each foot, in its frame."""
    found: dict[int, list[tuple[float, float, float]]] = {}
    for shape in character.contacts:
        if isinstance(shape, Corner):
            found.setdefault(character.index(shape.body), []).append(shape.position)
    if not found or character.tree.joint[0] != FREE:
        raise ValueError("Only a character with a free root and feet can take another path.")
    return {body: np.array(places) for body, places in found.items()}


def _on_feet(character: Character, trajectory: Trajectory, ground: Ground) -> Trajectory:
    """The root and all feet, as a whole, go where the ground under them goes; the legs by inverse kinematics."""
    corners = _feet(character)
    place, turn = body_poses(character, trajectory.q)
    wanted, bodies, local = [], [], []
    for body, spots in corners.items():
        tracks = place[:, body, None] + quaternions.rotate(turn[:, body, None], spots[None])
        middle = tracks.mean(axis=1)
        moved, heading = ground(middle)
        wanted.append(moved[:, None] + quaternions.rotate(_about_z(heading)[:, None], tracks - middle[:, None]))
        bodies += [body] * len(spots)
        local.append(spots)
    q = trajectory.q.copy()
    q[:, :3], heading = ground(q[:, :3])
    q[:, 3:7] = quaternions.continuous(quaternions.multiply(_about_z(heading), q[:, 3:7]))
    targets = np.ascontiguousarray(np.concatenate(wanted, axis=1))
    mobility = np.ones(character.nv)
    mobility[:3], mobility[3:6] = ROOT_MOBILITY, TURN_MOBILITY
    q = reach(
        character,
        np.ascontiguousarray(q),
        Targets(np.array(bodies, dtype=np.int64), np.concatenate(local), targets, np.full(targets.shape, FEET)),
        mobility,
    )
    v = velocities(character, q, trajectory.rate)
    return Trajectory(trajectory.rate, q, v, trajectory.first_frame, trajectory.frames_per_sample)


def _about_z(angle: Array) -> Array:
    """Turns (n, 4) about the vertical."""
    return np.column_stack([np.cos(0.5 * angle), np.zeros((len(angle), 2)), np.sin(0.5 * angle)])
