# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion is made for: the scene, and the ground, seats and holds that it tells of and the scene lacks."""

import math
from typing import NamedTuple

from ...character import Character
from ...contact.terrain import Plane, Surface, Terrain, make_terrain
from ...motion.fit import Trajectory
from ...motion.ground import MissingGround, missing_ground
from ...motion.holds import hangs
from ...motion.labels import Grab, label
from ...motion.prepare import Performance
from ...motion.schedule import ContactPoint
from ...motion.support import Support
from ...motion.supports import find_supports
from ..job import BakeJob


class Surroundings(NamedTuple):
    """What a motion is made for: the scene, and what that lacks."""

    terrain: Terrain | None
    grabs: list[Grab]
    ground: MissingGround | None
    supports: tuple[Support, ...]

    def bare(self, terrain: Terrain | None) -> "Surroundings":
        """The same with ground alone; the scene's is `terrain`."""
        rests = {rest for support in self.supports for rest in support.rests}
        grabs = [grab for grab in self.grabs if grab not in rests]
        return Surroundings(
            terrain if self.ground is None else make_terrain([self.ground.ground]), grabs, self.ground, ()
        )


def find_surroundings(
    job: BakeJob, performance: Performance, character: Character, trajectory: Trajectory, terrain: Terrain | None
) -> Surroundings:
    """Ground, seats and holds that the motion tells of, where the scene has none and they may be given."""
    grabs = grabs_held(job, character, trajectory)
    if len(performance.way) or not may_lack_supports(job, terrain):
        return Surroundings(terrain, grabs, None, ())
    ground = find_ground(job, character, trajectory, terrain)
    surfaces: tuple[Surface, ...] = (Plane(),) if ground is None else (ground.ground,)
    if terrain is not None:
        surfaces = job.scene.surfaces
    known = make_terrain(surfaces)
    schedule = label(character, trajectory, known, grabs=grabs)
    supports = tuple(find_supports(character, trajectory, schedule, known))
    solid = [mesh for support in supports for mesh in support.solid]
    if ground is not None or solid:
        terrain = make_terrain([*surfaces, *solid])
    rests = [rest for support in supports for rest in support.rests]
    return Surroundings(terrain, grabs + rests, ground, supports)


def find_ground(
    job: BakeJob, character: Character, trajectory: Trajectory, terrain: Terrain | None
) -> MissingGround | None:
    """Ground that the motion tells of, where the scene says nothing of ground and what is missing may be given."""
    if not may_lack_ground(job, terrain) or hangs(character, trajectory):
        return None
    return missing_ground(character, trajectory, label(character, trajectory))


def may_lack_ground(job: BakeJob, terrain: Terrain | None) -> bool:
    """Whether nothing is said of ground, and what is missing of it may be given."""
    says = terrain is not None or job.scene.surfaces or job.scene.grabs or job.ground != "auto"
    return not (says or job.cyclic or job.help == "none" or not job.optimise)


def may_lack_supports(job: BakeJob, terrain: Terrain | None) -> bool:
    """Whether seats and holds that are missing may be given."""
    made_for = terrain is not None or (not job.scene.surfaces and job.ground == "auto")
    return made_for and not job.cyclic and job.help != "none" and job.optimise


def grabs_held(job: BakeJob, character: Character, trajectory: Trajectory) -> list[Grab]:
    """The grabs of things that stay, move by themselves or hang from something, as the reference knows them.

    What hangs goes with who holds it, as the motion has it.
    """
    found = []
    offset = (trajectory.first_frame - job.frames[0]) / job.fps
    names = [body.name for body in character.bodies]
    for number, grab in enumerate(job.scene.grabs):
        if grab.body not in names or not job.scene.bears(grab):
            continue
        start = max((grab.start - offset) * trajectory.rate, 0.0)
        end = min((grab.end - offset) * trajectory.rate, len(trajectory.q) - 1.0)
        if start < end:
            moves = grab.motion is not None or grab.other is not None
            point = ContactPoint(f"grab_{number + 1}", names.index(grab.body), grab.point, grab=True, moves=moves)
            frames = trajectory.frame(math.ceil(start)), trajectory.frame(math.floor(end))
            found.append(Grab(point, *frames))
    return found
