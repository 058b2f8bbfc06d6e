# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand contact problems of the simulator, solved by ours and by Drake's Moby solver.

Recorded from muico29 standing under pushes and falling over, with stable PD gains that are strong at first and weak
later; half of them have a gain from contact forces to torques, which makes the matrix unsymmetric. Compared are the
resulting velocities along the rows, w = M z + q: where the solution is unique, they agree. Warm starts from the basis
of the previous step, as in the simulator. Drake is called through its Python binding; the problem with one unknown
shows what that costs.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core import dynamics
from heft.core.character import Character
from heft.core.contact import lcp
from heft.core.contact.lcp import solve_lcp
from heft.core.contact.terrain import Plane
from heft.core.simulation import AffineLaw, World

# Velocities nearer than this are the same, m/s.
SAME = 1e-6


class Recorded(NamedTuple):
    """One problem as the stepper had it."""

    matrix: np.ndarray
    vector: np.ndarray
    guess: np.ndarray  # basis of the step before, matched by position


class Spring:
    """Stable PD towards the neutral pose; `gain` answers contact forces."""

    def __init__(self, character, stiffness, gain, rng):
        self.character = character
        self.stiffness, self.damping = stiffness, 0.1 * stiffness
        self.pattern = gain * rng.normal(size=(character.nv - 6, 3))

    def law(self, state, contacts):
        error = dynamics.difference(self.character, state.q_next, self.character.neutral())[6:]
        torque = self.stiffness * (error - state.dt * state.v[6:]) - self.damping * state.v[6:]
        implicit = np.full(len(torque), state.dt * self.damping + state.dt**2 * self.stiffness)
        return AffineLaw(torque, np.tile(self.pattern, int(contacts.filled[0])), implicit)


def record(count: int) -> list[Recorded]:
    """Problems of many short simulations; the same for the same count."""
    character = Character.preset("muico29")
    rng = np.random.default_rng(0)
    problems: list[Recorded] = []
    before = np.zeros(0, dtype=bool)
    while len(problems) < count:
        world = World(character, [Plane(friction=float(rng.uniform(0.3, 1.2)))])
        world.reset(character.neutral(), 0.3 * rng.normal(size=character.nv))
        controller = Spring(character, float(rng.choice([20.0, 100.0, 500.0])), float(rng.choice([0.0, 0.003])), rng)
        world.apply_impulse("torso", 15.0 * rng.normal(size=3))
        for step in range(120):
            world.step(controller)
            if not world.lcp_unknowns:
                continue
            matrix, vector = world.contact_problem()
            guess = before if len(before) == len(vector) else np.zeros(len(vector), dtype=bool)
            before = solve_lcp(matrix, vector, guess=guess).basis
            before = guess if before is None else before
            if step % 3 == 0:
                problems.append(Recorded(matrix, vector, guess))
    return problems[:count]


def natural_residual(M: np.ndarray, q: np.ndarray, z: np.ndarray) -> float:
    """max |min(z, M z + q)|, with diagonals of M scaled to one."""
    diagonal = np.diag(M)
    r = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 1.0)
    s = max(np.abs(r * q).max(), 1e-300)
    return float(np.abs(np.minimum(z / r / s, r * (M @ z + q) / s)).max())


class Answers(NamedTuple):
    """What a solver made of all problems."""

    z: list[np.ndarray | None]  # None where there is none
    residual: list[float]  # natural, scaled; infinite without an answer
    time: list[float]  # us, the best of several calls


def ours(problems: list[Recorded], warm: bool) -> Answers:
    """AUTO, from the basis of the step before or from nothing."""
    workspace = lcp.make_workspace(max(len(problem.vector) for problem in problems))
    answers = Answers([], [], [])
    for M, q, guess in problems:
        best = np.inf
        for _ in range(5):
            workspace.basis[: len(q)] = guess
            start = time.perf_counter()
            status, _, _ = lcp.solve(workspace, M, q, len(q), lcp.AUTO, warm)
            best = min(best, time.perf_counter() - start)
        add(answers, M, q, workspace.z[: len(q)].copy() if status == 0 else None, best)
    return answers


