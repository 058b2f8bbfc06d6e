# SPDX-License-Identifier: GPL-3.0-or-later
"""The program in its reduced form beside eq. 3.9 as it is printed, solved by OSQP: a part of the study of balance."""

import time
from typing import Any

import numpy as np
import osqp
from heft.core.control.balance import Balance
from heft.core.control.balance.program import ROOT, Program, solve_program
from heft.core.control.track import Track
from heft.core.maths.kernel import allocating_kernel
from heft.core.motion.make_reference import make_reference
from heft.core.simulation import World
from heft.studies.lib.references import walking
from scipy import sparse

from tests.core.motion.skeletons import GOOD
from tests.core.motion.walkers import captured

RATE = 120.0
LASTS = 2.0  # s
REPEATS = 20
CLIPS = ("02_01", "20_06")

TITLE = """
## The program

Processor time of every step over two seconds. Reduced: accelerations eliminated, contacts soft. Printed:
accelerations, torques and forces together, eq. 3.9b and 3.9c as equalities, set up and solved by OSQP with its usual
tolerance of 1e-3 and at most 4000 iterations. Residual: the largest of the root's six equations (N, N m) and of forces
outside their cones (N); for OSQP only where it reports "solved".
"""
HEAD = (
    "| walk | unknowns | reduced us, median | p99 | left over: root | cones | printed us, median | p99 | solved | "
    "left over: root | cones |"
)


@allocating_kernel
def _again(program: Program, M: Any, bias: Any, rows: int, edges: int, times: int) -> bool:
    solved = True
    for _ in range(times):
        solved = solve_program(program, M, bias, rows, edges) and solved
    return solved


def printed(program: Program, M: Any, bias: Any, limbs: int, rows: int, forces: Any) -> tuple[float, bool, Any, Any]:
    """Seconds, whether it converged, accelerations and shares of the literal form."""
    nv, nx = len(bias), forces.shape[1]
    J, weight = program.rows[:limbs], program.weight[:limbs]
    contact = program.rows[limbs:rows]
    size = 2 * nv - ROOT + nx
    P = np.zeros((size, size))
    P[:nv, :nv] = np.eye(nv) + J.T @ (weight[:, None] * J)
    q = np.zeros(size)
    q[:nv] = -program.target - J.T @ (weight * program.aim[:limbs])
    motors = np.zeros((nv, nv - ROOT))
    motors[ROOT:] = np.eye(nv - ROOT)
    A = np.zeros((nv + len(contact) + nx, size))
    A[:nv] = np.hstack((M, -motors, -forces))
    A[nv : nv + len(contact), :nv] = contact
    A[nv + len(contact) :, -nx:] = np.eye(nx)
    equal = np.concatenate((-bias, program.aim[limbs:rows]))
    lower, upper = np.concatenate((equal, np.zeros(nx))), np.concatenate((equal, np.full(nx, np.inf)))
    begun = time.thread_time()
    solver = osqp.OSQP()
    solver.setup(
        sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(A), lower, upper, verbose=False, adaptive_rho_interval=25
    )
    found = solver.solve(raise_error=False)
    took = time.thread_time() - begun
    return took, found.info.status == "solved", found.x[:nv], found.x[-nx:]


def row(name: str, controller: Balance) -> str:
    """The figures of a walk."""
    world = World(controller.character, rate=RATE)
    world.reset(*controller.reference_state())
    reduced, literal, solved, unknowns = [], [], [], []
    misses = np.zeros((2, 2))  # of both forms: root, cones
    for _ in range(round(LASTS * RATE)):
        contacts, state = world.begin_step(), world.state()
        if not reduced:
            controller.law(state, contacts)
            controller.seek()
        program = controller._scratch.program
        program.weight[:] = 0.0
        law = controller.law(state, contacts)
        M, bias, n = state.work.mass_matrix.copy(), state.work.bias.copy(), controller.edges
        rows = int(np.count_nonzero(program.weight))
        limbs = rows - int(np.count_nonzero(program.weight == controller.settings.contact))
        own = program.acceleration.copy(), program.share[:n].copy()
        begun = time.thread_time()
        assert _again(program, M, bias, rows, n, REPEATS)
        reduced.append((time.thread_time() - begun) / REPEATS)
        if n > 0:
            at, edge = controller._scratch.edge_row[:n], controller._scratch.edge[:n]
            forces = np.stack([program.rows[k : k + 3].T @ e for k, e in zip(at, edge, strict=True)], axis=1)
            took, good, *other = printed(program, M, bias, limbs, rows, forces)
            literal.append(took)
            solved.append(good)
            unknowns.append(2 * len(bias) - ROOT + n)
            for form, (a, share) in enumerate((own, other)):
                if form == 0 or good:
                    root = np.abs(M[:ROOT] @ a + bias[:ROOT] - forces[:ROOT] @ share).max()
                    misses[form] = np.maximum(misses[form], (root, max(0.0, -share.min())))
        world.step(law)
    us = [1e6 * np.percentile(times, share) for times in (reduced, literal) for share in (50, 99)]
    left = [f"{miss:.1e}" for miss in misses.ravel()]
    return (
        f"| {name} | {np.median(unknowns):.0f} | {us[0]:.0f} | {us[1]:.0f} | {left[0]} | {left[1]} | {us[2]:.0f} | "
        f"{us[3]:.0f} | {100 * np.mean(solved):.0f} % | {left[2]} | {left[3]} |"
    )


def sections() -> list[str]:
    """The page's part."""
    walks = {"made, 1 m/s": walking()} | {name: make_reference(*captured(name)).reference for name in CLIPS if GOOD}
    rows = [row(name, Balance(walk.character, Track.of(walk))) for name, walk in walks.items()]
    return [TITLE, HEAD, f"|{'---|' * 11}", *rows]
