# SPDX-License-Identifier: GPL-3.0-or-later
"""`World`: a character among terrain, props, pushes and grabs, stepped through time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import trace
from ..character import Character, check
from ..character.flatten import neutral_positions
from ..character.tree import BALL, FREE, Tree
from ..contact.detection import Contacts
from ..contact.lcp import LcpStatus
from ..contact.shapes import Shape
from ..contact.terrain import Plane, Surface, Terrain, make_terrain
from ..dynamics.kinematics import update_positions
from ..dynamics.workspace import make_workspace
from . import stepper
from .failure import WorldArguments, note_failure
from .grabs import Grab
from .law import AffineLaw, Controller, NoLawError, State
from .leading import Leading
from .own_contact import CROSSING, LOST, PUSHED, UNHEEDED, between_legs, own_pairs
from .props import Prop, may_meet
from .pushes import Push
from .strength import TorqueLimits
from .system import Parts, make_system
from .throws import make_throws
from .workspace import Machine, Memory, Outcome, Settings, make_memory, make_scratch

Array = NDArray[np.float64]
Torques = Array | Sequence[float]
Action = Torques | AffineLaw | Controller | None

# What a contact has for the other body where that is no body of this world, but of another's in its company.
ANOTHER = -2
MARGINS = {"anticipating": True, "touching": False}
# Contacts at once that memory is made for at most; the LCP's matrix grows with their square.
MOST_CONTACTS = 1024


class DivergedError(RuntimeError):
    """A step that gave no valid state. The world stays where it was before the step."""

    def __init__(self, step: int, time: float, reason: str) -> None:
        super().__init__(f"The simulation ended at step {step}, {time:.4f} s: {reason}")
        self.step = step
        self.time = time
        self.reason = reason


class ContactForces(NamedTuple):
    """Contact candidates of the last step and the forces found at them."""

    key: NDArray[np.int64]  # (n,) names that last from step to step
    body: NDArray[np.int64]  # (n,) index of the body that the force acts on
    other: NDArray[np.int64]  # (n,) index of the other body, -1 for terrain, ANOTHER for another character's
    shape: NDArray[np.int64]  # (n,) index of the shape on `body`
    point: Array  # (n, 3) in the world, m
    normal: Array  # (n, 3) towards `body`
    gap: Array  # (n,) m, at the positions after the step
    force: Array  # (n, 3) N, in the world; zero where nothing touched


class World:
    """Steps a character by the one LCP of stepper.py. All arrays are made here; a step allocates nothing of size.

    character, terrain
        Surfaces, or a made Terrain; by default the plane z = 0 with the given `friction`.
    friction
        Coefficient of the default plane and between props and what they touch; each prop has a factor of its own.
    rate
        Steps per second.
    sides
        Of the friction pyramids, 4 or 6.
    restitution
        Share of the speed of approach that a touch gives back; none by default.
    contacts
        "anticipating": a point enters once it is near, and may not come nearer than the ground; "touching": it enters
        once it touches, and may not go deeper, as Muico et al. 2009 have it.
    pairs
        Names of shapes that touch each other at all times; by default every prop's with every other prop's and the
        character's.
    max_contacts
        Candidates beyond it are dropped, widest gaps first.
    torque_limits
        What joints give at most, whatever is asked of them; anything by default.
    inside
        How deep the motion that is followed has each of the character's own pairs in each other (own_contact.deepest),
        m: as deep as that they may be once it is pushed; by default a push does not make them meet.
    """

    def __init__(
        self,
        character: Character,
        terrain: Terrain | Sequence[Surface] | None = None,
        friction: float = 1.0,
        rate: float = 120.0,
        *,
        props: Sequence[Prop] = (),
        grabs: Sequence[Grab] = (),
        pushes: Sequence[Push] = (),
        contacts: str = "anticipating",
        sides: int = 4,
        restitution: float = 0.0,
        margin: float = 0.02,
        depth: float = 0.1,
        pairs: Iterable[tuple[str, str]] | None = None,
        max_contacts: int = 64,
        torque_limits: TorqueLimits | None = None,
        inside: ArrayLike | None = None,
    ) -> None:
        rate = check.positive(rate, "rate", "the world")
        if sides not in (4, 6):
            raise ValueError(f"A friction pyramid has 4 or 6 sides, not {sides}.")
        restitution = check.not_negative(restitution, "restitution", "the world")
        if restitution > 1.0:
            raise ValueError(f"The restitution of the world must be at most 1, not {restitution}.")
        if contacts not in MARGINS:
            raise ValueError(f"Contacts must be one of {', '.join(MARGINS)}, not {contacts!r}.")
        if not 1 <= max_contacts <= MOST_CONTACTS:
            raise ValueError(f"A world holds 1 to {MOST_CONTACTS} contacts, not {max_contacts}.")
        if terrain is None:
            terrain = [Plane(friction=friction)]
        pairs, own = None if pairs is None else tuple(pairs), own_pairs(character)
        self.character = character
        self.props = tuple(props)
        bodies = character.bodies + tuple(prop.body for prop in self.props)
        self.body_index: Mapping[str, int] = {body.name: b for b, body in enumerate(bodies)}
        if len(self.body_index) < len(bodies):
            raise ValueError("The names of props must differ from each other and from the character's bodies.")
        self._neutral = neutral_positions(bodies)
        self.shapes: tuple[Shape, ...] = (*character.contacts, *(one for prop in self.props for one in prop.shapes))
        self._motors = slice(6 if character.bodies[0].joint.kind == "free" else 0, character.nv)
        self.parts = Parts(
            bodies=bodies,
            gravity=character.gravity,
            shapes=self.shapes,
            pairs=tuple(_default_pairs(character, self.props)) if pairs is None else pairs,
            own_pairs=own,
            of_legs=between_legs(character, own),
            inside=np.zeros(0) if inside is None else _finite(inside, (len(own),), "inside"),
            friction=friction,
            factors={shape.name: prop.friction for prop in self.props for shape in prop.shapes},
            grabs=(*grabs, *(tie for prop in self.props for tie in prop.ties)),
            pushes=tuple(pushes),
            torque_limits=() if torque_limits is None else (torque_limits,),
            motors=(self._motors.start, self._motors.stop),
        )
        self.system = make_system(
            self.parts,
            terrain if isinstance(terrain, Terrain) else make_terrain(terrain),
            Settings(
                dt=1.0 / rate,
                margin=check.not_negative(margin, "margin", "the world"),
                depth=check.positive(depth, "depth", "the world"),
                sides=sides,
                restitution=restitution,
                anticipating=MARGINS[contacts],
            ),
        )
        self._capacity = max_contacts
        self._make_arrays()
        self._no_gain = np.zeros((0, 0))
        self._no_implicit = np.zeros(0)
        self._begun = False
        self._leading = Leading(self.parts.grabs)
        self.throws = make_throws(self.props, len(character.bodies), self.system.tree, self._neutral)
        self._made_of = WorldArguments(
            character=character,
            terrain=self.system.terrain,
            friction=friction,
            rate=rate,
            props=self.props,
            grabs=tuple(grabs),
            pushes=self.parts.pushes,
            contacts=contacts,
            sides=sides,
            restitution=restitution,
            margin=margin,
            depth=depth,
            pairs=pairs,
            max_contacts=max_contacts,
            torque_limits=torque_limits,
            inside=None if inside is None else self.parts.inside,
        )
        self._traced = trace.is_on()
        self._before: dict[str, NDArray[np.generic]] = {}
        self.reset()

    def _make_arrays(self) -> None:
        """What the stepper reads and writes, and what a controller sees of it besides the time."""
        self._memory = make_memory(self.system, self._capacity)
        self._scratch = make_scratch(self.system, self._capacity)
        self._machine = Machine(self.system, self._memory, self._scratch)
        nq, nv = self.character.nq, self.character.nv
        self._seen = (
            self.dt,
            self._memory.q[:nq],
            self._memory.v[:nv],
            self._scratch.q_next[:nq],
            self.system.tree,
            self._scratch.bodies,
            self._machine,
        )

    @property
    def machine(self) -> Machine:
        """What the stepper reads and writes."""
        return self._machine

    @property
    def dt(self) -> float:
        """Length of a step, s."""
        return self.system.settings.dt

    @property
    def rate(self) -> float:
        """Steps per second."""
        return 1.0 / self.dt

    @property
    def tree(self) -> Tree:
        """Of the character and then the props."""
        return self.system.tree

    @property
    def time(self) -> float:
        """Since the reset, s."""
        return float(self._memory.clock[0])

    @property
    def steps(self) -> int:
        """Taken since the reset."""
        return int(self._memory.steps[0])

    @property
    def q(self) -> Array:
        """Positions (nq,) of the character; a copy."""
        return self._memory.q[: self.character.nq].copy()

    @property
    def v(self) -> Array:
        """Velocities (nv,) of the character; a copy."""
        return self._memory.v[: self.character.nv].copy()

    @property
    def system_q(self) -> Array:
        """Positions of the character and then of the props; a copy."""
        return self._memory.q.copy()

    @property
    def system_v(self) -> Array:
        """Velocities of the character and then of the props; a copy."""
        return self._memory.v.copy()

    @property
    def torque(self) -> Array:
        """Torque (motors,) of the last step, the law's answer to contacts and its implicit part included; a copy."""
        return self._scratch.outcome.torque[self._motors].copy()

    @property
    def grab_forces(self) -> Array:
        """Force and torque (grabs, 6) of the last step on each grab's body, at its point, in the world; a copy."""
        return self._scratch.outcome.grab_force.copy()

    @property
    def residual(self) -> float:
        """Worst miss of a contact or limit row in the last step, m/s or rad/s, computed outside the solver."""
        return float(self._scratch.outcome.residual[0])

    @property
    def lcp_residual(self) -> float:
        """The solver's own residual of the last step's contact problem, scaled."""
        return float(self._scratch.outcome.lcp_residual[0])

    @property
    def lcp_unknowns(self) -> int:
        """Size of the last step's contact problem."""
        return int(self._scratch.outcome.counts[1])

    @property
    def corrected(self) -> bool:
        """Whether the last step moved positions apart from velocities: something was too deep or beyond its limit."""
        return bool(self._scratch.outcome.counts[3])

    @property
    def contacts(self) -> ContactForces:
        """Candidates of the last step with their forces; copies."""
        found = self._scratch.contacts
        n = int(found.filled[0])
        return ContactForces(
            key=found.key[:n].copy(),
            body=found.body[:n].copy(),
            other=found.other[:n].copy(),
            shape=found.shape[:n].copy(),
            point=found.point[:n].copy(),
            normal=found.normal[:n].copy(),
            gap=found.gap[:n].copy(),
            force=self._scratch.outcome.contact_force[:n].copy(),
        )

    @property
    def pressed_by_another(self) -> bool:
        """Whether another character of its company touched it in the last step."""
        n = int(self._scratch.contacts.filled[0])
        others = self._scratch.contacts.other[:n] == ANOTHER
        return bool(others.any() and self._scratch.outcome.contact_force[:n][others].any())

    def contact_problem(self) -> tuple[Array, Array]:
        """Matrix and vector of the last step's contact problem, stepper.py's LCP; copies."""
        n = self.lcp_unknowns
        return self._scratch.matrix[: n * n].reshape(n, n).copy(), self._scratch.vector[:n].copy()

    def contact_wrenches(self) -> Array:
        """Net wrench (nb, 6) of the last step's contacts on each body in world axes: force, moment about its origin."""
        return self._scratch.outcome.wrench.copy()

    def poses(self) -> tuple[Array, Array]:
        """Origins (nb, 3) and quaternions (nb, 4) of all bodies, the character's and then the props'."""
        bodies = make_workspace(self.system.tree)
        update_positions(self.system.tree, bodies, self._memory.q)
        return bodies.position, bodies.quaternion

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Start anew at time zero: the character at (q, v), by default at rest in its neutral pose; props at theirs."""
        memory, nq, nv = self._memory, self.character.nq, self.character.nv
        positions, velocities = self._neutral.copy(), np.zeros_like(memory.v)
        if q is not None:
            positions[:nq] = _finite(q, (nq,), "q")
        if v is not None:
            velocities[:nv] = _finite(v, (nv,), "v")
        at = nv
        for prop in self.props:
            velocities[at : at + len(prop.velocity)] = prop.velocity
            at += len(prop.velocity)
        for throw in self.throws:
            positions[throw.positions], velocities[throw.velocities] = throw.away, 0.0
        tree = self.system.tree
        for b in np.flatnonzero((tree.joint == FREE) | (tree.joint == BALL)):
            start = tree.position_start[b] + (3 if tree.joint[b] == FREE else 0)
            if not 1e-6 < np.linalg.norm(positions[start : start + 4]) < np.inf:
                raise ValueError(f"The quaternion in q from entry {start} on must not be zero.")
        fresh = make_memory(self.system, self._capacity)
        fresh.q[:], fresh.v[:] = positions, velocities
        _copy(fresh, memory)
        self._forget()

    def save_state(self) -> dict[str, NDArray[np.generic]]:
        """Everything that the future depends on, as arrays by name."""
        return {name: array.copy() for name, array in self._memory._asdict().items()}

    def load_state(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go back to what `save_state` of a world of the same make gave: from there on the same bits follow."""
        for name, array in self._memory._asdict().items():
            if name not in state or state[name].shape != array.shape or state[name].dtype != array.dtype:
                raise ValueError(f"This is not a state of this world: {name} is missing, or of another shape or type.")
        for name in ("q", "v", "momentum", "clock", "impulse"):
            if not np.isfinite(state[name]).all():
                raise ValueError(f"This is not a state of a world: {name} is not finite.")
        if not 0 <= state["known"][0] <= len(self._memory.key) or state["steps"][0] < 0:
            raise ValueError("This is not a state of a world: a count is out of range.")
        for name, array in self._memory._asdict().items():
            array[...] = state[name]
        self._forget()

    def copy(self) -> Self:
        """Another world in the same state, which goes its own way from here."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._make_arrays()  # noqa: SLF001
        _copy(self._memory, twin._memory)  # noqa: SLF001
        twin._forget()  # noqa: SLF001
        return twin

    def apply_impulse(self, body: str, impulse: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Add an impulse (3,) in the world, N s, at a point of a body's frame, to the next step."""
        if body not in self.body_index:
            raise ValueError(f"An impulse acts on an unknown body '{body}'.")
        b = self.body_index[body]
        _, quaternions = self.poses()
        p, arm = _finite(impulse, (3,), "impulse"), _finite(point, (3,), "point")
        w, axis = quaternions[b, 0], quaternions[b, 1:]
        twice = 2.0 * np.cross(axis, arm)
        self._memory.impulse[b, :3] += p
        self._memory.impulse[b, 3:] += np.cross(arm + w * twice + np.cross(axis, twice), p)

    def heed_itself(self) -> None:
        """From the next step on the character's limbs meet each other and its trunk, instead of passing through.

        Those that are inside each other then are parted slowly.
        """
        self._memory.heeded[0] = LOST

    def heed_as_pushed(self) -> None:
        """From the next step on limbs meet as they do after a push: no deeper than the motion has them."""
        if len(self.parts.inside) and not self.heeds_itself:
            self._memory.heeded[0] = PUSHED

    def ignore_itself(self) -> None:
        """Let limbs pass through each other and the trunk again, until somebody pushes."""
        self._memory.heeded[0] = UNHEEDED

    @property
    def heeds_itself(self) -> bool:
        """Whether the character's limbs meet each other and its trunk."""
        return bool(self._memory.heeded[0] != UNHEEDED)

    def let_legs_cross(self, crossing: bool) -> None:
        """Whether legs may pass through each other from now on, where the rest of the character is heeded."""
        if self.heeds_itself and len(self.parts.inside) and self._memory.heeded[0] != LOST:
            self._memory.heeded[0] = CROSSING if crossing else PUSHED

    def begin_step(self) -> Contacts:
        """First half of a step: to q_{k+1}. Returns the contact candidates there; the first `filled[0]` rows count."""
        self._place_moved()
        self._keep_start()
        stepper.begin_step(self._machine)
        self._begun = True
        return self._scratch.contacts

    def state(self) -> State:
        """What a controller sees between `begin_step` and `solve`."""
        return State(self.time, *self._seen)

    def solve(self, law: Torques | AffineLaw | None = None) -> None:
        """Second half: find v_{k+1} under a law and move on; `DivergedError` if that gives no valid state."""
        if not self._begun:
            raise RuntimeError("A step must be begun before it is solved.")
        self._run(stepper.solve, law)

    def step(self, action: Action = None) -> None:
        """One step under joint torques, a law, or a controller; without any of them passively."""
        if action is None or isinstance(action, (np.ndarray, Sequence)):
            self._place_moved()
            self._keep_start()
            self._run(stepper.step, action)
            return
        self.begin_step()
        self.solve(self.law_of(action))

    def law_of(self, action: Action) -> Torques | AffineLaw | None:
        """What an action says once a step is begun; `DivergedError` where a controller has no law."""
        if action is None or isinstance(action, (np.ndarray, Sequence, AffineLaw)):
            return action
        try:
            return action.law(self.state(), self._scratch.contacts)
        except NoLawError as error:
            self._note_failure(None, str(error))
            raise DivergedError(self.steps, self.time, str(error)) from error

    def end_step(self) -> None:
        """The state has been moved on by a problem that it was part of (company)."""
        self._begun = False

    def _place_moved(self) -> None:
        """Put what is not moved by the step to where it is in it."""
        for throw in self.throws:
            throw.place(self._memory, self.time, self.dt)
        self._leading.lead(self._memory, self.time + self.dt, self.dt)

    def _keep_start(self) -> None:
        """Keep the state for a trace: a step that fails may leave another start for the next."""
        if self._traced:
            self._before = self.save_state()

    def _run(self, kernel: Callable[..., int], law: Torques | AffineLaw | None) -> None:
        """Let a kernel of the stepper find v_{k+1} under a law and move on, or say why it did not."""
        arguments = self.arguments(law)
        self._begun = False
        code = kernel(self._machine, *arguments)
        if code != stepper.STEPPED:
            reason = reason_of(code, self._scratch.outcome)
            self._note_failure(law, reason)
            raise DivergedError(self.steps, self.time, reason)

    def _note_failure(self, law: Torques | AffineLaw | None, reason: str) -> None:
        """Write the step to the trace, if there is one."""
        if self._traced:
            given = law if law is None or isinstance(law, AffineLaw) else AffineLaw(np.asarray(law, dtype=np.float64))
            note_failure(self._made_of, self._before, given, reason)

    def _forget(self) -> None:
        """Nothing in the scratch arrays belongs to the state any more."""
        self._scratch.contacts.filled[:] = 0
        self._scratch.outcome.torque[:] = 0.0
        self._scratch.outcome.wrench[:] = 0.0
        self._scratch.outcome.grab_force[:] = 0.0
        self._scratch.outcome.lcp_residual[:] = 0.0
        self._scratch.outcome.residual[:] = 0.0
        self._begun = False

    def arguments(self, law: Torques | AffineLaw | None) -> tuple[Array, Array, Array]:
        """Generalised torque (nv,), gain and diagonal for the kernel; infinities show in the step's outcome."""
        try:
            return self._checked(law)
        except ValueError as error:
            self._note_failure(law, str(error))
            raise

    def _checked(self, law: Torques | AffineLaw | None) -> tuple[Array, Array, Array]:
        if law is None:
            return self._scratch.zero, self._no_gain, self._no_implicit
        if not isinstance(law, AffineLaw):
            return self._generalised(law, "torque"), self._no_gain, self._no_implicit
        gain, implicit = self._no_gain, self._no_implicit
        if law.contact_gain is not None:
            shape = (self._motors.stop - self._motors.start, 3 * int(self._scratch.contacts.filled[0]))
            gain = np.ascontiguousarray(law.contact_gain, dtype=np.float64)
            if gain.shape != shape:
                raise ValueError(f"The contact gain must have the shape {shape}, not {gain.shape}.")
        if law.implicit is not None:
            implicit = self._generalised(law.implicit, "implicit diagonal")
            if not (implicit >= 0.0).all():
                raise ValueError("The implicit diagonal must not be negative.")
        return self._generalised(law.torque, "torque"), gain, implicit

    def _generalised(self, values: ArrayLike, name: str) -> Array:
        motors = self._motors
        array = np.asarray(values, dtype=np.float64)
        result = np.zeros(len(self._memory.v))
        if array.shape == (motors.stop - motors.start,):
            result[motors] = array
        elif array.shape == (self.character.nv,):
            result[: self.character.nv] = array
        else:
            raise ValueError(
                f"The {name} must have the shape ({motors.stop - motors.start},) or ({self.character.nv},), "
                f"not {array.shape}."
            )
        return result