def theirs(problems: list[Recorded]) -> Answers:
    """Drake's Moby solver, on a program that was made before."""
    from pydrake.solvers import MathematicalProgram, MobyLcpSolver

    solver = MobyLcpSolver()
    answers = Answers([], [], [])
    for M, q, _ in problems:
        program = MathematicalProgram()
        unknowns = program.NewContinuousVariables(len(q))
        program.AddLinearComplementarityConstraint(M, q, unknowns)
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            result = solver.Solve(program)
            best = min(best, time.perf_counter() - start)
        add(answers, M, q, result.GetSolution(unknowns) if result.is_success() else None, best)
    return answers


def add(answers: Answers, M: np.ndarray, q: np.ndarray, z: np.ndarray | None, seconds: float) -> None:
    """Judge one answer."""
    answers.z.append(z)
    answers.residual.append(np.inf if z is None else natural_residual(M, q, z))
    answers.time.append(1e6 * seconds)


def row(what: str, *columns: str) -> str:
    """One line of the table."""
    return "| " + " | ".join((what, *columns)) + " |"


def study(_folder: Path, count: int = 1000) -> str:
    """The page."""
    problems = record(count)
    sizes = np.array([len(problem.vector) for problem in problems])
    trivial = [Recorded(np.eye(1), np.array([-1.0]), np.array([True]))] * 20
    solvers = {"ours, warm": ours(problems, True), "ours, cold": ours(problems, False), "Drake": theirs(problems)}
    least = [ours(trivial, True), ours(trivial, False), theirs(trivial)]
    about_48 = (sizes >= 46) & (sizes <= 54)

    def each(figure: Callable[[Answers], str]) -> list[str]:
        return [figure(answers) for answers in solvers.values()]

    different, apart, worst = 0, 0.0, 0.0
    for k, (M, _, _) in enumerate(problems):
        z, other = solvers["ours, warm"].z[k], solvers["Drake"].z[k]
        if z is None or other is None:
            continue
        rows = np.diag(M) > 0.0  # cones are not velocities
        difference = float(np.abs((M @ (z - other))[rows]).max())
        if difference > SAME:
            different += 1
            apart = max(apart, difference)
            worst = max(worst, solvers["ours, warm"].residual[k], solvers["Drake"].residual[k])
    lines = [
        "# Recorded contact problems",
        "",
        " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
        "",
        row(f"{count} problems of {sizes.min()} to {sizes.max()} unknowns", *solvers),
        "|---|" + "---|" * len(solvers),
        row("unsolved", *each(lambda answers: str(sum(z is None for z in answers.z)))),
        row("largest residual, scaled", *each(lambda answers: f"{max(answers.residual):.2g}")),
        row("median time", *each(lambda answers: f"{statistics.median(answers.time):.1f} us")),
        row(
            f"median time of the {about_48.sum()} of 46 to 54 unknowns",
            *each(lambda answers: f"{np.median(np.array(answers.time)[about_48]):.1f} us"),
        ),
        row("99th percentile of the time", *each(lambda answers: f"{np.percentile(answers.time, 99):.0f} us")),
        row("time of a problem of one unknown", *(f"{statistics.median(answers.time):.1f} us" for answers in least)),
        "",
        f"Both lead to the same velocities along all rows within {SAME:g} m/s in {count - different} problems.",
    ]
    if different:
        lines.append(
            f"In the other {different} both answers are right, with residuals of at most {worst:.2g}, and up to "
            f"{apart:.2g} m/s apart: with friction M is not positive semidefinite, and there may be several."
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page."""
    sys.stdout.write(study(Path()))


if __name__ == "__main__":
    main()
