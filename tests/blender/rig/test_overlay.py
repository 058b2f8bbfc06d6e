# SPDX-License-Identifier: GPL-3.0-or-later
"""The character drawn over the rig: lines where the bodies are."""

import bpy
import numpy as np
import pytest
from heft.blender_addon.overlay import data, draw
from heft.core import character as characters
from heft.examples import mannequin, walk


def test_ellipsoid_of_a_solid_ball():
    """I = 2/5 m r^2."""
    moment = 0.4 * 3.0 * 0.2**2
    inertia = ((moment, 0, 0), (0, moment, 0), (0, 0, moment))
    body = characters.Body("ball", None, characters.Joint("free", "free"), 3.0, inertia)
    for circle in data.ellipsoid(body):
        np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 0.2)


def test_outline_of_a_sole_goes_around():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    around = data.outline(corners)
    np.testing.assert_allclose(np.linalg.norm(np.diff(around, axis=0), axis=1), 1.0)


@pytest.mark.usefixtures("heft_registered")
def test_lines_follow_the_rig():
    rig = mannequin.make_mannequin(bpy.context)
    walk.key_walk(rig, frame_start=1)
    assert draw.lines_of(bpy.context, rig) is None
    bpy.ops.heft.set_up()
    here = draw.lines_of(bpy.context, rig)
    assert len(here.vertices) % 2 == 0
    assert np.isfinite(here.vertices).all()
    assert np.ptp(here.vertices[:, 2]) == pytest.approx(mannequin.STATURE, rel=0.15)
    center = here.vertices[np.all(here.colors == data.CENTER, axis=1)].mean(axis=0)
    assert abs(center[0]) < 0.1
    rig.location = (3.0, 1.0, 0.5)
    bpy.context.view_layer.update()
    there = draw.lines_of(bpy.context, rig)
    moved = there.vertices - here.vertices
    np.testing.assert_allclose(moved[:-1], np.tile([3.0, 1.0, 0.5], (len(moved) - 1, 1)), atol=1e-5)
    rig.heft.show_character = False
    assert draw.lines_of(bpy.context, rig) is None
