# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: what was done on the stage, as empties with keyed forces or a keyed course and balls to be thrown, and back.

Forces have a key for each step of the simulation, at the fraction of a frame where it is, and are in single precision
from the start: so what is read is what was done, to the last bit, until an animator edits it.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...core.live.take import Take
from ...core.motion.clip import Clip
from ...core.motion.quaternions import Array
from ...core.simulation import Course, Prop, Push
from ..overlay.data import read_rides
from ..properties.course import KEYED
from ..typed import as_kind, settings_on
from ..writer import own_bag, remove_curves, write_curve
from .attachment import attach
from .choosing import check_own, own_collection

ARROW = 0.3  # m
FORCE = "heft.push.force"
COURSE = "heft.course."
SMALLEST = 1e-3  # m


class Clock(NamedTuple):
    """How scene frames and steps of the simulation go together."""

    first_frame: float  # at which time begins
    fps: float
    rate: float  # steps a second

    def frames(self, first: int, count: int) -> Array:
        """The frames of samples from a number on, one a step."""
        steps = np.arange(first, first + count, dtype=np.float64)
        found: Array = (self.first_frame + steps / self.rate * self.fps).astype(np.float32).astype(np.float64)
        return found

    def sample(self, frame: float) -> int:
        """The sample that is nearest to a frame."""
        return round((frame - self.first_frame) / self.fps * self.rate)


def find_taken(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the pushes of a character's takes that are shown, in the order in which they act."""
    found = [
        other
        for other in view_layer.objects
        if other.type == "EMPTY"
        and settings_on(other).push.armature == armature
        and settings_on(other).push.taken
        and other.visible_get(view_layer=view_layer)
    ]
    return sorted(found, key=lambda empty: settings_on(empty).push.taken)


def push_taken(empty: bpy.types.Object, armature: bpy.types.Object, clip: Clip, clock: Clock) -> Push | None:
    """Return a push of a take, by its keys; None where it has none."""
    keyed = [curve for curve in curves_of(empty, FORCE) if len(curve.keyframe_points)]
    if not keyed:
        return None
    first = min(clock.sample(curve.keyframe_points[0].co.x) for curve in keyed)
    last = max(clock.sample(curve.keyframe_points[-1].co.x) for curve in keyed)
    if last <= first:
        return None
    frames = clock.frames(first, last - first + 1)
    force = np.zeros((len(frames), 3))
    for curve in keyed:
        force[:, curve.array_index] = [curve.evaluate(frame) for frame in frames.tolist()]
    push = settings_on(empty).push
    body = attach(armature, push.bone, clip, empty.name).body
    x, y, z = push.point
    return Push(body, force, clock.rate, first / clock.rate, (x, y, z), foreseen=False)


def find_course_taken(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> bpy.types.Object | None:
    """Return what has the course of a character's takes, if it is shown."""
    found = (other for other in view_layer.objects if settings_on(other).course.walker == armature)
    return next((one for one in found if one.visible_get(view_layer=view_layer)), None)


def course_taken(empty: bpy.types.Object, clock: Clock) -> Course | None:
    """Return the course of a take at whole frames, by its keys; None where it has none."""
    keyed = {curve.data_path.removeprefix(COURSE): curve for curve in curves_of(empty, COURSE)}
    keyed = {name: curve for name, curve in keyed.items() if len(curve.keyframe_points)}
    if not keyed:
        return None
    last = max(curve.keyframe_points[-1].co.x for curve in keyed.values())
    frames = np.arange(max(round(last - clock.first_frame), 0) + 1)
    own = settings_on(empty).course  # says what is not keyed
    values = np.array([np.full(len(frames), getattr(own, name)) for name in KEYED])
    for name, curve in keyed.items():
        values[KEYED.index(name)] = [curve.evaluate(clock.first_frame + frame) for frame in frames.tolist()]
    return Course(frames / clock.fps, *values)


def curves_of(empty: bpy.types.Object, start: str) -> list[bpy.types.FCurve]:
    """Return the curves that act on what an empty of a take has there, by how their paths start."""
    animation = empty.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        return []
    return [curve for curve in own_bag(empty).fcurves if curve.data_path.startswith(start) and not curve.mute]


def ball_taken(thing: bpy.types.Object, name: str, clock: Clock) -> Prop:
    """Return a thrown ball."""
    throw = settings_on(thing).throw
    x, y, z = throw.place
    vx, vy, vz = throw.velocity
    return Prop.sphere(
        name,
        throw.radius,
        thing.rigid_body.mass,
        (x, y, z),
        velocity=(vx, vy, vz, 0.0, 0.0, 0.0),
        thrown=clock.sample(throw.frame) / clock.rate,
    )


def write_take(context: bpy.types.Context, armature: bpy.types.Object, take: Take, clock: Clock) -> None:
    """Keep a take: a bake then plays it again. What earlier takes left stays."""
    check_own(armature)
    settings = settings_on(armature)
    bones = {body: ride.bone for body, ride in read_rides(settings.rides).items()}
    unit = context.scene.unit_settings.scale_length * settings.scale
    known = [settings_on(thing).push.taken for thing in things_taken(armature)]
    for number, push in enumerate(take.pushes, max(known, default=0) + 1):
        write_push(context, armature, push, bones[push.body], number, clock, unit)
    if take.balls:
        collection = own_collection(context, armature, "props")
        thrown = [settings_on(other).throw.taken for other in collection.all_objects]
        for number, ball in enumerate(take.balls, max(thrown, default=0) + 1):
            write_ball(context, collection, ball, number, clock, unit)
    if take.course is not None:
        write_course(context, armature, take.course, clock)
    settings.take.seconds, settings.take.loops = take.seconds, take.loops


def write_push(
    context: bpy.types.Context,
    armature: bpy.types.Object,
    push: Push,
    bone: str,
    number: int,
    clock: Clock,
    unit: float,
) -> None:
    """Add an arrow that goes with its bone, with the force keyed."""
    empty = bpy.data.objects.new(f"Take {bone}", None)
    empty.empty_display_type, empty.empty_display_size = "PLAIN_AXES", ARROW / unit
    takes_of(context, armature).objects.link(empty)
    follow = as_kind(empty.constraints.new("COPY_LOCATION"), bpy.types.CopyLocationConstraint)
    follow.target, follow.subtarget, follow.head_tail = armature, bone, 0.5
    own = settings_on(empty).push
    own.armature, own.bone, own.taken, own.point = armature, bone, number, push.point
    frames = clock.frames(round(push.start * clock.rate), len(push.force))
    for axis in range(3):
        write_curve(own_bag(empty), FORCE, axis, "Push", frames, push.force[:, axis])


def write_course(context: bpy.types.Context, armature: bpy.types.Object, course: Course, clock: Clock) -> None:
    """Key the speeds and the heading where they change. What earlier takes left of them is in it."""
    empty = next((one for one in things_taken(armature) if settings_on(one).course.walker == armature), None)
    if empty is None:
        empty = bpy.data.objects.new("Take Course", None)
        empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", ARROW
        takes_of(context, armature).objects.link(empty)
        settings_on(empty).course.walker = armature
    bag = own_bag(empty)
    remove_curves(bag, COURSE)
    for name in KEYED:
        values = getattr(course, name)
        changes = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan)[:-1])
        rows = np.unique(np.append(changes, len(values) - 1))
        write_curve(bag, COURSE + name, 0, "Walk", clock.first_frame + rows, values[rows], "CONSTANT")


