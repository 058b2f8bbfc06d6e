# SPDX-License-Identifier: GPL-3.0-or-later
"""How far contacts are looked for: as far as this step could bring bodies together."""

import numpy as np

from ..maths.kernel import kernel
from ..maths.vectors import dot, row, row_angular, subtract
from .equations import point_velocity
from .workspace import Machine

# Speeds beyond this do not widen the search for contacts, m/s.
FASTEST = 100.0


@kernel
def fastest_of(machine: Machine) -> float:
    """The speed of the fastest point of any body, m/s, or more."""
    system, bodies = machine.system, machine.scratch.bodies
    fastest = 0.0
    for b in range(system.extent.shape[0]):
        if system.extent[b] > 0.0:
            linear = point_velocity(bodies.position, bodies.velocity, b, -1, row(bodies.position, b))
            angular = row_angular(bodies.velocity, b)
            speed = np.sqrt(dot(linear, linear)) + system.extent[b] * np.sqrt(dot(angular, angular))
            # a NaN is not faster; it is found when the step is solved
            fastest = max(fastest, speed)
    return fastest


@kernel
def is_near(machine: Machine, i: int) -> bool:
    """Whether a candidate is nearer than the margin, or so fast that this step could bring it there."""
    settings, bodies, contacts = machine.system.settings, machine.scratch.bodies, machine.scratch.contacts
    point = row(contacts.point, i)
    velocity = point_velocity(bodies.position, bodies.velocity, contacts.body[i], contacts.other[i], point)
    approach = -dot(row(contacts.normal, i), subtract(velocity, row(contacts.velocity, i)))
    limit = settings.margin + settings.dt * max(approach, 0.0) if settings.anticipating else 0.0
    return bool(contacts.gap[i] <= limit)
