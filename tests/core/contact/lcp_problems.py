# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear complementarity problems of known kinds, drawn at random: the raw material of tests and benchmarks.

Frictional contact problems have the form of Stewart and Trinkle (1996) and Anitescu and Potra (1997),

        | N A N'   N A D'   0 |        | N v + gap / h |
    M = | D A N'   D A D'   E |    q = | D v           |    z = (normal impulses, friction impulses, sliding speeds)
        | mu       -E'      0 |        | 0             |

with A the inverse mass matrix. Contacts sit in fours on the corners of rigid feet, so N and D are rank deficient.
"""

from typing import NamedTuple

import numpy as np


class ContactProblem(NamedTuple):
    M: np.ndarray  # (6c, 6c) for four-sided pyramids
    q: np.ndarray  # (6c,)
    J: np.ndarray  # (5c, nv) normal rows, then friction rows
    inverse_mass: np.ndarray  # (nv, nv)
    velocity: np.ndarray  # (nv,) without contact
    contacts: int

    def velocity_after(self, z):
        """v+ = v + A J' (impulses): unique where the forces of redundant corners are not."""
        return self.velocity + self.inverse_mass @ self.J.T @ z[: len(self.J)]


def assemble(J_normal, J_friction, inverse_mass, velocity, gap_rate, mu, sides=4):
    """M and q of the form above; rows of J_friction belong to contacts in turns of `sides`."""
    c = len(J_normal)
    J = np.vstack([J_normal, J_friction])
    E = np.kron(np.eye(c), np.ones((sides, 1)))
    size = (sides + 2) * c
    M = np.zeros((size, size))
    M[: len(J), : len(J)] = J @ inverse_mass @ J.T
    M[c : len(J), len(J) :] = E
    M[len(J) :, :c] = np.diag(mu)
    M[len(J) :, c : len(J)] = -E.T
    q = np.concatenate([J_normal @ velocity + gap_rate, J_friction @ velocity, np.zeros(c)])
    return ContactProblem(M, q, J, inverse_mass, velocity, c)


def foot_rows(corners, map_to_twist, normal=(0.0, 0.0, 1.0)):
    """Normal and friction rows (4 directions) of points on a body whose twist (w, v) is map_to_twist @ velocity."""
    n = np.asarray(normal) / np.linalg.norm(normal)
    t = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.8 else [0.0, 1.0, 0.0])
    t /= np.linalg.norm(t)
    s = np.cross(n, t)
    normals, frictions = [], []
    for x, y, z in corners:
        cross = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]], dtype=float)  # w x r = cross @ w
        point = np.hstack([cross, np.eye(3)]) @ map_to_twist
        normals.append(n @ point)
        frictions.extend([t @ point, s @ point, -t @ point, -s @ point])
    return np.array(normals), np.array(frictions)


def box_on_plane(rng, mass_ratio=1.0, friction=None, resting=True):
    """One box on its four corners: three of them carry it, the fourth is redundant."""
    mass = mass_ratio
    size = rng.uniform(0.1, 0.5, 3)
    inertia = (
        mass / 12 * np.array([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2, size[0] ** 2 + size[1] ** 2])
    )
    inverse_mass = np.diag(1 / np.concatenate([inertia, np.full(3, mass)]))
    corners = [(sx * size[0] / 2, sy * size[1] / 2, -size[2] / 2) for sx in (-1, 1) for sy in (-1, 1)]
    normals, frictions = foot_rows(corners, np.eye(6))
    velocity = np.zeros(6)
    if not resting:
        velocity = rng.normal(size=6) * 0.5
    velocity[5] -= 9.81 / 120
    mu = np.full(4, rng.uniform(0.1, 1.2) if friction is None else friction)
    return assemble(normals, frictions, inverse_mass, velocity, np.zeros(4), mu)


