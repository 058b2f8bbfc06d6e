# SPDX-License-Identifier: GPL-3.0-or-later
"""Things in the way: furniture by its mesh, and what hangs on hinges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import mannequin
from .scene import RED, STEEL, WOOD, Color, Place, Scene, block, choose, walker

if TYPE_CHECKING:
    import bpy


def furniture(
    context: bpy.types.Context, name: str, boxes: list[tuple[Place, Place]], place: Place, turned: float, color: Color
) -> bpy.types.Object:
    """One mesh of boxes, each by its middle and its size."""
    import bpy

    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    vertices = [
        tuple(m + c * s for m, c, s in zip(middle, corner, size, strict=True))
        for middle, size in boxes
        for corner in corners
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], [tuple(8 * k + one for one in side) for k in range(len(boxes)) for side in sides])
    mesh.materials.append(mannequin.make_material(name, color, roughness=0.8))
    result = bpy.data.objects.new(name, mesh)
    result.location, result.rotation_euler.z = place, turned
    context.collection.objects.link(result)
    return result


def chair(context: bpy.types.Context, place: Place, turned: float, color: Color) -> bpy.types.Object:
    """A kitchen chair: a seat, four legs, two posts and a rail, which the mesh joins."""
    legs = [((x, y, 0.215), (0.035, 0.035, 0.43)) for x in (-0.17, 0.17) for y in (-0.17, 0.17)]
    posts = [((x, -0.17, 0.665), (0.035, 0.035, 0.41)) for x in (-0.17, 0.17)]
    others = [((0.0, 0.0, 0.445), (0.4, 0.4, 0.03)), ((0.0, -0.17, 0.83), (0.375, 0.03, 0.1))]
    return furniture(context, "Chair", [*legs, *posts, *others], place, turned, color)


def kicks_chairs(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Through chairs that stand in the way."""
    import bpy

    walks = walker(context, cycles=5)
    chairs = [
        chair(context, (0.22, -2.1, 0.001), 2.6, WOOD),
        chair(context, (-0.25, -3.1, 0.001), 0.4, RED),
    ]
    context.view_layer.update()
    choose(context, [walks, *chairs])
    bpy.ops.heft.add_prop(mass=2.0, shape="MESH")
    choose(context, [walks])
    return [walks]


def swing_door(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Through a door that swings both ways."""
    import bpy

    walks = walker(context, cycles=5)
    leaf = block(context, "Door", (0.9, 0.04, 1.9), (0.0, -2.2, 1.0), WOOD)
    for x in (-0.5, 0.5):
        block(context, "Post", (0.06, 0.08, 2.0), (x, -2.2, 1.0), STEEL)
    context.view_layer.update()
    choose(context, [walks, leaf])
    bpy.ops.heft.add_prop(mass=6.0, shape="BOX")
    hinge = bpy.data.objects.new("Hinge", None)
    context.collection.objects.link(hinge)
    hinge.location = (-0.46, -2.2, 1.0)
    context.view_layer.update()
    choose(context, [hinge])
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    hinge.rigid_body_constraint.object1 = leaf
    choose(context, [walks])
    return [walks]


SCENES = (
    Scene(
        "kicks_chairs",
        "Chairs in the way",
        (
            "Put chairs in the way.",
            "Select them and the character, press **Add Prop** and choose the shape *Mesh*.",
            "Press **Bake**: legs and seats are kicked, not a box around them.",
        ),
        kicks_chairs,
    ),
    Scene(
        "swing_door",
        "A door that swings",
        (
            "Press **Add Prop** with the door selected.",
            "Add an empty at its edge, give it a *Hinge* under Physics ▸ Rigid Body Constraint, and choose the door.",
            "Press **Bake**: the door gives way and swings on.",
        ),
        swing_door,
        camera=(4.6, -3.4, 1.1),
    ),
)
