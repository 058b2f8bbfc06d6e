# SPDX-License-Identifier: GPL-3.0-or-later
"""The stepping of Jain and Liu 2011 itself beside the nonlinear simulator: a part of `run.py study replanning`.

The paper's character moves by the closed form of its linearised equation, so that nothing is integrated (section 5.5):

    p_1 = A(dt) (p'_0 + I) + (1 - cos w dt) / w^2 b,    q_1 = q_0 + Phi p_1        (eq. 8, 24)

with the contact problem of eq. 34 over displacements. Plan and law are the controller's own, at q_0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from heft.core import (
    Character,
    bias_force,
    centroidal_momentum,
    difference,
    integrate,
    kinetic_energy,
    mass_matrix,
    solve_lcp,
)
from heft.core.control.replanning import Replanning
from heft.core.control.replanning.law import PRESENT
from heft.core.control.replanning.modes import RIGID, make_modes, subtree_stiffness
from heft.core.simulation import DivergedError, Push, World
from heft.studies.lib.replanning_follow import FALLEN, seeded, table, walk
from heft.studies.lib.replanning_motions import DT, Motion
from heft.studies.lib.replanning_pushes import DIRECTIONS, push_of

from tests.core.control.replanning.test_modes import fill_modes

FORCES = (100.0, 175.0)  # N
SIDES = 6  # of the cone (section 7)
ANGLES = 2.0 * np.pi * np.arange(SIDES) / SIDES


class Kind(NamedTuple):
    """Which of the paper's simplifications are made."""

    name: str
    coriolis: bool  # forces that eq. 11 drops are in b
    gap: bool  # eq. 30 counts how far a point is off the ground


PRINTED = Kind("analytic, as printed", coriolis=False, gap=False)
MENDED = Kind("analytic, with Coriolis forces and gaps", coriolis=True, gap=True)


