# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that are moved to catch a body that was pushed: a change of the final state on the fly.

Ye and Liu 2010 change a segment's final state at will, and translate all that follows, contacts too, to where that is
(section 6); by how much, they leave to the user. Here the next foot to be set down, and with it all that follows, is
moved to where it stops the fall, and the next segment begins there.

A body on its feet falls as an inverted pendulum does. Its extrapolated centre of mass, C + V / w with w = sqrt(g / h)
(Hof 2008), departs by e from where it would be unpushed, and as the centre of pressure is moved by p,

    e' = w (e - p)

so that a foot that comes down further by what e is by then leaves no error behind. What the feet that stand can do
until then, with their pressure near the edge, is taken off first: a push that they can take moves no step. Angular
momentum L that was taken up meanwhile has to be given back, at the price of a wider step: e counts z x L / (m w h) too.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ...maths.kernel import kernel
from ...maths.vectors import Vector, add, row, scale, subtract
from .machine import Machine
from .model import ANGULAR, CENTER, LINEAR, part, set_part
from .timing import split

Array = NDArray[np.float64]

STRIDE = 0.2  # m, in a segment: what goes further has a way
LEAST = 0.01  # m, by which a step is moved if at all
USED = 0.7  # of the way from the centre of pressure to the edge


@kernel
def moved_in(machine: Machine, limb: int, frame: int) -> Vector:
    """By how much a limb that stands in a frame will be moved then, as far as is known now."""
    memory, route = machine.memory, machine.route
    k, _ = split(memory.clock[1], route.land.shape[0] - 1)
    land = route.land[k, limb]
    return part(memory.shift, 0) if 0 <= land <= frame else row(memory.moved, limb)


@kernel
def update_base(machine: Machine) -> None:
    """The body goes with the limb that was set down last."""
    k, _ = split(machine.memory.clock[1], machine.route.land.shape[0] - 1)
    set_part(machine.memory.base, 0, row(machine.memory.moved, machine.route.newest[k]))


@kernel
def extrapolated(x: Array, mass: float, falling: float, height: float) -> tuple[float, float]:
    """The extrapolated centre of mass on the ground, once angular momentum is given back."""
    moving = 1.0 / (mass * falling)
    turning = moving / height
    ahead = x[CENTER] + moving * x[LINEAR] + turning * x[ANGULAR + 1]
    return ahead, x[CENTER + 1] + moving * x[LINEAR + 1] - turning * x[ANGULAR]


@kernel
def move_steps(machine: Machine, forward: float) -> None:
    """Move the steps to come, so that the next of them catches the body."""
    memory, route, rehearsed = machine.memory, machine.route, machine.rehearsed
    last = route.land.shape[0] - 1
    k, _ = split(memory.clock[1], last)
    landing = _next_landing(machine, k)
    i, share = split(memory.clock[2] - rehearsed[k, 2], last)
    x, y = extrapolated(memory.x, machine.tree.mass.sum(), route.falling, route.height)
    x -= memory.base[0] + (1.0 - share) * rehearsed[i, 0] + share * rehearsed[i + 1, 0]
    y -= memory.base[1] + (1.0 - share) * rehearsed[i, 1] + share * rehearsed[i + 1, 1]
    # along its way, the final time gives way instead
    first, end = route.first[memory.segment[0]], route.last[memory.segment[0]]
    way_x, way_y = rehearsed[end, 0] - rehearsed[first, 0], rehearsed[end, 1] - rehearsed[first, 1]
    way = math.hypot(way_x, way_y)
    if way > STRIDE:
        along = (x * way_x + y * way_y) / way**2
        x, y = x - along * way_x, y - along * way_y
    off = math.hypot(x, y)
    if landing < 0 or off == 0.0:
        return
    # from the landing backwards: what moving the centre of pressure to the edge is worth by then
    rate = route.falling * route.dt / forward
    growth, worth = 1.0, 0.0
    for j in range(landing - 1, k - 1, -1):
        edge = 0.0
        for p in range(route.body.shape[0]):
            if route.loaded[j, p]:
                arm = subtract(row(route.place[j + 1], p), row(route.pressure, j))
                edge = max(edge, (arm[0] * x + arm[1] * y) / off)
        worth += USED * edge * growth * math.expm1(rate)
        growth *= math.exp(rate)
    far = growth - worth / off
    if far * off < LEAST:
        far = 0.0
    set_part(memory.shift, 0, add(part(memory.base, 0), (far * x, far * y, 0.0)))


@kernel
def _next_landing(machine: Machine, k: int) -> int:
    """The frame after k in which a limb is set down next, or -1."""
    found = -1
    for frame in machine.route.land[k]:
        if frame >= 0 and (found < 0 or frame < found):
            found = frame
    return found


@kernel
def move_limbs(machine: Machine, forward: float) -> None:
    """Carry limbs that swing on towards where they are to be set down."""
    memory, route = machine.memory, machine.route
    at = memory.clock[1] + forward
    k, _ = split(at, route.land.shape[0] - 1)
    for n in range(route.land.shape[1]):
        begin, end = route.lift[k, n], route.land[k, n]
        if end >= 0 and at + forward > begin:
            before, after = _eased((at - begin) / (end - begin)), _eased((at + forward - begin) / (end - begin))
            share = (after - before) / (1.0 - before) if before < 1.0 else 1.0
            way = subtract(part(memory.shift, 0), row(memory.moved, n))
            set_part(memory.moved[n], 0, add(row(memory.moved, n), scale(share, way)))


@kernel
def _eased(x: float) -> float:
    """From 0 to 1 without a jerk, constant beyond."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)
