# SPDX-License-Identifier: GPL-3.0-or-later
"""The stepper's structures behind one pointer.

A kernel called from Python takes its structures apart, and there are some two hundred arrays in them: that costs more
than the step. Here they are taken apart once, and kept where compiled code finds them by a single pointer (numba's
`structref`). The arrays are the same ones, so what a step writes is seen on both sides.
"""

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref
from numpy.typing import NDArray

from ..maths.kernel import allocating_kernel
from . import stepper
from .workspace import Memory, Scratch, System


@structref.register
class _MachineType(types.StructRef):
    """The type of a machine, as the compiler sees it."""


class Machine(structref.StructRefProxy):
    """A system, its memory and its scratch arrays; made by `make_machine`."""

    def __new__(cls, system: System, memory: Memory, scratch: Scratch) -> Any:
        """Inside compiled code only, where this name stands for the compiled constructor."""
        return structref.StructRefProxy.__new__(cls, system, memory, scratch)  # type: ignore[no-untyped-call]

    @property
    def system(self) -> System:
        """As it went in."""
        return _system_of(self)

    @property
    def room(self) -> tuple[int, int]:
        """For how many contacts there is room, and for how many unknowns."""
        return _room_of(self)


structref.define_proxy(Machine, _MachineType, ["system", "memory", "scratch"])  # type: ignore[no-untyped-call]


@allocating_kernel
def make_machine(system: System, memory: Memory, scratch: Scratch) -> Any:
    """Take the structures apart, once."""
    return Machine(system, memory, scratch)


@allocating_kernel
def _system_of(machine: Any) -> System:
    return machine.system  # type: ignore[no-any-return]


@allocating_kernel
def _room_of(machine: Any) -> tuple[int, int]:
    return machine.scratch.contacts.gap.shape[0], machine.scratch.vector.shape[0]


@allocating_kernel
def prepare(machine: Any) -> None:
    """`stepper.prepare`."""
    stepper.prepare(machine.system, machine.memory, machine.scratch)


@allocating_kernel
def solve(machine: Any, torque: NDArray[np.float64], gain: NDArray[np.float64], implicit: NDArray[np.float64]) -> int:
    """`stepper.solve`."""
    return stepper.solve(machine.system, machine.memory, machine.scratch, torque, gain, implicit)


@allocating_kernel
def step(machine: Any, torque: NDArray[np.float64], gain: NDArray[np.float64], implicit: NDArray[np.float64]) -> int:
    """Both, for a law that is known beforehand."""
    system, memory, scratch = machine.system, machine.memory, machine.scratch
    stepper.prepare(system, memory, scratch)
    return stepper.solve(system, memory, scratch, torque, gain, implicit)