def takes_of(context: bpy.types.Context, armature: bpy.types.Object) -> bpy.types.Collection:
    """Return the collection where pushes of an armature's takes are, made if there is none."""
    for thing in things_taken(armature):
        if thing.type == "EMPTY" and thing.users_collection and thing.users_collection[0].is_editable:
            return thing.users_collection[0]
    collection = bpy.data.collections.new(f"{armature.name} Takes")
    context.scene.collection.children.link(collection)
    return collection


def write_ball(
    context: bpy.types.Context,
    collection: bpy.types.Collection,
    ball: Prop,
    number: int,
    clock: Clock,
    unit: float,
) -> None:
    """Add a ball to be thrown, with a rigid body."""
    assert ball.thrown is not None
    radius = getattr(ball.shapes[0], "radius", SMALLEST)
    thing = bpy.data.objects.new(ball.name, ball_mesh())
    thing.scale = (radius / unit,) * 3
    x, y, z = ball.body.position
    thing.location = (x / unit, y / unit, z / unit)
    collection.objects.link(thing)
    own = context.temp_override(object=thing, active_object=thing, selected_objects=[thing])
    with own:  # type: ignore[attr-defined]
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    body = thing.rigid_body
    body.type, body.kinematic, body.collision_shape, body.mass = "ACTIVE", True, "SPHERE", ball.body.mass
    throw = settings_on(thing).throw
    throw.taken, throw.radius = number, radius
    throw.place, throw.velocity = (x, y, z), ball.velocity[:3]
    throw.frame = clock.frames(round(ball.thrown * clock.rate), 1)[0]


def ball_mesh() -> bpy.types.Mesh:
    """Return a new ball of radius 1."""
    import bmesh

    mesh, made = bpy.data.meshes.new("Ball"), bmesh.new()
    bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=12, radius=1.0)
    made.to_mesh(mesh)
    made.free()
    mesh.shade_smooth()
    return mesh


def things_taken(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Return all that takes of a character left in the scene."""
    settings = settings_on(armature)
    balls = () if settings.props is None else settings.props.all_objects
    pushes = (other for other in bpy.data.objects if settings_on(other).push.armature == armature)
    return [
        *(one for one in pushes if settings_on(one).push.taken),
        *(other for other in bpy.data.objects if settings_on(other).course.walker == armature),
        *(one for one in balls if settings_on(one).throw.taken),
    ]


def drop_takes(armature: bpy.types.Object) -> int:
    """Take all of it away, and return how many things there were; bakes are as without the stage again."""
    check_own(armature)
    found = things_taken(armature)
    for thing in found:
        data = thing.data
        own = [one for one in thing.users_collection if one.name.endswith(" Takes") and len(one.objects) == 1]
        for collection in own:
            bpy.data.collections.remove(collection)
        bpy.data.objects.remove(thing)
        if isinstance(data, bpy.types.Mesh) and data.users == 0:
            bpy.data.meshes.remove(data)
    settings_on(armature).take.seconds = 0.0
    return len(found)
