# SPDX-License-Identifier: GPL-3.0-or-later
"""The evaluation's structures behind one pointer, as the stepper's are (simulation/machine.py, which says why)."""

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.detection import Contacts
from ...dynamics.workspace import Workspace
from ...maths.kernel import allocating_kernel
from . import height
from .evaluation import Array, update_law
from .precompute import Policy
from .workspace import Scratch


@structref.register
class _MachineType(types.StructRef):
    """The type of a machine, as the compiler sees it."""


class Machine(structref.StructRefProxy):
    """A policy, what it is evaluated on, and scratch arrays; made by `make_machine`."""

    def __new__(cls, tree: Tree, bodies: Workspace, contacts: Contacts, policy: Policy, work: Scratch) -> Any:
        """Inside compiled code only, where this name stands for the compiled constructor."""
        return structref.StructRefProxy.__new__(cls, tree, bodies, contacts, policy, work)  # type: ignore[no-untyped-call]


structref.define_proxy(Machine, _MachineType, ["tree", "bodies", "contacts", "policy", "work"])  # type: ignore[no-untyped-call]


@allocating_kernel
def make_machine(tree: Tree, bodies: Workspace, contacts: Contacts, policy: Policy, work: Scratch) -> Any:
    """Take the structures apart, once."""
    return Machine(tree, bodies, contacts, policy, work)


@allocating_kernel
def evaluate(
    machine: Any,
    k: int,
    anchor: Array,
    q: Array,
    v: Array,
    q_next: Array,
    dt: float,
    adaptation: float,
    linear: bool,
    about_reference: bool,
    possible_forces: bool,
) -> bool:
    """`evaluation.update_law`."""
    return update_law(
        machine.tree,
        machine.bodies,
        machine.contacts,
        machine.policy,
        machine.work,
        k,
        anchor,
        q,
        v,
        q_next,
        dt,
        adaptation,
        linear,
        about_reference,
        possible_forces,
    )


@allocating_kernel
def ground_height(machine: Any, loaded: NDArray[np.bool_], heights: Array) -> float:
    """`height.ground_height`."""
    policy = machine.policy
    return height.ground_height(machine.bodies, machine.contacts, loaded, policy.body, policy.local, heights)
