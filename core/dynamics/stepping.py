# SPDX-License-Identifier: GPL-3.0-or-later
"""The one integrator. Simulator, reference optimiser and linearisation all step by these equations.

Semi-implicit Euler on the manifold, Muico et al. 2009 eq. 16 a and b: positions first, then velocities at them,

    q_{k+1} = q_k (+) dt v_k
    M(q_{k+1}) (v_{k+1} - v_k) / dt = tau + J(q_{k+1})^T f - h

with two refinements, both inside h and M's diagonal.

Free root. With the continuous bias the six rows of a free root, which are the Newton-Euler equations of the whole
character, hold only to first order, and a character in free flight slowly gains or loses momentum. What the step ought
to change momentum by is known, though: weight and applied forces times dt. With the root's motion subspace S, the
spatial momentum P and the weight G acting at the centre of mass,

    S(q_{k+1})^T [P(q_{k+1}, v_{k+1}) - P(q_k, v_k)] / dt = S(q_{k+1})^T G(q_{k+1}) + (tau + J^T f)_root

P(q_k, v_k) is carried along with the centre of mass: it is the linear momentum and the angular momentum about the
centre of mass at k, taken to act at the centre of mass at k+1. (About a point fixed in the world, angular momentum
about the centre of mass would change by a term proportional to the speed of falling.) So force and moment are missing,
by

    e = [P(q_{k+1}, v_k) - P(q_k, v_k)] / dt - G - (root's part of the continuous bias)

They are put back as a motion of the whole character as one rigid body, x = I^-1 e with its composite inertia I: of all
changes of velocity that mend momentum this one has the least kinetic energy, it leaves the joints' rates alone, and it
is the same whichever body is the root. In h that is the momentum map transposed, h += A^T x, whose root part is e.

Linear momentum and angular momentum about the centre of mass are then conserved to rounding, at any step length. (To
write the joints' rows as balances of momentum too would damp a swinging limb by the cosine of its rotation in each
step; to change the root's rows alone would push the limbs through the root, and be less stable than no correction.)

Passive joints. Springs and dampers act with the velocities at the end of the step, as the torque
-k (stretch + dt v_{k+1}) - d v_{k+1}, so that stiff ones stay stable: dt d + dt^2 k joins M's diagonal and
k (stretch + dt v_k) + d v_k joins h. A controller's own implicit gains (stable PD) enter by the same door, `implicit`.
"""

import numpy as np
from numpy.typing import NDArray

from ..character.tree import FREE, Tree
from ..maths.kernel import inlined_kernel, kernel
from ..maths.spatial import row_dot, symmetric_solve
from ..maths.vectors import (
    Vector,
    add,
    add_scaled,
    cross,
    dot,
    matrix_at,
    row,
    row_angular,
    scale,
    subtract,
    transposed_vector,
)
from .centroidal import center_of_mass_from_root, momentum_about_root, update_momentum
from .forces import update_bias_force, update_stretch
from .inertia import factorize, solve, update_mass_matrix
from .jacobians import add_point_force
from .kinematics import integrate_positions, update_kinematics, vector_at, world_point
from .workspace import Workspace


@inlined_kernel
def weight_about_root(gravity: NDArray[np.float64], composite: NDArray[np.float64]) -> tuple[Vector, Vector]:
    """The character's weight and its moment about o, given the workspace's composite inertias."""
    g = vector_at(gravity, 0)
    return scale(composite[0, 0], g), cross((composite[0, 1], composite[0, 2], composite[0, 3]), g)


@inlined_kernel
def locked_acceleration(I: NDArray[np.float64], force: Vector, moment: Vector) -> tuple[Vector, Vector]:
    """Acceleration, about o, of the character as one rigid body under a force and a moment about o: I^-1 (f, n).

    I is the workspace's composite inertias.
    """
    mass = I[0, 0]
    c = center_of_mass_from_root(I)
    # the rotational inertia about the centre of mass
    square = dot(c, c)
    about_center = (
        I[0, 4] - mass * (square - c[0] * c[0]),
        I[0, 5] + mass * c[0] * c[1],
        I[0, 6] + mass * c[0] * c[2],
        I[0, 7] - mass * (square - c[1] * c[1]),
        I[0, 8] + mass * c[1] * c[2],
        I[0, 9] - mass * (square - c[2] * c[2]),
    )
    angular = symmetric_solve(about_center, subtract(moment, cross(c, force)))
    return add_scaled(cross(c, angular), 1.0 / mass, force), angular


