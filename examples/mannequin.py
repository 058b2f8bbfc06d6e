# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist's mannequin: a clean human rig of 21 bones and a wooden mesh bound to it.

Heights and lengths are fractions of stature after Drillis and Contini (1966) as printed in Winter, "Biomechanics and
Motor Control of Human Movement", figure 4.1. Their shoulder and hip breadths are those of the surface; the joint
centres lie further in (hips 0.10, shoulders 0.206 of stature apart).

The figure faces -Y with its left side at +X, stands with its soles on z = 0 and holds its arms in a relaxed A. Every
hinge bends about its bone's local X axis: positive turns flex knees and elbows, lower the foot and curl the toes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blender_addon.typed import as_kind, set_input

if TYPE_CHECKING:
    import bpy

Vector = NDArray[np.float64]
Direction = tuple[float, float, float]

STATURE = 1.75
"""m"""

# Fractions of stature.
ANKLE_HEIGHT = 0.039
KNEE_HEIGHT = 0.285
HIP_HEIGHT = 0.530
SHOULDER_HEIGHT = 0.818
UPPER_ARM_LENGTH = 0.186
FOREARM_LENGTH = 0.146
HAND_LENGTH = 0.108
FOOT_LENGTH = 0.152
FOOT_BREADTH = 0.055
HIP_SPACING = 0.100
SHOULDER_SPACING = 0.206
LUMBAR_HEIGHT = 0.588
THORAX_HEIGHT = 0.672
NECK_HEIGHT = 0.842
SKULL_HEIGHT = 0.903

# Fractions of foot length: the ankle and the joint of the toes, measured from the back of the heel.
ANKLE_PLACE = 0.24
BALL_PLACE = 0.70

BALL_HEIGHT = 0.015
"""Of the joint of the toes over the sole, in fractions of stature."""

ARM_ABDUCTION = np.radians(36.0)
ELBOW_FLEXION = np.radians(8.0)

FORWARD = (0.0, -1.0, 0.0)
BACKWARD = (0.0, 1.0, 0.0)
DOWN = (0.0, 0.0, -1.0)


class Bone(NamedTuple):
    """One bone at rest, in metres; `z_axis` is the direction its local Z axis is rolled towards."""

    name: str
    parent: str | None
    head: Vector
    tail: Vector
    z_axis: Direction


def skeleton() -> list[Bone]:
    """Return the bones at rest, parents before children."""
    bones: list[Bone] = []

    def chain(names: list[str], parent: str | None, points: list[Vector], z_axes: list[Direction]) -> None:
        for name, head, tail, z_axis in zip(names, points[:-1], points[1:], z_axes, strict=True):
            bones.append(Bone(name, parent, STATURE * head, STATURE * tail, z_axis))
            parent = name

    spine = [
        np.array([0.0, 0.002, HIP_HEIGHT]),
        np.array([0.0, 0.004, LUMBAR_HEIGHT]),
        np.array([0.0, 0.009, THORAX_HEIGHT]),
        np.array([0.0, 0.015, NECK_HEIGHT]),
        np.array([0.0, 0.003, SKULL_HEIGHT]),
        np.array([0.0, -0.003, 1.0]),
    ]
    chain(["pelvis", "spine", "chest", "neck", "head"], None, spine, [FORWARD] * 5)
    for suffix, side in ((".L", 1.0), (".R", -1.0)):
        mirror = np.array([side, 1.0, 1.0])
        shoulder = np.array([SHOULDER_SPACING / 2, 0.010, SHOULDER_HEIGHT])
        reach = np.array([np.sin(ARM_ABDUCTION), 0.0, -np.cos(ARM_ABDUCTION)])
        forearm = np.cos(ELBOW_FLEXION) * reach + np.sin(ELBOW_FLEXION) * np.array(FORWARD)
        elbow = shoulder + UPPER_ARM_LENGTH * reach
        wrist = elbow + FOREARM_LENGTH * forearm
        arm = [np.array([0.012, 0.001, SHOULDER_HEIGHT + 0.004]), shoulder, elbow, wrist, wrist + HAND_LENGTH * forearm]
        names = [name + suffix for name in ("clavicle", "upper_arm", "forearm", "hand")]
        chain(names, "chest", [mirror * point for point in arm], [FORWARD] * 4)

        # Hip, knee and ankle lie in one sagittal plane, so that all of the leg's hinges share the world's X axis.
        lateral = HIP_SPACING / 2
        ankle = np.array([lateral, 0.006, ANKLE_HEIGHT])
        heel = ankle[1] + ANKLE_PLACE * FOOT_LENGTH
        leg = [
            np.array([lateral, 0.002, HIP_HEIGHT]),
            np.array([lateral, -0.004, KNEE_HEIGHT]),
            ankle,
            np.array([lateral, heel - BALL_PLACE * FOOT_LENGTH, BALL_HEIGHT]),
            np.array([lateral, heel - FOOT_LENGTH, BALL_HEIGHT]),
        ]
        names = [name + suffix for name in ("thigh", "shin", "foot", "toe")]
        chain(names, "pelvis", [mirror * point for point in leg], [BACKWARD, BACKWARD, DOWN, DOWN])
    return bones


