# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics and control. Plain numpy, scipy, osqp and numba; never bpy, never mathutils."""

from .character import Character
from .contact.lcp import LcpSolution, LcpStatus, solve_lcp
from .dynamics import (
    bias_force,
    center_of_mass,
    centroidal_momentum,
    difference,
    forward_dynamics,
    integrate,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    potential_energy,
)

__all__ = [
    "Character",
    "LcpSolution",
    "LcpStatus",
    "bias_force",
    "center_of_mass",
    "centroidal_momentum",
    "difference",
    "forward_dynamics",
    "integrate",
    "inverse_dynamics",
    "kinetic_energy",
    "mass_matrix",
    "potential_energy",
    "solve_lcp",
]
