# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that a reference lost, although its clip has them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from heft.core.motion.hovering import hover, lower, with_lost
from heft.core.motion.labels import level_ground
from heft.core.motion.make_reference import make_reference
from heft.core.motion.schedule import contact_points

from tests.core.motion.walkers import glide

HEIGHT, LIFTED = 0.03, slice(40, 60)


@cache
def made():
    walk = glide(seconds=1.0)
    return make_reference(walk.character, walk.trajectory)


def hovering(force=1.0):
    """The same 3 cm higher for 20 frames, with so much of its forces."""
    reference = made().reference
    q, forces = reference.q.copy(), reference.force.copy()
    q[LIFTED, 2] += HEIGHT
    forces[LIFTED.start - 2 : LIFTED.stop + 1] *= force
    return replace(reference, q=q, force=forces)


def test_what_is_on_the_ground_does_not_hover():
    reference, clip = made().reference, made().source
    assert not hover(reference.character, reference, clip, level_ground())[0].any()
    schedule = reference.schedule
    assert with_lost(reference.character, reference, clip, schedule, level_ground()) is schedule
    never = lower(reference, clip, schedule, level_ground(), lambda _: pytest.fail("it is low enough"))
    assert never is reference


def test_what_is_held_up_over_the_ground_hovers_and_what_flies_does_not():
    lifted, clip = hovering(), made().source
    height, lowest = hover(lifted.character, lifted, clip, level_ground())
    np.testing.assert_array_equal(np.flatnonzero(height), np.arange(LIFTED.start, LIFTED.stop))
    np.testing.assert_allclose(height[LIFTED], HEIGHT, atol=0.005)
    points = contact_points(lifted.character)
    assert all(points[i].foot for i in lowest[LIFTED])
    assert not hover(lifted.character, hovering(0.0), clip, level_ground())[0].any()


def test_the_lowest_point_of_the_clip_is_led_along_the_ground():
    lifted, clip = hovering(), made().source
    bare = replace(lifted.schedule, active=np.zeros_like(lifted.schedule.active))
    found = with_lost(lifted.character, lifted, clip, bare, level_ground())
    touching = np.asarray(found.active.any(axis=1))
    np.testing.assert_array_equal(np.flatnonzero(touching), np.arange(LIFTED.start - 1, LIFTED.stop + 1))
    np.testing.assert_allclose(found.place[found.active][:, 2], 0.0, atol=1e-12)


def test_another_is_taken_only_where_it_is_lower_and_as_near():
    lifted, low, clip = hovering(), made().reference, made().source
    assert lower(lifted, clip, lifted.schedule, level_ground(), lambda _: low) is low
    far = replace(low, q=low.q + np.eye(1, low.q.shape[1]) * 0.1)
    assert lower(lifted, clip, lifted.schedule, level_ground(), lambda _: far) is lifted
    higher = replace(low, q=low.q + np.eye(1, low.q.shape[1], 2) * HEIGHT)
    assert lower(lifted, clip, lifted.schedule, level_ground(), lambda _: higher) is lifted