def character_on_feet(rng, feet=2, corners=4, nv=34, mass_ratio=1.0, gaps=True, noise=0.3, extra_points=0):
    """Feet of `corners` coplanar points on a tree-like mass matrix; contacts = feet * corners + extra_points."""
    roots = rng.normal(size=(nv, nv)) / np.sqrt(nv)
    scale = np.exp(rng.uniform(-0.5, 0.5, nv) * np.log(mass_ratio)) if mass_ratio != 1 else np.ones(nv)
    inverse_mass = (roots @ roots.T + 0.05 * np.eye(nv)) * np.outer(scale, scale)
    inverse_mass = (inverse_mass + inverse_mass.T) / 2
    normals, frictions = [], []
    for _ in range(feet):
        twist = rng.normal(size=(6, nv)) / np.sqrt(nv)
        angle = rng.uniform(0, 2 * np.pi, corners)
        if corners == 4:
            plane = [(-0.06, -0.04), (-0.06, 0.04), (0.18, -0.04), (0.18, 0.04)]
        else:
            plane = np.column_stack([np.cos(angle), np.sin(angle)]) * 0.1
        n, f = foot_rows([(x, y, -0.08) for x, y in plane], twist)
        normals.append(n)
        frictions.append(f)
    for _ in range(extra_points):
        n, f = foot_rows(rng.normal(size=(1, 3)) * 0.1, rng.normal(size=(6, nv)) / np.sqrt(nv))
        normals.append(n)
        frictions.append(f)
    normals, frictions = np.vstack(normals), np.vstack(frictions)
    c = len(normals)
    velocity = rng.normal(size=nv) * noise * scale
    gap_rate = np.where(rng.random(c) < 0.5, rng.uniform(0, 2.0, c), 0.0) if gaps else np.zeros(c)
    mu = np.full(c, rng.choice([0.0, 0.3, 0.6, 1.0, 1.0, 1.0, 3.0]))
    return assemble(normals, frictions, inverse_mass, velocity, gap_rate, mu)


def foot_on_a_see_saw(rng):
    """A foot on a hinged plank whose end is on the ground: along the hinge, friction there moves nothing but rounding.

    The plank's velocity comes last, after the foot's six.
    """
    angle = rng.uniform(0, 2 * np.pi)
    axis, along = np.array([-np.sin(angle), np.cos(angle), 0.0]), np.array([np.cos(angle), np.sin(angle), 0.0])
    height, lean = rng.uniform(0.05, 0.2), rng.uniform(0.02, 0.15)
    rows = []
    for across in (-1.0, 1.0):
        point = 1.5 * along + across * axis - height * np.array([0.0, 0.0, 1.0])
        rows.append([direction @ np.cross(axis, point) for direction in ([0.0, 0.0, 1.0], along, axis)])
    ground = np.zeros((len(rows), 3, 7))
    ground[:, :, 6] = rows
    mass, place = rng.uniform(20.0, 100.0), rng.uniform(-1.0, 1.0)
    normal = np.cos(lean) * np.array([0.0, 0.0, 1.0]) + np.sin(lean) * along
    above = np.hstack([np.eye(6), np.zeros((6, 1))])
    below = np.zeros((6, 7))
    below[:3, 6], below[3:, 6] = axis, np.cross(axis, place * along)
    corners = [(x, y, -0.08) for x in (-0.06, 0.18) for y in (-0.04, 0.04)]
    n, f = foot_rows(corners, above, normal)
    n_below, f_below = foot_rows(corners, below, normal)
    normals = np.vstack([ground[:, 0], n - n_below])
    frictions = np.vstack([np.stack([r, s, -r, -s]) for _, r, s in ground] + [f - f_below])
    inverse_mass = np.diag([*(6.0 / (0.1 * mass),) * 3, *(1.0 / mass,) * 3, 1.0 / 15.0])
    velocity = np.array([*rng.normal(scale=0.3, size=5), -0.1, 0.02 * rng.normal()])
    gaps = np.concatenate([np.zeros(2), rng.choice([0.0, 0.05], size=4)])
    return assemble(normals, frictions, inverse_mass, velocity, gaps, np.ones(6))


