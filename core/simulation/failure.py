# SPDX-License-Identifier: GPL-3.0-or-later
"""A step that failed, with all that is needed to take it again: what a trace keeps, and `replay` runs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import archive, trace
from ..character import Character
from ..contact.terrain import Terrain
from .grabs import Grab
from .law import AffineLaw
from .props import Prop
from .pushes import Push
from .strength import TorqueLimits
from .workspace import Memory

FORMAT = "heft.step"
VERSION = 4
FAILED = "failed step"  # what a trace calls it


@dataclass(frozen=True, eq=False)
class WorldArguments:
    """The arguments of a `World`, by their names."""

    character: Character
    terrain: Terrain
    friction: float
    rate: float
    props: tuple[Prop, ...]
    grabs: tuple[Grab, ...]
    pushes: tuple[Push, ...]
    contacts: str
    sides: int
    restitution: float
    margin: float
    depth: float
    pairs: tuple[tuple[str, str], ...] | None
    max_contacts: int
    torque_limits: TorqueLimits | None
    inside: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class FailedStep:
    """A world before the step, and what it was given."""

    world: WorldArguments
    state: Memory  # what the step before left for a start included
    law: AffineLaw | None  # None: no torques, or a controller that gave no law
    reason: str  # why there was no valid state


def note_failure(
    world: WorldArguments, state: Mapping[str, NDArray[np.generic]], law: AffineLaw | None, reason: str
) -> None:
    """Write it to the trace."""
    failed = FailedStep(world, Memory(**state), law, reason)  # type: ignore[arg-type]  # each is of its kind
    content = archive.pack(failed, FailedStep, FORMAT, VERSION)
    trace.note(
        FAILED,
        step=int(failed.state.steps[0]),
        time=float(failed.state.clock[0]),
        reason=reason,
        state=trace.to_text(content),
    )


def read_failure(text: object) -> FailedStep:
    """What a trace's line has as its `state`; ValueError where it is none."""
    try:
        return archive.unpack(FailedStep, trace.from_text(text), FORMAT, VERSION)
    except archive.UNREADABLE as error:
        raise ValueError(f"The state of a failed step cannot be read: {' '.join(str(error).split())[:300]}") from error