class Part(NamedTuple):
    """A tapered, rounded solid about the axis from `start` to `end`, moving with one bone.

    `sections` has rows (place along the axis 0-1, half width, half depth, shift towards the front), in metres; a dome
    closes either end, `caps` metres tall. `squareness` is the exponent of the superellipse, 2 for an ellipse.
    """

    bone: str
    material: int
    start: Vector
    end: Vector
    sections: list[tuple[float, float, float, float]]
    caps: tuple[float, float]
    front: Direction = FORWARD
    squareness: float = 2.0


WOOD, JOINT = 0, 1
SEGMENTS = 28
CAP_RINGS = 6
RINGS_BETWEEN_SECTIONS = 4


def cubic(
    t: Vector | float, width: Vector | float, ends: tuple[Vector, Vector], slopes: tuple[Vector, Vector]
) -> Vector:
    """Evaluate the cubic with these values and slopes at the ends of an interval, at a fraction t of its width."""
    start: Vector = (1 + 2 * t) * (1 - t) ** 2 * ends[0] + t * (1 - t) ** 2 * width * slopes[0]
    end: Vector = (3 - 2 * t) * t**2 * ends[1] - (1 - t) * t**2 * width * slopes[1]
    result: Vector = start + end
    return result


def smooth_through(x: Vector, y: Vector, at: Vector) -> Vector:
    """Interpolate by a cubic through the points, with the slope of their parabolas at each of them."""
    if len(x) == 1:
        return np.full(len(at), y[0])
    slope = np.gradient(y, x)
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    width = x[k + 1] - x[k]
    return cubic((at - x[k]) / width, width, (y[k], y[k + 1]), (slope[k], slope[k + 1]))


def loft(part: Part) -> tuple[Vector, list[list[int]]]:
    """Return vertices (n, 3) and faces of one part; the faces look outwards."""
    length = float(np.linalg.norm(part.end - part.start))
    axis = (part.end - part.start) / length
    depth = np.array(part.front) - axis * np.dot(part.front, axis)
    depth /= np.linalg.norm(depth)
    width = np.cross(depth, axis)

    # Rings along the axis: half width, half depth, shift, and the domes as quarters of an ellipse.
    rows = np.array(part.sections)
    place = np.linspace(rows[0, 0], rows[-1, 0], 1 + RINGS_BETWEEN_SECTIONS * (len(rows) - 1))
    body = np.column_stack([smooth_through(rows[:, 0], rows[:, k], place) for k in (1, 2, 3)])
    angle = np.linspace(0.0, np.pi / 2, CAP_RINGS + 1)[1:-1]
    shrink = np.column_stack([np.cos(angle), np.cos(angle), np.ones_like(angle)])
    profile = np.concatenate([(shrink * body[0])[::-1], body, shrink * body[-1]])
    place *= length
    bottom, top = place[0] - part.caps[0] * np.sin(angle)[::-1], place[-1] + part.caps[1] * np.sin(angle)
    along = np.concatenate([bottom, place, top])

    turn = np.linspace(0.0, 2 * np.pi, SEGMENTS, endpoint=False)
    cosine, sine = (np.sign(f) * np.abs(f) ** (2 / part.squareness) for f in (np.cos(turn), np.sin(turn)))
    rings = part.start + along[:, None, None] * axis
    rings = rings + (profile[:, :1] * cosine)[:, :, None] * width
    rings = rings + (profile[:, 1:2] * sine + profile[:, 2:])[:, :, None] * depth
    poles = [
        part.start + (place[0] - part.caps[0]) * axis + body[0, 2] * depth,
        part.start + (place[-1] + part.caps[1]) * axis + body[-1, 2] * depth,
    ]
    vertices = np.concatenate([rings.reshape(-1, 3), poles])
    vertices[:, 2] = np.maximum(vertices[:, 2], 0.0)  # soles are flat

    last = (len(along) - 1) * SEGMENTS
    south, north = last + SEGMENTS, last + SEGMENTS + 1
    faces: list[list[int]] = []
    for i in range(SEGMENTS):
        j = (i + 1) % SEGMENTS
        faces.append([south, j, i])
        faces += [[k + i, k + j, k + j + SEGMENTS, k + i + SEGMENTS] for k in range(0, last, SEGMENTS)]
        faces.append([last + i, last + j, north])
    return vertices, faces


