# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character carries, as its plan knows it: weights, and props that it holds all along."""

import math
from dataclasses import replace

import numpy as np

from ..character import Character
from ..character.parts import Capsule, Sphere
from ..character.strength import motor_strengths
from ..contact.shapes import Box, Hull, Shape
from ..contact.terrain import Terrain
from ..motion import quaternions
from ..motion.body_plan import BodyPlan
from ..motion.quaternions import Array
from ..motion.spacetime import Carrying
from ..motion.tracks import ground_under
from ..motion.variants import carrying
from ..simulation.props import Prop
from ..simulation.scene import Load, Scene
from .job import BakeJob

RESTS = 0.03  # m: a prop no higher over the ground stands on it, and is pushed along rather than carried
SMALLEST = 0.01  # m: what turns freely in a hand resists no turning


def loaded(character: Character, scene: Scene, *, unplanned: bool) -> Character:
    """The character under the scene's gravity and with its loads; those that the controller does not know on demand."""
    names = [body.name for body in character.bodies]
    for load in scene.loads:
        if load.body not in names:
            raise ValueError(f"The load '{load.name}' is attached to an unknown body '{load.body}'.")
        if load.planned or unplanned:
            character = carrying(character, load.body, load.as_mass())
    return replace(character, gravity=scene.gravity)


def with_held(job: BakeJob, ground: Terrain) -> Scene:
    """The job's scene with the props that are held all along as loads at the grips, each in equal parts."""
    step = 1.0 / job.rate
    loads = list(job.scene.loads)
    for prop in held_props(job):
        if _rests(prop, ground, job.rate):
            continue
        grips = [
            grab
            for grab in job.scene.grabs
            if grab.other == prop.name and grab.start <= step and grab.end >= job.duration - step
        ]
        mass = prop.body.mass / len(grips)
        turning = math.sqrt(float(np.trace(np.array(prop.body.inertia))) / 3.0 / (0.4 * prop.body.mass))
        for number, grab in enumerate(grips, 1):
            radius = max(turning if grab.kind == "full" else 0.0, SMALLEST)
            loads.append(Load(f"{prop.name} in grip {number}", grab.body, mass, grab.point, radius))
    return replace(job.scene, loads=tuple(loads))


def held_props(job: BakeJob) -> tuple[Prop, ...]:
    """Free props that a body of the character holds from the first frame to the last."""
    step = 1.0 / job.rate
    props = {prop.name for prop in job.scene.props}
    held = {
        grab.other
        for grab in job.scene.grabs
        if grab.body not in props and grab.start <= step and grab.end >= job.duration - step
    }
    return tuple(prop for prop in job.scene.props if prop.name in held and not prop.hangs)


def carrying_of(job: BakeJob, plan: BodyPlan, scene: Scene) -> Carrying | None:
    """How a person spares itself who carries the loads of such a scene; None who carries none, or is no person."""
    if plan.quadruped or job.effort <= 0.0 or not any(load.planned for load in scene.loads):
        return None
    bare = loaded(plan.character, replace(scene, loads=()), unplanned=False)
    return Carrying(bare, motor_strengths(bare, job.body.sex), job.effort)


def _rests(prop: Prop, ground: Terrain, rate: float) -> bool:
    """Whether it stands on the ground at the start."""
    ends = [_ends(shape) for shape in prop.shapes]
    if not ends:
        return False
    own = np.concatenate([places for places, _ in ends])
    radius = np.concatenate([np.full(len(places), thick) for places, thick in ends])
    there = quaternions.rotate(np.array(prop.body.orientation), own) + prop.body.position
    return bool(ground_under(ground, there[None], radius, rate).height.min() < RESTS)


def _ends(shape: Shape) -> tuple[Array, float]:
    """Points (n, 3) of a shape, and how thick it is around them, m."""
    if isinstance(shape, Box):
        corners = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
        turned = quaternions.rotate(np.array(shape.orientation), corners * shape.half_extents)
        return turned + shape.position, 0.0
    if isinstance(shape, Hull):
        return np.array(shape.corners), 0.0
    if isinstance(shape, Capsule):
        return np.array([shape.start, shape.end]), shape.radius
    return np.array([shape.position]), shape.radius if isinstance(shape, Sphere) else 0.0