def stack_of_boxes(rng, boxes=8, mass_ratio=100.0, heavy_on_top=True):
    """Boxes on one another by four corners each, their masses in a geometric row."""
    masses = np.geomspace(1.0, mass_ratio, boxes)
    if not heavy_on_top:
        masses = masses[::-1]
    size = 0.2
    nv = 6 * boxes
    inverse_mass = np.zeros(nv)
    for b, mass in enumerate(masses):
        inverse_mass[6 * b : 6 * b + 3] = 6 / (mass * size**2)
        inverse_mass[6 * b + 3 : 6 * b + 6] = 1 / mass
    normals, frictions = [], []
    corners = [(sx * size / 2, sy * size / 2) for sx in (-1, 1) for sy in (-1, 1)]
    for b in range(boxes):
        above = np.zeros((6, nv))
        above[:, 6 * b : 6 * b + 6] = np.eye(6)
        n, f = foot_rows([(x, y, -size / 2) for x, y in corners], above)
        if b > 0:
            below = np.zeros((6, nv))
            below[:, 6 * b - 6 : 6 * b] = np.eye(6)
            n_below, f_below = foot_rows([(x, y, size / 2) for x, y in corners], below)
            n, f = n - n_below, f - f_below
        normals.append(n)
        frictions.append(f)
    velocity = np.zeros(nv)
    velocity[5::6] = -9.81 / 120
    velocity += rng.normal(size=nv) * rng.choice([0.0, 1e-3, 0.1])
    normals, frictions = np.vstack(normals), np.vstack(frictions)
    c = len(normals)
    return assemble(
        normals, frictions, np.diag(inverse_mass), velocity, np.zeros(c), np.full(c, rng.choice([0.3, 0.5, 1.0]))
    )


def feet_on_bodies(rng):
    """One to eight soles of any size on up to five bodies with masses from a gram to a ton, some on each other.

    Resting, creeping or fast; on the ground or near it; friction alike for all, or anything from none to a thousand.
    """
    bodies = int(rng.integers(1, 6))
    nv = 6 * bodies
    inverse_mass = np.zeros((nv, nv))
    for b in range(bodies):
        factor = rng.normal(size=(6, 6))
        here = slice(6 * b, 6 * b + 6)
        inverse_mass[here, here] = (factor @ factor.T + 0.05 * np.eye(6)) / 10.0 ** rng.uniform(-3, 3)
    normals, frictions = [], []
    for _ in range(int(rng.integers(1, 9))):
        size = 10.0 ** rng.uniform(-2, 0)
        corners = np.array([(x * size, y * size, 0.0) for x in (-1, 1) for y in (-1, 1)])
        corners += rng.choice([0.0, 1.0]) * rng.normal(size=3)
        body, other = rng.integers(bodies, size=2)
        twist = np.zeros((6, nv))
        twist[:, 6 * body : 6 * body + 6] = np.eye(6)
        if rng.random() < 0.5 and other != body:
            twist[:, 6 * other : 6 * other + 6] = -np.eye(6)
        up = rng.normal(size=3) if rng.random() < 0.5 else (0.0, 0.0, 1.0)
        normal, friction = foot_rows(corners, twist, up)
        normals.append(normal)
        frictions.append(friction)
    contacts = 4 * len(normals)
    velocity = rng.choice([0.0, 1e-6, 1.0, 10.0]) * rng.normal(size=nv)
    mu = rng.choice([0.0, 0.3, 1.0, 10.0, 1e3], size=contacts) if rng.random() < 0.5 else np.full(contacts, 0.8)
    gap_rate = np.where(rng.random(contacts) < 0.5, 0.0, rng.random(contacts) * rng.choice([1e-6, 1.0]))
    return assemble(np.vstack(normals), np.vstack(frictions), inverse_mass, velocity, gap_rate, mu)


