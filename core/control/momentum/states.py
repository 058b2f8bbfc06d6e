# SPDX-License-Identifier: GPL-3.0-or-later
"""A reference as the abstract model sees it: states, drift, and the rays that its contacts give."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.friction import first_tangent
from ...dynamics.centroidal import center_of_mass_from_root, update_momentum
from ...dynamics.inertia import update_mass_matrix
from ...dynamics.kinematics import update_kinematics
from ...dynamics.workspace import Workspace, make_workspace
from ...maths.kernel import kernel
from ...maths.structure import Structure
from ...maths.vectors import add, row
from ...motion.reference import Reference
from ...motion.schedule import ContactPoint
from ...motion.tracks import point_places
from ..lookahead import Track
from .model import ANGULAR, CENTER, LINEAR, STATE, TURNED, part, set_part

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outline:
    """What control needs of a reference of N steps; np points bear weight now and then, corners of soles among them."""

    dt: float  # s
    x: Array  # (N + 1, 12) states of the model
    drift: Array  # (N, 3) m/s
    loaded: NDArray[np.bool_]  # (N, np) the point may carry force in this step
    body: NDArray[np.int64]  # (np,)
    local: Array  # (np, 3) in the body's frame
    grip: NDArray[np.bool_]  # (np,) holds on
    place: Array  # (N + 1, np, 3) in the world
    normal: Array  # (N, np, 3) of the ground
    force: Array  # (N, np, 3) the reference's
    friction: float

    @classmethod
    def of(cls, reference: Reference) -> "Outline":
        """Of a reference, with forces at all corners of a sole."""
        character, steps = reference.character, reference.steps
        track = Track.of(reference)
        used = np.flatnonzero(track.loaded[:steps].any(axis=0))
        body, local = track.point_body[used], track.point_local[used]
        points = [
            ContactPoint("", int(b), (float(x), float(y), float(z))) for b, (x, y, z) in zip(body, local, strict=True)
        ]
        x = states(character.tree, reference.q, reference.v, 1.0 / reference.rate)
        moved = np.diff(x[:, CENTER : CENTER + 3], axis=0) * reference.rate
        return cls(
            dt=1.0 / reference.rate,
            x=x,
            drift=moved - x[:-1, LINEAR : LINEAR + 3] / character.total_mass,
            loaded=np.ascontiguousarray(track.loaded[:steps, used]),
            body=body,
            local=local,
            grip=track.grip[used],
            place=point_places(character, reference.q, points),
            normal=np.ascontiguousarray(reference.normal[1:, _nearest(reference, body, local)]),
            force=track.force[:steps, used],
            friction=reference.friction,
        )


class Rays(Structure):
    """At most m rays in each of N steps."""

    number: NDArray[np.int64]  # (N,)
    point: NDArray[np.int64]  # (N, m) the outline's point that each acts at
    direction: Array  # (N, m, 3) unit vectors
    length: Array  # (N, m) in the reference, N


def _nearest(reference: Reference, body: NDArray[np.int64], local: Array) -> NDArray[np.int64]:
    """Of each of some points, the reference's point on the same body that is nearest."""
    schedule = reference.schedule
    found = []
    for b, place in zip(body, local, strict=True):
        distance = np.linalg.norm(schedule.position - place, axis=1)
        found.append(int(np.argmin(np.where(schedule.body == b, distance, np.inf))))
    return np.array(found, dtype=np.int64)


def states(tree: Tree, q: Array, v: Array, dt: float) -> Array:
    """States (nf, 12) of a motion; Phi is zero to begin with."""
    x = np.zeros((len(q), STATE))
    _fill_states(tree, make_workspace(tree), np.ascontiguousarray(q), np.ascontiguousarray(v), dt, x)
    return x


@kernel
def _fill_states(tree: Tree, work: Workspace, q: Array, v: Array, dt: float, x: Array) -> None:
    for k in range(q.shape[0]):
        update_kinematics(tree, work, q[k], v[k])
        update_mass_matrix(tree, work)
        read_state(work, v[k], x[k])
        if k > 0:
            for i in range(3):
                x[k, TURNED + i] = x[k - 1, TURNED + i] + dt * x[k - 1, ANGULAR + i]


@kernel
def read_state(work: Workspace, v: Array, x: Array) -> None:
    """Write C, P and L of a pose and its velocity; after `update_kinematics` and `update_mass_matrix`."""
    update_momentum(work, v)
    set_part(x, CENTER, add(row(work.position, 0), center_of_mass_from_root(work.composite)))
    set_part(x, LINEAR, part(work.momentum, 0))
    set_part(x, ANGULAR, part(work.momentum, 3))


def edges(normal: Array, friction: float) -> Array:
    """Unit vectors (4, 3) along the edges of a friction pyramid."""
    n = normal.tolist()
    first = np.array(first_tangent((n[0], n[1], n[2]), (0.0, 0.0, 0.0)))
    second = np.cross(normal, first)
    found: Array = normal + friction * np.array([first, -first, second, -second])
    found /= np.sqrt(1.0 + friction * friction)
    return found


def shares(force: Array, normal: Array, friction: float) -> Array:
    """A force in a friction pyramid as lengths (4,) along `edges`, the most even of all."""
    directions = edges(normal, friction)
    pressed = max(float(force @ normal), 0.0)
    # an edge that presses by p pulls by friction p; each pair of edges presses at least by what it must pull
    slant = np.sqrt(1.0 + friction * friction)
    steep = 2.0 * friction * friction / slant
    pulls = [float(force @ (directions[i] - directions[i + 1])) / steep if steep > 0.0 else 0.0 for i in (0, 2)]
    first = min(max(0.5 * pressed, abs(pulls[0])), max(pressed - abs(pulls[1]), abs(pulls[0])))
    presses = (first, max(pressed - first, abs(pulls[1])))
    halves = [0.5 * (press + sign * pull) for press, pull in zip(presses, pulls, strict=True) for sign in (1.0, -1.0)]
    return np.array([slant * half for half in halves])


def axes() -> Array:
    """Unit vectors (6, 3) both ways along each axis."""
    found: Array = np.repeat(np.eye(3), 2, axis=0) * np.tile([1.0, -1.0], 3)[:, None]
    return found


def make_rays(outline: Outline) -> Rays:
    """The rays of all steps."""
    found: list[list[tuple[int, Array, float]]] = []
    for k in range(len(outline.loaded)):
        found.append([])
        for p in np.flatnonzero(outline.loaded[k]):
            force, normal = outline.force[k, p], outline.normal[k, p]
            directions = axes() if outline.grip[p] else edges(normal, outline.friction)
            held = np.maximum(directions @ force, 0.0) if outline.grip[p] else shares(force, normal, outline.friction)
            found[-1] += [(int(p), a, b) for a, b in zip(directions, held.tolist(), strict=True)]
    count = np.array([len(step) for step in found], dtype=np.int64)
    most = max(int(count.max(initial=0)), 1)
    point = np.zeros((len(found), most), dtype=np.int64)
    direction, length = np.zeros((len(found), most, 3)), np.zeros((len(found), most))
    for k, step in enumerate(found):
        for j, (p, a, b) in enumerate(step):
            point[k, j], direction[k, j], length[k, j] = p, a, b
    return Rays(count, point, direction, length)
