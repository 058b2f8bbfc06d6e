# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics and control. Plain numpy, scipy, osqp and numba; never bpy, never mathutils."""

from typing import TYPE_CHECKING, Any

from . import rounding  # before all that loads numpy

# isort: split
from .character import Character
from .contact.lcp import LcpSolution, LcpStatus, solve_lcp
from .dynamics import (
    Derivatives,
    PointForces,
    bias_force,
    body_acceleration_bias,
    body_jacobian,
    body_poses,
    body_velocities,
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
    difference,
    forward_dynamics,
    integrate,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    momentum,
    passive_force,
    point_acceleration_bias,
    point_jacobian,
    potential_energy,
    step,
    step_derivatives,
)
from .motion.playback import Playback
from .simulation import AffineLaw, Controller, Course, DivergedError, Foothold, Grab, Hinge, Prop, Push, Slider, World

if TYPE_CHECKING:
    from .job import BakeJob, BakeResult, run

__all__ = [
    "AffineLaw",
    "BakeJob",
    "BakeResult",
    "Character",
    "Controller",
    "Course",
    "Derivatives",
    "DivergedError",
    "Foothold",
    "Grab",
    "Hinge",
    "LcpSolution",
    "LcpStatus",
    "Playback",
    "PointForces",
    "Prop",
    "Push",
    "Slider",
    "World",
    "bias_force",
    "body_acceleration_bias",
    "body_jacobian",
    "body_poses",
    "body_velocities",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "difference",
    "forward_dynamics",
    "integrate",
    "inverse_dynamics",
    "kinetic_energy",
    "mass_matrix",
    "momentum",
    "passive_force",
    "point_acceleration_bias",
    "point_jacobian",
    "potential_energy",
    "rounding",
    "run",
    "solve_lcp",
    "step",
    "step_derivatives",
]


def __getattr__(name: str) -> Any:
    """The door to whole bakes, opened when it is first used: what stands behind takes a second to import."""
    if name not in {"BakeJob", "BakeResult", "run"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import job

    return getattr(job, name)