def positive_semidefinite(rng, n, rank):
    """Convex quadratic programs' optimality conditions: M = G G' + skew, solvable by construction."""
    G = rng.normal(size=(n, rank)) / np.sqrt(n)
    S = rng.normal(size=(n, n)) / np.sqrt(n)
    M = G @ G.T + (S - S.T)
    z = np.where(rng.random(n) < 0.5, rng.uniform(0, 1, n), 0.0)
    w = np.where((z == 0) & (rng.random(n) < 0.8), rng.uniform(0, 1, n), 0.0)
    return M, w - M @ z


def p_matrix(rng, n):
    """Positive definite symmetric part, so exactly one solution."""
    G = rng.normal(size=(n, n)) / np.sqrt(n)
    S = rng.normal(size=(n, n)) / np.sqrt(n)
    return G @ G.T + 0.1 * np.eye(n) + (S - S.T), rng.normal(size=n)


def copositive(rng, n):
    """Strictly copositive and not positive semidefinite: a nonnegative matrix with a positive diagonal."""
    return rng.uniform(0, 1, (n, n)) + 0.2 * np.eye(n), rng.normal(size=n)


def unsolvable(rng, n):
    """Positive semidefinite with q outside the reach of M: there is y >= 0 with y'M = 0 and y'q < 0."""
    y = rng.uniform(0.1, 1.0, n)
    G = rng.normal(size=(n, n - 1))
    G -= np.outer(y, y @ G) / (y @ y)
    q = rng.normal(size=n)
    q -= y * (y @ q + rng.uniform(0.5, 2.0)) / (y @ y)
    return G @ G.T, q


# Textbook problems as collected in the tests of Siconos (numerics/src/LCP/test): name -> M, q, every basic solution.
# CPS: Cottle, Pang and Stone. Lemke's method ends on a ray for CPS_3 though it has solutions.
CPS_4 = [[11.0, 0.0, 10.0, -1.0], [0.0, 11.0, 10.0, -1.0], [10.0, 10.0, 21.0, -1.0], [1.0, 1.0, 1.0, 0.0]]
TEXTBOOK = {
    "CPS_1": ([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0], [[1.0, 0.0], [0.0, 1.0]]),
    "CPS_2": ([[0.0, -1.0, 2.0], [2.0, 0.0, -2.0], [-1.0, 1.0, 0.0]], [-3.0, 6.0, -1.0], [[0.0, 1.0, 3.0]]),
    "CPS_3": (
        [[0.0, 0.0, 10.0, 20.0], [0.0, 0.0, 30.0, 15.0], [10.0, 20.0, 0.0, 0.0], [30.0, 15.0, 0.0, 0.0]],
        [-1.0] * 4,
        [[0.1, 0.0, 0.1, 0.0], [0.0, 1 / 15, 0.0, 1 / 15], [1 / 90, 2 / 45, 1 / 90, 2 / 45]],
    ),
    "CPS_4": (CPS_4, [50.0, 50.0, 10.0, -6.0], [[2.0, 2.0, 2.0, 92.0]]),
    "CPS_4bis": (CPS_4, [50.0, 50.0, 23.0, -6.0], [[3.0, 3.0, 0.0, 83.0]]),
    "CPS_5": ([[1.0, -1.0], [-1.0, 1.0]], [1.0, -1.0], [[0.0, 1.0]]),
    "deudeu": ([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], [[4 / 3, 7 / 3]]),
    "exp_murty": (np.triu(np.full((6, 6), 2.0), 1) + np.eye(6), [-1.0] * 6, [[0.0] * 5 + [1.0]]),
    "trivial": (np.diag(np.arange(1.0, 10.0)), [-1.0] * 9, [list(1 / np.arange(1.0, 10.0))]),
}
