# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of the world beside `mj_step` of the exported model, passive, and how it grows with contacts and bodies.

Both are called from Python, one step a call, from the same state each time and warm from the step before as in a
simulation: `World.step` for ours, conversions at the border and all, and `mujoco.mj_step`, with its default solver.
"""

from collections.abc import Iterator

import mujoco
import numpy as np
from harness import Row, measure
from heft.core import dynamics
from heft.core.character import Body, Character, Joint
from heft.core.simulation import Prop, World
from heft.core.simulation.company import Company


def ours(world: World) -> tuple[float, float]:
    """Median and 99th percentile of one step, us; the state is put back each time."""
    world.step()
    memory, q, v = world._memory, world.system_q, world.system_v

    def call() -> None:
        memory.q[:] = q
        memory.v[:] = v
        world.step()

    return measure(call)


def mujoco_step(character: Character, q: np.ndarray, rate: float = 120.0) -> tuple[float, int]:
    """Median of `mj_step` from a state, us, and the contacts it found."""
    model = mujoco.MjModel.from_xml_string(character.to_mjcf())
    model.opt.timestep = 1.0 / rate
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_step(model, data)
    warm = data.qacc_warmstart.copy()

    def call() -> None:
        data.qpos[:] = q
        data.qvel[:] = 0.0
        data.qacc_warmstart[:] = warm
        mujoco.mj_step(model, data)

    return measure(call)[0], data.ncon


def on_one_foot(character: Character) -> np.ndarray:
    """A pose as in walking: the left hip and knee bent, four corners on the ground."""
    bend = np.zeros(character.nv)
    tree = character.tree
    bend[tree.velocity_start[character.index("left_thigh")] + 1] = -0.5
    bend[tree.velocity_start[character.index("left_shank")]] = 0.9
    return dynamics.integrate(character, character.neutral(), bend, 1.0)


def sleepers(count: int) -> World:
    """Flat boxes on the ground, each on four corners."""
    joint = Joint("bystander", "hinge", axes=((0.0, 0.0, 1.0),))
    bystander = Character("bystander", (Body("bystander", None, joint, 1.0, np.eye(3), position=(0.0, 0.0, 9.0)),))
    boxes = [Prop.box(f"box_{i}", (0.1, 0.1, 0.05), 1.0, (0.5 * i, 0.0, 0.05)) for i in range(count)]
    return World(bystander, props=boxes, pairs=())


def walking(count: int) -> Company:
    """So many of muico29, as in walking, apart from each other."""
    worlds = []
    for number in range(count):
        world = World(Character.preset("muico29"))
        q = on_one_foot(world.character)
        q[1] += 2.0 * number
        world.reset(q)
        worlds.append(world)
    return Company(worlds)


def step_of(company: Company) -> tuple[float, float]:
    """Median and 99th percentile of one step of all, us; the states are put back each time."""
    actions = dict.fromkeys(range(len(company.worlds)))
    company.step(actions)
    start = [(world.machine.memory, world.system_q, world.system_v) for world in company.worlds]

    def call() -> None:
        for memory, q, v in start:
            memory.q[:] = q
            memory.v[:] = v
        company.step(actions)

    return measure(call)


def rows() -> Iterator[Row]:
    muico = Character.preset("muico29")
    for name, q in (("standing on 8 corners", muico.neutral()), ("as in walking, on 4", on_one_foot(muico))):
        reference, contacts = mujoco_step(muico, q)
        label = f"mj_step, {contacts} contacts"
        world = World(muico)
        world.reset(q)
        yield Row(f"step of muico29 {name}", *ours(world), label, reference)
    for count in (1, 2, 4, 8):
        yield Row(f"step of {count} boxes, {4 * count} contacts", *ours(sleepers(count)))
    for name in ("muico29", "jain42"):
        character = Character.preset(name)
        world = World(character, [])
        reference, _ = mujoco_step(character.with_contacts(()), character.neutral())
        yield Row(f"step of {name} in the air", *ours(world), "mj_step", reference)
    alone = step_of(walking(1))[0]
    for count in (2, 5, 10):
        yield Row(f"step of {count} characters apart", *step_of(walking(count)), "of one alone", alone)
    hand = walking(2)
    for number, world in enumerate(hand.worlds):
        q = world.q
        q[1] = 0.55 * number
        world.reset(q)
    yield Row("step of 2 characters that touch", *step_of(hand), "of one alone", alone)