def reason_of(code: int, outcome: Outcome) -> str:
    """Why a step gave no valid state, in a sentence."""
    if code == stepper.NOT_FINITE:
        return "a force, position or velocity is not finite."
    if code == stepper.UNSOLVED:
        status = LcpStatus(int(outcome.counts[0])).name
        return f"no contact forces satisfy the contact problem of {outcome.counts[1]} unknowns ({status})."
    return f"contact forces miss their conditions by {outcome.residual[0]:.2g} m/s."


def _default_pairs(character: Character, props: Sequence[Prop]) -> list[tuple[str, str]]:
    """Every prop with the character and with every other prop that it is not tied to, as far as their groups allow."""
    tied = {frozenset((prop.name, tie.other)) for prop in props for tie in prop.ties if tie.other is not None}
    pairs = [
        (a.name, b.name)
        for first, second in combinations(props, 2)
        if frozenset((first.name, second.name)) not in tied and may_meet(first, second)
        for a in first.shapes
        for b in second.shapes
    ]
    for prop in props:
        pairs += [(a.name, b.name) for a in character.contacts for b in prop.shapes if may_meet(None, prop)]
    return pairs


def _finite(values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"The shape of {name} must be {shape}, not {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    return array


def _copy(source: Memory, target: Memory) -> None:
    for old, new in zip(source, target, strict=True):
        new[...] = old
