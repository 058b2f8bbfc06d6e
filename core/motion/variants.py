# SPDX-License-Identifier: GPL-3.0-or-later
"""Related motions from one clip, by changed constraints (Muico et al. 2009, section 3.2).

"We use this approach to generate a number of trajectories for mild turns, different speeds and stride lengths." Each
function changes what a motion is asked to do, its timing or the places of its feet, and leaves to `make_reference`
what that asks of the rest. All are pure: trajectory in, trajectory out; or character in, character out.

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
from .ground import footprints
from .inverse_kinematics import Targets, reach
from .quaternions import Array
from .resample import smoothed

FEET = 1e-6  # m²: slack of corners
ROOT_CUTOFF = 1.0  # Hz, of the way on which the root follows the feet up and down
RISES_WITHIN, FALLS_WITHIN = 0.7, 0.6  # first and last shares of a swing, so that a foot clears the edges of steps

Ground = Callable[[Array], tuple[Array, Array]]  # places (n, 3) to places (n, 3) and turns about the vertical (n,)


def at_speed(character: Character, trajectory: Trajectory, factor: float) -> Trajectory:
    """The same way in less time, or more: `factor` times as fast. Frames keep the source's numbers."""
    _check(factor, "speed")
    count = int((len(trajectory.q) - 1) / factor)
    return warped(character, trajectory, factor * np.arange(count + 1))


def with_stride(character: Character, trajectory: Trajectory, factor: float) -> Trajectory:
    """Strides `factor` times as long, in the same time, along the line from the motion's start to its end."""
    _check(factor, "length of stride")
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
        raise ValueError(f"A turn of {np.degrees(angle):.0f}° is more than half a turn.")
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


def on_ground(character: Character, trajectory: Trajectory, height: Callable[[Array], Array]) -> Trajectory:
    """A motion on the level made to climb: `height` says how high the ground is at places (n, 2).

    Each of a foot's stances is raised by the ground's height under it, and its swings lead from one height to the next.
    """
    frames = len(trajectory.q)
    feet = _feet(character)
    rise = {body: np.zeros(frames) for body in feet}
    for body in feet:
        stances = [one for one in footprints(character, trajectory) if character.index(one.body) == body]
        if not stances:
            raise ValueError(
                f"'{character.bodies[body].name}' never stands still: there is nothing to put on the ground."
            )
        middles = np.array([np.add(one.heel, one.toe)[:2] / 2.0 for one in stances])
        levels = height(middles)
        rise[body][:] = levels[0]
        spans = [(trajectory.sample(one.frames[0]), trajectory.sample(one.frames[1])) for one in stances]
        for (_, leaves), (lands, _), low, high in zip(spans, spans[1:], levels, levels[1:], strict=False):
            x = np.linspace(0.0, 1.0, lands - leaves + 1)
            x = np.clip(x / RISES_WITHIN if high > low else (x - 1.0) / FALLS_WITHIN + 1.0, 0.0, 1.0)
            rise[body][leaves : lands + 1] = low + (high - low) * x * x * (3.0 - 2.0 * x)
            rise[body][lands:] = high
    lift = smoothed(np.mean(list(rise.values()), axis=0)[:, None], trajectory.rate, ROOT_CUTOFF)[:, 0]
    return _moved(character, trajectory, _raised(lift), {body: _raised(one) for body, one in rise.items()})


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
        raise ValueError(f"A {what} of {factor:g} times the clip's is no variant of it.")


def _course(trajectory: Trajectory) -> tuple[Array, Array, float]:
    """Where a motion starts (2,), which way it goes (2,), and how far."""
    start = trajectory.q[0, :2]
    way = trajectory.q[-1, :2] - start
    length = float(np.linalg.norm(way))
    if length < 0.1:
        raise ValueError("The motion goes nowhere, so it has no stride and no way to bend.")
    return start, way / length, length


def _feet(character: Character) -> dict[int, Array]:
    """The corners (n, 3) of each foot, in its frame."""
    found: dict[int, list[tuple[float, float, float]]] = {}
    for shape in character.contacts:
        if isinstance(shape, Corner):
            found.setdefault(character.index(shape.body), []).append(shape.position)
    if not found or character.tree.joint[0] != FREE:
        raise ValueError("Only a character with a free root and feet can go another way.")
    return {body: np.array(places) for body, places in found.items()}


def _raised(lift: Array) -> Ground:
    """Everything as much higher as its frame says (nf,)."""

    def raise_up(places: Array) -> tuple[Array, Array]:
        return places + np.outer(lift, (0.0, 0.0, 1.0)), np.zeros(len(places))

    return raise_up


def _on_feet(character: Character, trajectory: Trajectory, ground: Ground) -> Trajectory:
    """The root and all feet go where the ground under them goes."""
    return _moved(character, trajectory, ground, dict.fromkeys(_feet(character), ground))


def _moved(character: Character, trajectory: Trajectory, root: Ground, feet: dict[int, Ground]) -> Trajectory:
    """The root moved by one map and each foot by its own, as a whole; the legs by inverse kinematics."""
    corners = _feet(character)
    place, turn = body_poses(character, trajectory.q)
    wanted, bodies, local = [], [], []
    for body, spots in corners.items():
        tracks = place[:, body, None] + quaternions.rotate(turn[:, body, None], spots[None])
        middle = tracks.mean(axis=1)
        moved, heading = feet[body](middle)
        wanted.append(moved[:, None] + quaternions.rotate(_about_z(heading)[:, None], tracks - middle[:, None]))
        bodies += [body] * len(spots)
        local.append(spots)
    q = trajectory.q.copy()
    q[:, :3], heading = root(q[:, :3])
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