@kernel
def keep_momentum(tree: Tree, work: Workspace, v: NDArray[np.float64]) -> None:
    """Change `v` so that free trees have `work.momentum` at a pose they were put to without moving there.

    After `update_positions` at that pose and `update_mass_matrix`. The change is that of the module's second equation:
    a motion of the whole tree as one rigid body.
    """
    for r in range(work.root.shape[0]):
        root = work.root[r]
        if tree.joint[root] != FREE:
            continue
        composite = work.composite[root:]
        first, last = work.root_velocity[r], work.root_velocity[r + 1]
        p, l = momentum_about_root(work.momentum_map[first:last], v[first:last])
        p_before = vector_at(work.momentum, 6 * r)
        l_before = add(vector_at(work.momentum, 6 * r + 3), cross(center_of_mass_from_root(composite), p_before))
        linear, angular = locked_acceleration(composite, subtract(p_before, p), subtract(l_before, l))
        # linear is the velocity at o; a free root's is that of its own origin, and its angular velocity its own frame's
        arm = subtract(row(work.position, root), row(work.position, 0))
        linear = add(linear, cross(angular, arm))
        angular = transposed_vector(matrix_at(work.rotation, root), angular)
        for j in range(3):
            v[first + j] += linear[j]
            v[first + 3 + j] += angular[j]


@kernel
def update_discrete_bias(
    tree: Tree,
    work: Workspace,
    q: NDArray[np.float64],
    v: NDArray[np.float64],
    momentum: NDArray[np.float64],
    dt: float,
) -> None:
    """`work.bias`: h of the module's first equation; after `update_kinematics` at (q, v) and `update_mass_matrix`.

    q is q_{k+1} and v is v_k; `momentum` is P(q_k, v_k) from `update_momentum`. In a forest each tree has its own.
    """
    update_bias_force(tree, work)
    for r in range(work.root.shape[0]):
        root = work.root[r]
        if tree.joint[root] != FREE:
            continue
        composite = work.composite[root:]
        first, last = work.root_velocity[r], work.root_velocity[r + 1]
        weight, weight_moment = weight_about_root(tree.gravity, composite)
        p, l = momentum_about_root(work.momentum_map[first:last], v[first:last])
        p_before = vector_at(momentum, 6 * r)
        l_before = add(vector_at(momentum, 6 * r + 3), cross(center_of_mass_from_root(composite), p_before))
        force = subtract(subtract(scale(1.0 / dt, subtract(p, p_before)), weight), row(work.force, root))
        moment = subtract(scale(1.0 / dt, subtract(l, l_before)), weight_moment)
        moment = subtract(moment, row_angular(work.force, root))
        linear, angular = locked_acceleration(composite, force, moment)
        for i in range(first, last):
            work.bias[i] += row_dot(work.momentum_map, i, linear, angular)
        for j in range(3):
            work.correction[6 * r + j], work.correction[6 * r + 3 + j] = linear[j], angular[j]
    update_stretch(tree, work, q)
    for i in range(v.shape[0]):
        work.bias[i] += tree.stiffness[i] * (work.stretch[i] + dt * v[i]) + tree.damping[i] * v[i]


@kernel
def update_discrete_equation(
    tree: Tree,
    work: Workspace,
    q: NDArray[np.float64],
    v: NDArray[np.float64],
    momentum: NDArray[np.float64],
    dt: float,
    implicit: NDArray[np.float64],
) -> None:
    """All of (M + diagonal) (v_{k+1} - v_k) / dt + bias = tau + J^T f at q = q_{k+1}, v = v_k, factored for `solve`.

    `implicit` (nv,) is what a controller adds to the diagonal, dt kd + dt^2 kp; zero where it does not, and on the six
    rows of a free root, which no motor drives. A simulator that calls `update_momentum` with v_{k+1} afterwards, while
    the workspace is still at q_{k+1}, has the next step's `momentum` without evaluating anything twice.
    """
    update_kinematics(tree, work, q, v)
    update_mass_matrix(tree, work)
    update_discrete_bias(tree, work, q, v, momentum, dt)
    for i in range(v.shape[0]):
        work.diagonal[i] = dt * (tree.damping[i] + dt * tree.stiffness[i]) + implicit[i]
    factorize(tree, work)


@kernel
def advance(
    tree: Tree,
    work: Workspace,
    q: NDArray[np.float64],
    v: NDArray[np.float64],
    tau: NDArray[np.float64],
    contact_body: NDArray[np.int64],
    contact_point: NDArray[np.float64],
    contact_force: NDArray[np.float64],
    dt: float,
    implicit: NDArray[np.float64],
    q_next: NDArray[np.float64],
    v_next: NDArray[np.float64],
) -> None:
    """One step from (q, v) under the generalised force `tau` (nv,) and forces at points of bodies.

    Contact c is a force in the world, `contact_force` (nc, 3), on the point `contact_point` (nc, 3) of the frame of
    body `contact_body` (nc,). Leaves the workspace at (q_next, v).
    """
    update_kinematics(tree, work, q, v)
    update_mass_matrix(tree, work)
    update_momentum(work, v)
    integrate_positions(tree, q, v, dt, q_next)
    update_discrete_equation(tree, work, q_next, v, work.momentum, dt, implicit)
    for i in range(v.shape[0]):
        v_next[i] = tau[i] - work.bias[i]
    for c in range(contact_body.shape[0]):
        b = contact_body[c]
        point = world_point(work, b, row(contact_point, c))
        add_point_force(tree, work, b, point, row(contact_force, c), v_next)
    solve(tree, work, v_next)
    for i in range(v.shape[0]):
        v_next[i] = v[i] + dt * v_next[i]