def ball(bone: str, center: Vector, radius: float, material: int = JOINT) -> Part:
    """Return a round joint."""
    up = np.array([0.0, 0.0, radius])
    return Part(bone, material, center, center + up, [(0.0, radius, radius, 0.0)], (radius, radius))


def parts() -> list[Part]:
    """Return the solids of the whole figure."""
    bone = {b.name: b for b in skeleton()}
    up = np.array([0.0, 0.0, 1.0])
    hips, loins, thorax = bone["pelvis"].head, bone["spine"].head, bone["chest"].head
    neck, skull = bone["neck"].head, bone["head"].head
    chin = np.array([0.0, -0.016, 0.866 * STATURE])
    crown = np.array([0.0, 0.004, STATURE])
    solids = [
        Part(
            "pelvis",
            WOOD,
            hips - 0.045 * up,
            loins + 0.004 * up,
            [
                (0.0, 0.085, 0.078, 0.0),
                (0.4, 0.142, 0.104, -0.006),
                (0.75, 0.144, 0.102, -0.004),
                (1.0, 0.125, 0.088, 0.0),
            ],
            (0.035, 0.022),
            squareness=2.4,
        ),
        Part("spine", JOINT, loins + 0.058 * up, thorax, [(0.0, 0.108, 0.084, 0.0)], (0.085, 0.085)),
        Part(
            "chest",
            WOOD,
            thorax - 0.01 * up,
            neck - 0.024 * up,
            [
                (0.0, 0.112, 0.086, 0.0),
                (0.3, 0.136, 0.108, 0.004),
                (0.65, 0.150, 0.112, 0.006),
                (0.86, 0.136, 0.090, -0.002),
                (1.0, 0.082, 0.066, -0.010),
            ],
            (0.04, 0.026),
            squareness=2.35,
        ),
        Part(
            "neck",
            JOINT,
            neck - 0.03 * up,
            skull + 0.01 * up,
            [(0.0, 0.056, 0.056, 0.0), (0.5, 0.047, 0.049, 0.0), (1.0, 0.048, 0.052, 0.0)],
            (0.02, 0.02),
        ),
        Part(
            "head",
            WOOD,
            chin,
            crown,
            [
                (0.12, 0.045, 0.054, 0.022),
                (0.28, 0.062, 0.077, 0.011),
                (0.47, 0.074, 0.093, 0.004),
                (0.66, 0.077, 0.097, 0.000),
            ],
            (0.028, 0.34 * (STATURE - 0.866 * STATURE)),
        ),
    ]
    for suffix in (".L", ".R"):
        solids += arm_parts(bone, suffix) + leg_parts(bone, suffix)
    return solids


