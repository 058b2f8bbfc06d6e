# SPDX-License-Identifier: GPL-3.0-or-later
"""The complementarity solver beside Drake's Moby solver, on contact problems of one and two feet (n = 24, 48).

Each call solves the next of fifty problems, so that the branch predictor does not learn one by heart. Ours is called
through its kernel as the stepper does, Drake's through the program that its Python interface asks for.
"""

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from harness import Row, measure
from heft.core.contact import lcp

sys.path.append(str(Path(__file__).parents[1] / "core" / "contact"))
from lcp_problems import ContactProblem, character_on_feet


def ours(problems: list[ContactProblem], method: int, warm: bool) -> Callable[[], object]:
    n = len(problems[0].q)
    workspace = lcp.make_workspace(n)
    prepared = []
    for problem in problems:
        basis = lcp.solve_lcp(problem.M, problem.q).basis
        # A step later velocities have changed a little and contacts have not.
        prepared.append((problem.M, problem.q * 1.001, basis))
    turn = itertools.cycle(prepared)

    def call() -> object:
        M, q, basis = next(turn)
        if warm:
            workspace.basis[:n] = basis
        return lcp.solve(workspace, M, q, n, method, warm)

    return call


def moby(problems: list[ContactProblem]) -> Callable[[], object] | None:
    if importlib.util.find_spec("pydrake") is None:
        return None
    from pydrake.solvers import MathematicalProgram, MobyLcpSolver

    solver = MobyLcpSolver()
    programs = []
    for problem in problems:
        program = MathematicalProgram()
        unknowns = program.NewContinuousVariables(len(problem.q))
        program.AddLinearComplementarityConstraint(problem.M, problem.q, unknowns)
        programs.append(program)
    turn = itertools.cycle(programs)
    return lambda: solver.Solve(next(turn))


def rows() -> Iterator[Row]:
    for feet in (1, 2):
        rng = np.random.default_rng(0)
        problems = [character_on_feet(rng, feet=feet, gaps=k % 2 == 0) for k in range(50)]
        theirs = moby(problems)
        reference_us = measure(theirs)[0] if theirs else None
        reference = "Drake MobyLcpSolver" if theirs else None
        for name, method, warm in (
            ("Lemke", lcp.LEMKE, False),
            ("auto", lcp.AUTO, False),
            ("auto, warm", lcp.AUTO, True),
            ("interior point", lcp.INTERIOR_POINT, False),
        ):
            median, p99 = measure(ours(problems, method, warm))
            yield Row(f"LCP n = {24 * feet}, {name}", median, p99, reference, reference_us)
