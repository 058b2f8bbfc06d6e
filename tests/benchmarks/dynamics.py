# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematics, mass matrix, bias, factor, step and its derivatives beside MuJoCo; growth with length; compile time.

Our kernels are called from kernels in use, so they are timed here in a compiled loop of `REPEATS` calls, which leaves
out the cost of one call from Python (converting some forty arrays, about as long as the kernels themselves). MuJoCo is
called from Python; its calls take one or two pointers, about a tenth of a microsecond each.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import mujoco
import numba
import numpy as np
from harness import Row, measure
from heft.core.character import Body, Character, Joint
from heft.core.dynamics.derivatives import make_derivative_workspace
from heft.core.dynamics.forces import update_bias_force
from heft.core.dynamics.inertia import factorize, solve, update_mass_matrix
from heft.core.dynamics.kinematics import integrate_positions, update_kinematics
from heft.core.dynamics.linearization import linearize
from heft.core.dynamics.stepping import advance
from heft.core.dynamics.workspace import make_workspace

REPEATS = 100
CONTACTS = 8  # two flat feet

loop = numba.njit(error_model="numpy")


@loop
def mass_matrix_and_bias(tree, work, q, v):
    for _ in range(REPEATS):
        update_kinematics(tree, work, q, v)
        update_mass_matrix(tree, work)
        update_bias_force(tree, work)


@loop
def factor(tree, work):
    for _ in range(REPEATS):
        factorize(tree, work)


@loop
def factor_and_solve(tree, work, x):
    for _ in range(REPEATS):
        factorize(tree, work)
        solve(tree, work, x)


@loop
def steps(tree, work, q, v, tau, body, point, force, dt, implicit, q_next, v_next):
    for _ in range(REPEATS):
        advance(tree, work, q, v, tau, body, point, force, dt, implicit, q_next, v_next)


@loop
def derivatives(tree, work, more, q, v, tau, body, point, force, dt, implicit, q_next, v_next, A, B):
    for _ in range(REPEATS):
        advance(tree, work, q, v, tau, body, point, force, dt, implicit, q_next, v_next)
        linearize(tree, work, more, q, v, body, point, force, dt, q_next, v_next, A, B)


def measure_loop(function: Callable[[], object]) -> tuple[float, float]:
    """Median and 99th percentile of one of the `REPEATS` calls inside."""
    median, last = measure(function)
    return median / REPEATS, last / REPEATS


def moving(character):
    """A pose a little away from rest, with velocities."""
    rng = np.random.default_rng(0)
    q = np.zeros(character.nq)
    integrate_positions(character.tree, character.neutral(), rng.normal(scale=0.3, size=character.nv), 1.0, q)
    return q, rng.normal(size=character.nv)


def loaded_in_mujoco(character, q, v):
    model = mujoco.MjModel.from_xml_string(character.to_mjcf(contacts=False))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    data.qpos, data.qvel = q, v
    mujoco.mj_forward(model, data)
    return model, data


def compare_mass_matrix_and_bias(name: str, character: Character) -> Row:
    q, v = moving(character)
    work = make_workspace(character.tree)
    ours = measure_loop(lambda: mass_matrix_and_bias(character.tree, work, q, v))
    model, data = loaded_in_mujoco(character, q, v)

    def theirs() -> None:
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)

    return Row(f"kinematics, M and h: {name}", *ours, "mj_fwdPosition + mj_fwdVelocity", measure(theirs)[0])


def chain(links: int) -> Character:
    """A hanging chain of hinges whose axes alternate."""
    bodies = []
    for i in range(links):
        joint = Joint(f"joint_{i}", "hinge", (((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))[i % 2],))
        parent, position = (None, (0.0, 0.0, 0.0)) if i == 0 else (f"link_{i - 1}", (0.0, 0.0, -0.1))
        inertia = np.diag([1e-3, 1e-3, 1e-4])
        bodies.append(Body(f"link_{i}", parent, joint, 0.5, inertia, (0.0, 0.0, -0.05), position))
    return Character(f"chain_{links}", tuple(bodies))


