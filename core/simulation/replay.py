# SPDX-License-Identifier: GPL-3.0-or-later
"""A traced step taken again: whether it fails as it did, and where the contact problem's answer misses most."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import trace
from ..contact.lcp import LcpStatus
from .failure import FAILED, FailedStep, read_failure
from .law import AffineLaw
from .world import DivergedError, World

Array = NDArray[np.float64]

UNSEEN = -2  # of a group: not among those of the step


class Finding(NamedTuple):
    """What a step gave."""

    reason: str  # why it failed; empty where it did not
    status: str  # of the contact problem
    unknowns: int
    lcp_residual: float  # the solver's, of the scaled problem
    residual: float  # worst miss of a row, m/s or rad/s; inf where there is no answer
    worst: str  # the row that misses most, of the answer or else without impulses; empty where none does
    miss: float  # by which it does, of the problem's own units
    not_finite: tuple[str, ...]  # joints whose torque is no finite number


def replay(failed: FailedStep) -> Finding:
    """Take the step again, in a world of the same make and in the same state."""
    with trace.paused():
        world = _Examined(**vars(failed.world))
        world.load_state(failed.state._asdict())
        return world.examine(failed.law)


def tell(path: str | Path) -> Iterator[str]:
    """What a trace holds, and what becomes of each of its failed steps, line by line."""
    lines = trace.read(path)
    steps = [line for line in lines if line["what"] == FAILED]
    yield f"{Path(path).name}: {len(lines)} lines, {len(steps)} failed steps."
    for number, line in enumerate(steps, 1):
        failed = read_failure(line.get("state"))
        found = replay(failed)
        yield (
            f"{number}. Step {int(failed.state.steps[0])} at {float(failed.state.clock[0]):.4f} s of "
            f"'{failed.world.character.name}': {failed.reason}"
        )
        yield f"   again: {found.reason or 'it succeeds here.'}"
        yield (
            f"   contact problem: {found.unknowns} unknowns, {found.status}, scaled residual {found.lcp_residual:.2g}, "
            f"worst miss {found.residual:.2g} m/s"
        )
        if found.worst:
            yield f"   worst row: {found.worst}, by {found.miss:.2g}"
        if found.not_finite:
            yield f"   no finite torque at: {', '.join(found.not_finite)}"


class _Examined(World):
    """A world that says what its step found."""

    def examine(self, law: AffineLaw | None) -> Finding:
        """Take one step."""
        self._scratch.groups.first[:] = UNSEEN
        reason = ""
        try:
            self.step(law)
        except DivergedError as error:
            reason = error.reason
        except ValueError as error:
            reason = str(error)
        worst, miss = self._worst_row()
        return Finding(
            reason=reason,
            status=LcpStatus(int(self._scratch.outcome.counts[0])).name,
            unknowns=self.lcp_unknowns,
            lcp_residual=self.lcp_residual,
            residual=self.residual,
            worst=worst,
            miss=miss,
            not_finite=() if law is None else self._not_finite(law),
        )

    def _worst_row(self) -> tuple[str, float]:
        """The unknown that misses min(z, w) = 0 most, w = M z + q; what is no number misses by infinity.

        Without an answer z it is the row that is missed most where no impulse acts.
        """
        matrix, vector = self.contact_problem()
        if len(vector) == 0:
            return "", 0.0
        z = self._scratch.lcp.z[: len(vector)]
        z = z if np.isfinite(z).all() else np.zeros_like(z)
        misses = np.abs(np.minimum(z, matrix @ z + vector))
        misses[~np.isfinite(misses)] = np.inf
        worst = int(np.argmax(misses))
        return (self._row_name(worst), float(misses[worst])) if misses[worst] > 0.0 else ("", 0.0)

    def _row_name(self, unknown: int) -> str:
        """What an unknown of the contact problem stands for."""
        groups, contacts = self._scratch.groups, self._scratch.contacts
        limits = int((groups.first != UNSEEN).sum()) - int(contacts.filled[0])
        group = max(
            (g for g in range(len(groups.first)) if 0 <= groups.first[g] <= unknown), key=lambda g: int(groups.first[g])
        )
        bodies = list(self.body_index)
        if group < limits:
            limit = int(groups.limit[group])
            return f"a limit of the joint of body '{bodies[int(self.system.limits.body[limit])]}'"
        contact, part = group - limits, unknown - int(groups.first[group])
        sides = self.system.settings.sides
        row = "normal" if part == 0 else "friction" if part <= sides else "sliding speed"
        other = int(contacts.other[contact])
        met = "the ground" if other < 0 else f"'{bodies[other]}'"
        return f"{row} of '{self.shapes[int(contacts.shape[contact])].name}' on {met}"

    def _not_finite(self, law: AffineLaw) -> tuple[str, ...]:
        """Joints whose torque is no number."""
        try:
            torque = self._generalised(law.torque, "torque")
        except ValueError:
            return ()
        own = self.system.tree.velocity_body[np.flatnonzero(~np.isfinite(torque))]
        return tuple(dict.fromkeys(self.character.bodies[b].joint.name for b in own))
