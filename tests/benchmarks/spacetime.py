# SPDX-License-Identifier: GPL-3.0-or-later
"""References: one iteration's parts, and whole solutions beside the duration of the motion itself.

A ratio below 1 is faster than the motion plays. Motions are procedural walks at 120 Hz; a stride takes 1.1 s.
"""

from collections.abc import Iterator

import numpy as np
from harness import Row, measure
from heft.core.motion.fit import Trajectory
from heft.core.motion.spacetime import Ends, build_reference, ends, model
from heft.core.motion.spacetime.problem import make_iterate
from heft.core.motion.spacetime.request import checked, problem_of
from heft.core.motion.spacetime.riccati import make_programme, make_riccati_workspace

from tests.core.motion.spacetime import motions


def whole(motion, bounds: Ends, seconds: float) -> Row:
    """A reference from a clip."""
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    reference = build_reference(motion.character, trajectory, motion.schedule, bounds=bounds)

    def build() -> None:
        build_reference(motion.character, trajectory, motion.schedule, bounds=bounds)

    duration = reference.steps / reference.rate
    kind = "cycle" if bounds.cycle else "free ends"
    name = f"{motion.character.name}, {duration:.1f} s, {kind}, {reference.quality.iterations} iterations"
    return Row(f"reference: {name}", *measure(build, seconds), "the motion's own duration", duration * 1e6)


def parts(motion) -> Iterator[Row]:
    """What one iteration consists of."""
    character, tree = motion.character, motion.character.tree
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    problem = problem_of(checked(character, trajectory, motion.schedule, None, None, None))
    iterate = make_iterate(character, problem, 0.03)
    work = model.make_model_workspace(tree, len(problem.point_body))
    group = np.column_stack((work.dynamics.group_first, work.dynamics.group_last))
    controls = character.nv - problem.motors_start + 3 * problem.force_count
    programme = make_programme(group, controls, int(controls.max()))
    riccati = make_riccati_workspace(character.nv, int(controls.max()))
    damping, zero = np.zeros(len(problem.held)), np.zeros(2 * character.nv)
    defect = np.zeros_like(programme.defect)

    def fill() -> None:
        model.fill_programme(tree, problem, iterate, work, programme, 0.03, damping, 0, len(defect))

    def factor(*, cycle: bool):
        F = np.eye(2 * character.nv) if cycle else None
        return ends.factor(programme, riccati, start_pinned=False, end_bound=cycle, cycle=F)

    def fill_and_factor(*, cycle: bool = False) -> None:
        fill()
        factor(cycle=cycle)

    def correct() -> None:
        ends.solve(system, programme, riccati, zero, zero)
        model.fill_defects(tree, problem, iterate, work, defect, 0, len(defect))

    name = f"{character.name}, {len(problem.held) - 1} frames"
    yield Row(f"linearization and cost: {name}", *measure(fill))
    yield Row(f"the same and factors: {name}", *measure(fill_and_factor))
    yield Row(f"the same as a cycle: {name}", *measure(lambda: fill_and_factor(cycle=True)))
    fill()
    system = factor(cycle=False)
    yield Row(f"correction with kept factors: {name}", *measure(correct))


def rows() -> Iterator[Row]:
    """Parts, then both characters, then length."""
    for name in ("muico29", "jain42"):
        motion = motions.walk(name=name)
        yield from parts(motion)
        yield whole(motion, Ends(), 1.0)
        yield whole(motion, Ends(cycle=motion.cycle), 1.0)
    for strides in (2, 4, 9, 18):
        yield whole(motions.walk(strides=strides), Ends(), 1.0)
