# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand contact problems of the simulator, solved by ours and by Drake's Moby solver.

They come from muico29 standing under pushes and falling over, with stable PD gains that are strong at first and weak
later, half of them with a gain from contact forces to torques, which makes the matrix unsymmetric. Compared are the
velocities that the answers lead to along the rows, w = M z + q: where the answer is unique they are the same.
"""

import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from heft.core import dynamics
from heft.core.character import Character
from heft.core.contact import lcp
from heft.core.contact.lcp import solve_lcp
from heft.core.contact.terrain import Plane
from heft.core.simulation import AffineLaw, World


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


def ours(problems: list[Recorded]) -> tuple[list[np.ndarray], list[float], list[float], list[int]]:
    """Answers, residuals, times of a warm call in us, and which were not solved."""
    workspace = lcp.make_workspace(max(len(problem.vector) for problem in problems))
    answers, residuals, times, lost = [], [], [], []
    for i, (M, q, guess) in enumerate(problems):
        best = np.inf
        for _ in range(5):
            workspace.basis[: len(q)] = guess
            start = time.perf_counter()
            status, _, _ = lcp.solve(workspace, M, q, len(q), lcp.AUTO, True)
            best = min(best, time.perf_counter() - start)
        z = workspace.z[: len(q)].copy()
        if status != 0:
            lost.append(i)
        answers.append(z)
        residuals.append(natural_residual(M, q, z))
        times.append(1e6 * best)
    return answers, residuals, times, lost


def theirs(problems: list[Recorded]) -> tuple[list[np.ndarray | None], list[float]]:
    """Drake's answers, None where it has none, and times in us of solving a program that was made before."""
    from pydrake.solvers import MathematicalProgram, MobyLcpSolver

    solver = MobyLcpSolver()
    answers: list[np.ndarray | None] = []
    times = []
    for M, q, _ in problems:
        program = MathematicalProgram()
        unknowns = program.NewContinuousVariables(len(q))
        program.AddLinearComplementarityConstraint(M, q, unknowns)
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            result = solver.Solve(program)
            best = min(best, time.perf_counter() - start)
        answers.append(result.GetSolution(unknowns) if result.is_success() else None)
        times.append(1e6 * best)
    return answers, times


def study(_folder: Path, count: int = 1000) -> str:
    """The page."""
    problems = record(count)
    answers, residuals, times, lost = ours(problems)
    moby, moby_times = theirs(problems)
    sizes = [len(problem.vector) for problem in problems]
    differences, valid = [], 0
    for (M, q, _), z, other in zip(problems, answers, moby, strict=True):
        if other is not None and natural_residual(M, q, other) < 1e-6:
            valid += 1
            rows = np.diag(M) > 0.0  # cones are not velocities
            differences.append(float(np.abs((M @ (z - other))[rows]).max()))
    same = sum(difference < 1e-6 for difference in differences)
    at_48 = [t for t, n in zip(times, sizes, strict=True) if 46 <= n <= 54]
    lines = [
        "# Recorded contact problems",
        "",
        " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
        "",
        f"| {count} problems of {min(sizes)} to {max(sizes)} unknowns | ours | Drake |",
        "|---|---|---|",
        f"| unsolved | {len(lost)} | {count - valid} (no answer, or a residual above 1e-6) |",
        f"| largest residual, scaled | {max(residuals):.2g} | |",
        f"| median time | {statistics.median(times):.1f} us | {statistics.median(moby_times):.1f} us |",
        f"| median time of those of 46 to 54 unknowns | {statistics.median(at_48):.1f} us ({len(at_48)}) | |",
        "",
        f"Of the {valid} that both solve, {same} lead to the same velocities along all rows within 1e-6 m/s. Others",
        "have more than one answer: M is not positive semidefinite with friction, and a problem may have several.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page."""
    sys.stdout.write(study(Path()))


if __name__ == "__main__":
    main()
