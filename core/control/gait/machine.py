# SPDX-License-Identifier: GPL-3.0-or-later
"""The law's structures behind one pointer, as the stepper's are (simulation/machine.py, which says why)."""

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from ...character.tree import Tree
from ...contact.detection import Contacts
from ...dynamics.workspace import Workspace
from ...maths.kernel import allocating_kernel
from .biped import Biped
from .evaluation import update_law
from .workspace import Memory, Scratch, Walk

Array = NDArray[np.float64]


@structref.register
class _MachineType(types.StructRef):
    """The type of a machine, as the compiler sees it."""


class Machine(structref.StructRefProxy):
    """All that a law reads and writes; made by `make_machine`."""

    def __new__(
        cls,
        tree: Tree,
        bodies: Workspace,
        contacts: Contacts,
        biped: Biped,
        walk: Walk,
        memory: Memory,
        work: Scratch,
    ) -> Any:
        """Inside compiled code only, where this name stands for the compiled constructor."""
        return structref.StructRefProxy.__new__(cls, tree, bodies, contacts, biped, walk, memory, work)  # type: ignore[no-untyped-call]


FIELDS = ["tree", "bodies", "contacts", "biped", "walk", "memory", "work"]
structref.define_proxy(Machine, _MachineType, FIELDS)  # type: ignore[no-untyped-call]


@allocating_kernel
def make_machine(
    tree: Tree,
    bodies: Workspace,
    contacts: Contacts,
    biped: Biped,
    walk: Walk,
    memory: Memory,
    work: Scratch,
) -> Any:
    """Take the structures apart, once."""
    return Machine(tree, bodies, contacts, biped, walk, memory, work)


@allocating_kernel
def evaluate(machine: Any, q_next: Array, v: Array, dt: float) -> bool:
    """`evaluation.update_law`."""
    return update_law(
        machine.tree,
        machine.bodies,
        machine.contacts,
        machine.biped,
        machine.walk,
        machine.memory,
        machine.work,
        q_next,
        v,
        dt,
    )