class AnalyticWorld:
    """Steps a character on level ground by eq. 24 and 34."""

    def __init__(self, character: Character, kind: Kind, pushes: Sequence[Push] = ()) -> None:
        self._world = World(character)  # finds contacts, and is where the controller looks
        self._character, self._kind, self._pushes = character, kind, pushes
        self._modes, self._stiffness = make_modes(character.nv), subtree_stiffness(character.tree)
        self.time = 0.0
        self.force = np.zeros(3)  # N, of all contacts in the last step

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        self.q, self.v, self.time = q.copy(), v.copy(), 0.0

    def step(self, controller: Replanning | None = None) -> None:
        character, dt, world = self._character, DT, self._world
        nv = character.nv
        # a world prepares a step at its next pose, which is to be this one
        world.reset(integrate(character, self.q, self.v, -dt), self.v)
        contacts = world.begin_step()
        state = world.state()
        M = mass_matrix(character, self.q)
        h = bias_force(character, self.q, self.v if self._kind.coriolis else np.zeros(nv))
        state.work.bias[:nv] = h
        fill_modes(M, self._stiffness, self._modes)
        shape, w = self._modes.shape, np.sqrt(self._modes.square)
        generalized, rows = self._pushed(state), []
        torque, gain = np.zeros(nv - RIGID), np.zeros((nv - RIGID, 0))
        Y = np.zeros((nv, 0))
        if controller is not None:
            law = controller.law(state, contacts)
            n = int(contacts.filled[0])
            torque = law.torque.copy()
            work = controller._scratch
            count = n + len(controller.track.point_body)
            near = [c for c in range(n) if self._kind.gap or contacts.gap[c] < PRESENT]
            rows = [3 * c + a for c in near for a in range(3)]
            Y = work.answered[: nv * 3 * count].reshape(nv, 3 * count)[:, rows].copy()
            gain = law.contact_gain[:, rows].copy()
        generalized[RIGID:] += torque
        rate = shape @ (M @ self.v)
        b = -shape @ h
        A = np.where(w > 0.0, np.sin(w * dt) / np.where(w > 0.0, w, 1.0), dt)
        drift = np.where(w > 0.0, (1.0 - np.cos(w * dt)) / np.where(w > 0.0, w * w, 1.0), 0.5 * dt * dt)
        impulse = dt * shape @ generalized
        if rows:
            answer = Y + shape[:, RIGID:] @ gain  # of the modes, to forces: Z and X of eq. 28
            force = self._found(contacts, near, A[:, None] * answer, Y, A * (rate + impulse) + drift * b)
            impulse += dt * answer @ force
            self.force = force.reshape(-1, 3).sum(axis=0)
        else:
            self.force = np.zeros(3)
        self.q = integrate(character, self.q, shape.T @ (A * (rate + impulse) + drift * b), 1.0)
        self.v = shape.T @ (np.cos(w * dt) * (rate + impulse) + A * b)
        self.time += dt

    def _pushed(self, state) -> np.ndarray:
        """Generalised force of the pushes at this time."""
        result = np.zeros(self._character.nv)
        for push in self._pushes:
            if push.start <= self.time + 0.5 * DT < push.start + (len(push.force) - 1) / push.rate:
                body = self._character.index(push.body)
                arm = state.work.position[body] - state.work.position[0]
                i = int(state.work.last_velocity[body])
                while i >= 0:
                    motion = state.work.motion[i]
                    result[i] += push.force[0] @ (motion[:3] + np.cross(motion[3:], arm))
                    i = int(self._character.tree.velocity_parent[i])
        return result

    def _found(self, contacts, near, moved, Y, free) -> np.ndarray:
        """Forces (3 n,) in the world that solve eq. 34, N; `moved` is A (Z + X) / dt, `free` p_1 without them."""
        n = len(near)
        edges = np.zeros((n, SIDES + 1, 3))  # normal, then the cone's directions
        gap, friction = np.zeros(n * (SIDES + 1)), np.zeros(n)
        for i, c in enumerate(near):
            normal = contacts.normal[c]
            one = np.cross(normal, (1.0, 0.0, 0.0))
            one /= np.linalg.norm(one)
            other = np.cross(normal, one)
            edges[i, 0] = normal
            edges[i, 1:] = np.outer(np.cos(ANGLES), one) + np.outer(np.sin(ANGLES), other)
            gap[i * (SIDES + 1)] = contacts.gap[c] if self._kind.gap else 0.0
            friction[i] = contacts.friction[c]
        N = np.zeros((3 * n, n * (SIDES + 1)))
        for i in range(n):
            N[3 * i : 3 * i + 3, i * (SIDES + 1) : (i + 1) * (SIDES + 1)] = edges[i].T
        # rows are speeds over the step, unknowns impulses: numbers of one size
        C = N.T @ Y.T @ moved @ N / DT
        right = (N.T @ (Y.T @ free) + gap) / DT
        size, block = len(right), SIDES + 1
        matrix, q = np.zeros((size + n, size + n)), np.concatenate((right, np.zeros(n)))
        matrix[:size, :size] = C
        for i in range(n):
            tangents = slice(i * block + 1, (i + 1) * block)
            matrix[tangents, size + i] = 1.0
            matrix[size + i, i * block] = friction[i]
            matrix[size + i, tangents] = -1.0
        z = solve_lcp(matrix, q).z
        if z is None:
            raise DivergedError(0, self.time, "the contact problem has no answer")
        return N @ z[:size] / DT


def inner_energy(character: Character, q: np.ndarray, v: np.ndarray) -> float:
    """Of the motion about the centre of mass, which gravity does not change, J."""
    whole = centroidal_momentum(character, q, v)[:3]
    return kinetic_energy(character, q, v) - float(whole @ whole) / (2.0 * character.total_mass)


def tumbles() -> list[tuple[object, ...]]:
    """Rows: what half a second of a free, limp tumble does to momentum and energy."""
    character = Character.preset("jain42")
    rng = np.random.default_rng(3)
    rows = []
    starts = []
    for _ in range(5):
        q = character.neutral()
        q[2] += 20.0
        starts.append(
            (integrate(character, q, 0.3 * rng.normal(size=character.nv), 1.0), rng.normal(size=character.nv))
        )
    for kind in (None, PRINTED, PRINTED._replace(name="analytic, with Coriolis forces", coriolis=True)):
        lost, gained = [], []
        for q, v in starts:
            world = World(character) if kind is None else AnalyticWorld(character, kind)
            world.reset(q, v)
            for _ in range(60):
                world.step()
            before, after = (
                centroidal_momentum(character, q, v)[3:],
                centroidal_momentum(character, world.q, world.v)[3:],
            )
            lost.append(np.linalg.norm(after - before) / np.linalg.norm(before))
            energy = [inner_energy(character, *each) for each in ((q, v), (world.q, world.v))]
            gained.append(energy[1] / energy[0] - 1.0)
        rows.append(
            (
                "simulator" if kind is None else kind.name,
                f"{100 * np.median(lost):.2g}",
                f"{100 * max(lost):.2g}",
                f"{100 * np.median(gained):+.2g}",
            )
        )
    return rows


