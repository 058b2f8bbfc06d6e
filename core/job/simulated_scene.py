# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's scene as it is simulated: with what its motion rests on, and at the times at which the motion is there."""

from dataclasses import replace

from ..contact.terrain import RigidMotion, Surface
from ..motion.playback import Playback
from ..simulation import grabs as scene_grab
from ..simulation.scene import Scene
from .job import BakeJob
from .motion import Motion
from .surroundings.floor import floor_at


def scene_surfaces(job: BakeJob, motion: Motion) -> tuple[Surface, ...]:
    """The ground of the simulation, and what else a motion rests on that the scene lacks."""
    in_place = len(motion.way) > 0  # what is carried along would leave the scene's ground
    scene = () if in_place else job.scene.surfaces
    more = [replace(mesh, friction=job.scene.friction) for support in motion.supports for mesh in support.solid]
    return (*(scene or motion.ground or (floor_at(job, motion.lift),)), *more)


def scene_grabs(job: BakeJob, motion: Motion) -> tuple[scene_grab.Grab, ...]:
    """The scene's grabs, and those of bars that it lacks."""
    character = motion.plan.character
    held = [rest for support in motion.supports for rest in support.rests if rest.pulls]
    return (
        *job.scene.grabs,
        *(
            scene_grab.Grab(
                character.bodies[rest.point.body].name,
                rest.point.position,
                start=(rest.start_frame - job.frames[0]) / job.fps,
                end=(rest.end_frame - job.frames[0]) / job.fps + 0.5 / motion.reference.rate,
            )
            for rest in held
        ),
    )


def shifted(scene: Scene, seconds: float) -> Scene:
    """The scene with times counted from some seconds later."""
    if seconds == 0.0:
        return scene
    return replace(
        scene,
        surfaces=tuple(replace(surface, motion=_shifted(surface.motion, seconds)) for surface in scene.surfaces),
        pushes=tuple(replace(push, start=push.start - seconds) for push in scene.pushes),
        grabs=tuple(_grab_shifted(grab, seconds) for grab in scene.grabs),
        props=tuple(
            prop if prop.thrown is None else replace(prop, thrown=prop.thrown - seconds) for prop in scene.props
        ),
        course=replace(scene.course, time=scene.course.time - seconds),
        slider=None if scene.slider is None else replace(scene.slider, time=scene.slider.time - seconds),
        strength=None if scene.strength is None else replace(scene.strength, time=scene.strength.time - seconds),
    )


def played(scene: Scene, playback: Playback) -> Scene:
    """The scene with pushes and grabs when the motion gets to where they are; pushes last as long as they do."""
    if not playback.changes:
        return scene
    return replace(
        scene,
        pushes=tuple(replace(push, start=playback.played(push.start)) for push in scene.pushes),
        grabs=tuple(
            replace(grab, start=playback.played(grab.start), end=playback.played(grab.end)) for grab in scene.grabs
        ),
    )


def _grab_shifted(grab: scene_grab.Grab, seconds: float) -> scene_grab.Grab:
    motion = None if grab.motion is None else _shifted(grab.motion, seconds)
    return replace(grab, start=grab.start - seconds, end=grab.end - seconds, motion=motion)


def _shifted(motion: RigidMotion, seconds: float) -> RigidMotion:
    return replace(motion, start=motion.start - seconds)