def arm_parts(bone: dict[str, Bone], suffix: str) -> list[Part]:
    """Return the solids of one arm."""
    clavicle, upper_arm, forearm, hand = (bone[name + suffix] for name in ("clavicle", "upper_arm", "forearm", "hand"))
    side = np.sign(hand.head[0])
    reach = (hand.tail - hand.head) / np.linalg.norm(hand.tail - hand.head)
    forward = np.array(FORWARD)
    palm = np.cross(reach, forward) * side
    thumb = hand.head + 0.036 * reach + 0.022 * forward
    return [
        Part(
            clavicle.name,
            WOOD,
            clavicle.head + (clavicle.tail - clavicle.head) * 0.35 + 0.008 * np.array([0.0, 0.0, 1.0]),
            clavicle.tail,
            [(0.0, 0.036, 0.050, 0.0), (0.8, 0.036, 0.040, 0.0)],
            (0.03, 0.02),
        ),
        ball(upper_arm.name, upper_arm.head, 0.049),
        Part(
            upper_arm.name,
            WOOD,
            upper_arm.head,
            upper_arm.tail,
            [(0.13, 0.041, 0.043, 0.0), (0.42, 0.043, 0.048, 0.003), (0.85, 0.034, 0.036, 0.0)],
            (0.022, 0.018),
        ),
        ball(forearm.name, forearm.head, 0.037),
        Part(
            forearm.name,
            WOOD,
            forearm.head,
            forearm.tail,
            [(0.13, 0.034, 0.037, 0.0), (0.35, 0.036, 0.042, 0.002), (0.9, 0.023, 0.028, 0.0)],
            (0.018, 0.012),
        ),
        ball(hand.name, hand.head, 0.025),
        Part(
            hand.name,
            WOOD,
            hand.head,
            hand.tail + 0.012 * palm,
            [
                (0.13, 0.016, 0.027, 0.0),
                (0.35, 0.018, 0.041, 0.002),
                (0.6, 0.016, 0.040, 0.001),
                (0.9, 0.011, 0.028, -0.002),
            ],
            (0.012, 0.018),
            squareness=2.5,
        ),
        Part(
            hand.name,
            WOOD,
            thumb,
            thumb + 0.056 * reach + 0.040 * forward + 0.016 * palm,
            [(0.0, 0.014, 0.016, 0.0), (0.5, 0.012, 0.013, 0.0), (0.9, 0.009, 0.010, 0.0)],
            (0.012, 0.009),
        ),
    ]


def leg_parts(bone: dict[str, Bone], suffix: str) -> list[Part]:
    """Return the solids of one leg."""
    thigh, shin, foot, toe = (bone[name + suffix] for name in ("thigh", "shin", "foot", "toe"))
    half_breadth = FOOT_BREADTH * STATURE / 2
    joint = BALL_HEIGHT * STATURE
    up = (0.0, 0.0, 1.0)
    lateral = thigh.head[0]
    heel = np.array([lateral, foot.head[1] + ANKLE_PLACE * FOOT_LENGTH * STATURE, 0.0])
    under_ball = np.array([lateral, foot.tail[1], 0.0])
    tip = np.array([lateral, toe.tail[1], 0.0])
    return [
        ball(thigh.name, thigh.head, 0.070),
        Part(
            thigh.name,
            WOOD,
            thigh.head,
            thigh.tail,
            [(0.13, 0.070, 0.079, 0.0), (0.35, 0.070, 0.080, 0.004), (0.9, 0.047, 0.051, 0.0)],
            (0.04, 0.024),
        ),
        ball(shin.name, shin.head, 0.050),
        Part(
            shin.name,
            WOOD,
            shin.head,
            shin.tail,
            [
                (0.11, 0.044, 0.047, 0.0),
                (0.3, 0.047, 0.056, -0.006),
                (0.6, 0.038, 0.043, -0.004),
                (0.92, 0.029, 0.032, 0.0),
            ],
            (0.02, 0.014),
        ),
        ball(foot.name, foot.head, 0.036),
        # Half heights a little over the height of the middle: the floor cuts the sole flat.
        Part(
            foot.name,
            WOOD,
            heel,
            under_ball,
            [
                (0.14, 0.030, 0.038, 0.034),
                (0.34, 0.034, 0.045, 0.041),
                (0.65, 0.039, 0.039, 0.035),
                (0.97, half_breadth, 0.029, 0.025),
            ],
            (0.022, 0.002),
            front=up,
            squareness=2.3,
        ),
        # The toes' hinge is a roller that touches the floor at any angle of the foot.
        Part(
            toe.name,
            JOINT,
            toe.head - np.array([0.7 * half_breadth, 0.0, 0.0]),
            toe.head + np.array([0.7 * half_breadth, 0.0, 0.0]),
            [(0.0, joint, joint, 0.0), (1.0, joint, joint, 0.0)],
            (0.35 * half_breadth, 0.35 * half_breadth),
        ),
        Part(
            toe.name,
            WOOD,
            under_ball,
            tip,
            [(0.04, half_breadth, 0.029, 0.024), (0.4, 0.046, 0.026, 0.021), (0.78, 0.035, 0.021, 0.017)],
            (0.002, 0.22 * float(np.linalg.norm(tip - under_ball))),
            front=up,
            squareness=2.3,
        ),
    ]