class Walked(NamedTuple):
    why: str
    degrees: float  # RMS over joints and steps
    root: float  # m, farthest
    peak: float  # N, the largest force of all contacts together
    lacking: float  # N, RMS of what changes the momentum and is neither weight, push nor contact


def walked(
    motion: Motion, kind: Kind | None, seconds: float, push: Push | None = None, noise: np.ndarray | float = 0.0
) -> Walked:
    """Follow a track in the simulator or by the paper's stepping."""
    character = motion.character
    pushes = [] if push is None else [push]
    controller = Replanning(character, motion.track)
    world = World(character, pushes=pushes) if kind is None else AnalyticWorld(character, kind, pushes)
    q, v = controller.reference_state()
    world.reset(q, v + noise)
    why, errors, peak, lacking = "", [], 0.0, []
    weight = character.total_mass * np.array(character.gravity)
    for _ in range(round(seconds / DT)):
        before = centroidal_momentum(character, world.q, world.v)[:3]
        try:
            world.step(controller)
        except DivergedError:
            why = "breaks off"
            break
        force = world.contacts.force.sum(axis=0) if kind is None else world.force
        peak = max(peak, float(np.linalg.norm(force)))
        if push is None:
            lacking.append((centroidal_momentum(character, world.q, world.v)[:3] - before) / DT - weight - force)
        errors.append(difference(character, controller.reference_state()[0], world.q))
        if np.linalg.norm(errors[-1][:3]) > FALLEN:
            why = "falls"
            break
    error = np.array(errors)
    return Walked(
        why,
        float(np.degrees(np.sqrt(np.mean(error[:, RIGID:] ** 2)))),
        float(np.linalg.norm(error[:, :3], axis=1).max()),
        peak,
        float(np.sqrt(np.mean(np.sum(np.square(lacking), axis=1)))) if lacking else 0.0,
    )


def analytic() -> list[str]:
    """The section of the page."""
    note = (
        "The character moves by the closed form of its linearised equation, eq. 24, with the contacts of eq. 34,\n"
        "instead of in the simulator; plans and settings are the same. First half a second's limp tumble in the air,\n"
        "from five states with velocities of 1 rad/s; energy is that of the motion about the centre of mass."
    )
    page = ["## The paper's own stepping", "", note, ""]
    page += table(("stepping", "% of angular momentum lost", "at most", "% of energy gained"), tumbles())
    note = (
        "Then the walk, calm and pushed on the thorax for 10 frames, from four sides at three times. Force out of\n"
        "nothing is what changes the momentum besides weight and contact, RMS."
    )
    rows = [beside(kind) for kind in (None, PRINTED, MENDED)]
    head = ("stepping", "walk of 5 s", "joints °", "root cm", "most force N", "force out of nothing N")
    head += tuple(f"{force:.0f} N" for force in FORCES)
    return [*page, note, "", *table((*head, "most force N"), rows)]


def beside(kind: Kind | None) -> tuple[str, ...]:
    """A row: the walk, calm and pushed."""
    calm, peak, counts = walked(walk(), kind, 5.0), 0.0, []
    for force in FORCES:
        pushes = [push_of(name, force, start, 10) for name in DIRECTIONS for start in (1.0, 1.25, 1.5)]
        found = [walked(walk(), kind, 4.0, push, seeded(walk().character, seed)) for seed, push in enumerate(pushes)]
        counts.append(f"{sum(not outcome.why for outcome in found)} of {len(pushes)}")
        peak = max([peak, *(outcome.peak for outcome in found if not outcome.why)])
    return (
        "simulator" if kind is None else kind.name,
        calm.why or "stands",
        f"{calm.degrees:.1f}",
        f"{100.0 * calm.root:.1f}",
        f"{calm.peak:.0f}",
        f"{calm.lacking:.2g}",
        *counts,
        f"{peak:.0f}",
    )
