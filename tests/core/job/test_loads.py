# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads that weigh: who carries something in one hand leans away from it, also where it is a prop that is held."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core.cache import Cache
from heft.core.dynamics import body_poses
from heft.core.job import Load, Scene
from heft.core.job.carried import held_props
from heft.core.job.preparing import make_motion
from heft.core.job.progress import Clock, ProgressReporter
from heft.core.simulation import Grab, Prop
from heft.core.simulation.props import Hinge

from tests.core.job.jobs import waving_job

BUCKET = Load("bucket", "left_hand", 10.0)
HELD = Grab("left_hand", other="ball")


def reference_of(**changes):
    return make_motion(waving_job(**changes), ProgressReporter(None), Cache(None), Clock()).reference


def lean(reference):
    """Degrees of the head over the hips towards the character's left, which faces -Y, in the middle of the motion."""
    places = body_poses(reference.character, np.ascontiguousarray(reference.q[len(reference.q) // 2]))[0]
    x, _, z = places[reference.character.index("head")] - places[0]
    return float(np.degrees(np.arctan2(x, z)))


def test_who_carries_something_in_one_hand_leans_to_the_other_side():
    bare, loaded = (lean(reference_of(scene=Scene(loads=loads))) for loads in ((), (BUCKET,)))
    assert 1.5 < bare - loaded < 10.0
    other = lean(reference_of(scene=Scene(loads=(replace(BUCKET, body="right_hand"),))))
    assert 1.5 < other - bare < 10.0


def test_without_effort_the_pose_is_kept():
    bare, loaded = (
        lean(reference_of(scene=Scene(loads=loads), effort=effort)) for loads, effort in (((), 1.0), ((BUCKET,), 0.0))
    )
    assert abs(bare - loaded) < 1.0


def test_without_a_load_effort_changes_nothing():
    found = [reference_of(effort=effort).q for effort in (0.0, 1.0)]
    np.testing.assert_array_equal(*found)


def test_a_prop_that_is_held_all_along_weighs_as_a_load_does():
    ball = Prop.sphere("ball", 0.1, 10.0, (0.6, 0.1, 1.0))
    scene = Scene(props=(ball,), grabs=(HELD,))
    held, loaded = reference_of(scene=scene), reference_of(scene=Scene(loads=(replace(BUCKET, radius=0.1),)))
    assert held.character.total_mass == pytest.approx(loaded.character.total_mass)
    assert lean(held) == pytest.approx(lean(loaded), abs=0.3)


def test_two_hands_share_what_they_hold():
    ball = Prop.sphere("ball", 0.1, 10.0, (0.0, -0.4, 1.0))
    grabs = (HELD, Grab("right_hand", other="ball"))
    bare, held = reference_of(), reference_of(scene=Scene(props=(ball,), grabs=grabs))
    assert held.character.total_mass == pytest.approx(bare.character.total_mass + 10.0)
    assert abs(lean(held) - lean(bare)) < 1.0


@pytest.mark.parametrize(
    ("prop", "grab"),
    [
        (Prop.sphere("ball", 0.1, 10.0, (0.6, 0.1, 0.1)), HELD),  # stands on the floor
        (Prop.sphere("ball", 0.1, 10.0, (0.6, 0.1, 1.0)), replace(HELD, end=0.3)),
        (Prop.box("ball", (0.1, 0.1, 0.1), 10.0, (0.6, 0.1, 1.0), hinge=Hinge((0.0, 0.0, 1.0))), HELD),
    ],
    ids=["stands on the floor", "let go", "on a hinge"],
)
def test_what_is_not_carried_does_not_weigh(prop, grab):
    found = reference_of(scene=Scene(props=(prop,), grabs=(grab,)))
    assert found.character.total_mass == pytest.approx(reference_of().character.total_mass)


def test_only_the_characters_own_grips_count():
    scene = Scene(
        props=(Prop.sphere("ball", 0.1, 1.0, (1.0, 0.0, 1.0)), Prop.sphere("rope", 0.1, 1.0, (1.0, 0.0, 1.5))),
        grabs=(Grab("rope", other="ball"),),
    )
    assert held_props(waving_job(scene=scene)) == ()


def test_an_effort_out_of_bounds_is_refused():
    with pytest.raises(ValueError, match="effort must be 0 to 10"):
        waving_job(effort=-1.0)