def make_mannequin(context: bpy.types.Context, name: str = "Mannequin") -> bpy.types.Object:
    """Make the rig and its mesh in the context's collection and return the armature object."""
    import bpy

    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    context.collection.objects.link(armature)
    add_bones(context, armature)

    solids = parts()
    mesh_object = bpy.data.objects.new(f"{name}.Body", make_mesh(f"{name}.Body", solids))
    context.collection.objects.link(mesh_object)
    bind(mesh_object, armature, solids)
    return armature


def add_bones(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Fill the armature with the skeleton; it is the active object afterwards."""
    import bpy
    from mathutils import Vector as BlenderVector

    for selected in context.view_layer.objects.selected:
        selected.select_set(False)
    armature.select_set(True)
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    edit_bones = armature.data.edit_bones
    for bone in skeleton():
        edit_bone = edit_bones.new(bone.name)
        edit_bone.head, edit_bone.tail = BlenderVector(bone.head.tolist()), BlenderVector(bone.tail.tolist())
        edit_bone.align_roll(BlenderVector(bone.z_axis))
        if bone.parent is not None:
            edit_bone.parent = edit_bones[bone.parent]
            edit_bone.use_connect = edit_bone.parent.tail == edit_bone.head
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.data.display_type = "STICK"
    armature.show_in_front = True


def make_mesh(name: str, solids: list[Part]) -> bpy.types.Mesh:
    """Return one smooth mesh of all solids, in two materials."""
    import bpy

    vertices: list[Vector] = []
    faces: list[list[int]] = []
    materials: list[int] = []
    start = 0
    for solid in solids:
        points, polygons = loft(solid)
        vertices.append(points)
        faces += [[start + i for i in polygon] for polygon in polygons]
        materials += [solid.material] * len(polygons)
        start += len(points)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.concatenate(vertices).tolist(), [], faces)
    mesh.materials.append(make_material(f"{name} Wood", (0.62, 0.38, 0.19)))
    mesh.materials.append(make_material(f"{name} Joints", (0.17, 0.075, 0.032)))
    mesh.polygons.foreach_set("material_index", materials)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    mesh.update()
    return mesh


def make_material(name: str, color: tuple[float, float, float], roughness: float = 0.42) -> bpy.types.Material:
    """Return a material of one colour, the same in every viewport shading; by default with a satin varnish."""
    import bpy

    material = bpy.data.materials.new(name)
    material.diffuse_color = (*color, 1.0)  # type: ignore[assignment]
    if material.node_tree is None:  # Blender 5 gives every material its nodes, 4.5 asks for them
        material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    set_input(shader, "Base Color", (*color, 1.0))
    set_input(shader, "Roughness", roughness)
    return material


def bind(mesh_object: bpy.types.Object, armature: bpy.types.Object, solids: list[Part]) -> None:
    """Bind every solid rigidly to its bone."""
    import bpy

    start = 0
    for solid in solids:
        group = mesh_object.vertex_groups.get(solid.bone) or mesh_object.vertex_groups.new(name=solid.bone)
        count = len(loft(solid)[0])
        group.add(range(start, start + count), 1.0, "REPLACE")
        start += count
    mesh_object.parent = armature
    modifier = as_kind(mesh_object.modifiers.new("Armature", "ARMATURE"), bpy.types.ArmatureModifier)
    modifier.object = armature
