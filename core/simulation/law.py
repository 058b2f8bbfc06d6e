# SPDX-License-Identifier: GPL-3.0-or-later
"""What a controller tells the stepper: joint torque as an affine function of the contact forces about to be found.

The stepper reads these values, so they live here; the control room gives them on under its own name.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..character.tree import Tree
from ..contact.detection import Contacts
from ..dynamics.workspace import Workspace
from .workspace import Machine


@dataclass(frozen=True, eq=False)
class AffineLaw:
    """torque + contact_gain f - implicit (v_{k+1} - v_k) / dt, with f the forces at the contact candidates.

    In Muico et al. 2009, eq. 14 and 20, `torque` is tau~ - C B~_c chi~ and `contact_gain` C B_c in the world's axes.
    """

    torque: NDArray[np.float64]  # (motors,), one per velocity of the character that a motor drives; or (nv,)
    contact_gain: NDArray[np.float64] | None = None  # (motors, 3 n) n candidates' forces in the world; None: no gain
    implicit: NDArray[np.float64] | None = None  # (motors,) added to M's diagonal: dt kd + dt^2 kp of a stable PD


class State(NamedTuple):
    """What a controller sees before the step from k to k + 1; views into the world's arrays, not to be written to.

    Muico et al. 2009 evaluate everything at q_{k+1} = q_k (+) dt v_k, and so does the workspace: kinematics with v_k,
    mass matrix, discrete bias and factor of the equation of motion. The character's bodies and velocities come first in
    `tree` and `work`, props follow. `machine` is for a controller that asks what a law would meet (forecast.py).
    """

    time: float  # at k, s
    dt: float  # s
    q: NDArray[np.float64]  # (nq,) q_k of the character
    v: NDArray[np.float64]  # (nv,) v_k
    q_next: NDArray[np.float64]  # (nq,) q_{k+1}
    tree: Tree
    work: Workspace
    machine: Machine  # the stepper's own


class NoLawError(RuntimeError):
    """A controller has no law for a step: its numbers are no longer finite. The text says which."""


class Controller(Protocol):
    """The one door between control and simulation."""

    def law(self, state: State, contacts: Contacts) -> AffineLaw:
        """The law for one step, or NoLawError; the first `contacts.filled[0]` rows are the candidates."""
        ...