COMPILE = """
import time
start = time.perf_counter()
import numpy as np
from heft.core import dynamics
from heft.core.character import Character
from heft.core.dynamics.functions import PointForces
imported = time.perf_counter()
character = Character.preset("muico29")
q, v = character.neutral(), np.zeros(character.nv)
dynamics.step_derivatives(character, q, v, v[6:], 0.01, PointForces([0], [[0, 0, 0]], [[0, 0, 0]]))
dynamics.mass_matrix(character, q)
dynamics.bias_force(character, q, v)
dynamics.passive_force(character, q, v)
dynamics.forward_dynamics(character, q, v, v)
dynamics.difference(character, q, dynamics.integrate(character, q, v, 0.01))
dynamics.body_jacobian(character, q, 0)
dynamics.body_acceleration_bias(character, q, v, 0)
dynamics.center_of_mass(character, q)
dynamics.centroidal_momentum(character, q, v)
dynamics.centroidal_momentum_matrix(character, q)
dynamics.kinetic_energy(character, q, v)
dynamics.potential_energy(character, q)
print(time.perf_counter() - imported)
"""


def compile_seconds(cache: str) -> float:
    """Seconds until every kernel of this room has run once, in a new process, without the imports."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", COMPILE]
    return float(subprocess.run(command, capture_output=True, check=True, text=True, env=environment).stdout)


def rows() -> Iterator[Row]:
    """29 degrees of freedom first, then chains, then compile time."""
    character = Character.preset("muico29")
    tree = character.tree
    yield compare_mass_matrix_and_bias("muico29", character)

    q, v = moving(character)
    work, more = make_workspace(tree), make_derivative_workspace(tree)
    mass_matrix_and_bias(tree, work, q, v)
    model, data = loaded_in_mujoco(character, q, v)
    theirs = measure(lambda: mujoco.mj_factorM(model, data))[0]
    yield Row("factor of M: muico29", *measure_loop(lambda: factor(tree, work)), "mj_factorM", theirs)
    x = np.zeros(character.nv)
    yield Row("factor and one solve: muico29", *measure_loop(lambda: factor_and_solve(tree, work, x)))

    rng = np.random.default_rng(0)
    body = rng.integers(len(character.bodies), size=CONTACTS)
    point, force = rng.normal(scale=0.1, size=(CONTACTS, 3)), rng.normal(scale=100.0, size=(CONTACTS, 3))
    tau, implicit = rng.normal(size=character.nv), np.zeros(character.nv)
    q_next, v_next = np.zeros(character.nq), np.zeros(character.nv)
    arguments = (q, v, tau, body, point, force, 1.0 / 120.0, implicit, q_next, v_next)
    ours = measure_loop(lambda: steps(tree, work, *arguments))
    theirs = measure(lambda: step_again(model, data, q, v))[0]
    yield Row(f"step with {CONTACTS} given forces: muico29", *ours, "mj_step without contacts", theirs)

    A = np.zeros((2 * character.nv, 2 * character.nv))
    B = np.zeros((2 * character.nv, character.nv - 6 + 3 * CONTACTS))
    ours = measure_loop(lambda: derivatives(tree, work, more, *arguments, A, B))
    a, b = np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu))
    theirs = measure(lambda: mujoco.mjd_transitionFD(model, data, 1e-6, True, a, b, None, None))[0]
    yield Row(f"step and its A, B with {CONTACTS} forces: muico29", *ours, "mjd_transitionFD (A only)", theirs)

    for links in (5, 10, 20, 40, 80):
        yield compare_mass_matrix_and_bias(f"chain of {links}", chain(links))

    with tempfile.TemporaryDirectory() as cache:
        cold = compile_seconds(cache) * 1e6
        yield Row("compile all of dynamics, empty cache", cold, cold)
        warm = sorted(compile_seconds(cache) * 1e6 for _ in range(3))
        yield Row("load all of dynamics from the cache", warm[1], warm[2])


def step_again(model, data, q, v) -> None:
    """One MuJoCo step from the same state each time."""
    data.qpos, data.qvel = q, v
    mujoco.mj_step(model, data)
