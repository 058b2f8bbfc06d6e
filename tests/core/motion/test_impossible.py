# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that cannot be: the nearest that can, with what had to change, or a refusal that names frames."""

import re

import numpy as np
import pytest
from heft.core.motion.clean_up import clean_up
from heft.core.motion.fit import Trajectory
from heft.core.motion.gliding import EASED
from heft.core.motion.labels import label
from heft.core.motion.make_reference import make_reference
from heft.core.motion.quality import concerns, slowness
from heft.core.motion.spacetime import NoReferenceError, Settings
from scipy.spatial.transform import Rotation

from tests.core.motion.skeletons import needs_clips
from tests.core.motion.spacetime import motions
from tests.core.motion.walkers import captured, glide


def trajectory_of(character, q):
    return Trajectory(motions.RATE, q, motions.velocities(character, q), first_frame=1.0)


def check_physics(reference):
    """Every step leads to the next state, by forces that the ground can give."""
    motions.check_physics(reference, every=7, tolerance=1e-9)
    assert (
        np.linalg.norm(reference.force[..., :2], axis=2) <= reference.friction * reference.force[..., 2] + 1e-9
    ).all()


def test_a_jump_that_hangs_a_little_becomes_one_that_falls():
    motion = motions.jump(hang=1.3)
    reference = make_reference(motion.character, trajectory_of(motion.character, motion.q)).reference
    check_physics(reference)
    assert reference.quality.root_max_metres > 0.1
    assert reference.quality.fit_for_control


@pytest.mark.parametrize("hang", [2.0, 3.0])
def test_a_jump_that_hangs_long_is_refused_by_its_flight(hang):
    motion = motions.jump(hang=hang)
    flight = np.flatnonzero(~motion.schedule.active.any(axis=1)) + 1
    with pytest.raises(
        NoReferenceError, match=r"Nothing holds the body up in frames (\d+) to (\d+), .* let it fall"
    ) as error:
        make_reference(motion.character, trajectory_of(motion.character, motion.q))
    first, last = (int(word) for word in str(error.value).replace(",", "").split() if word.isdigit())
    assert abs(first - flight[0]) <= 12
    assert abs(last - flight[-1]) <= 12


def test_a_jump_that_is_played_too_fast_is_told_of_its_flight():
    """As half of a clip's frames left out: it rises and falls within half the time, by four times gravity."""
    for hang, told in ((1.0, False), (0.5, True)):
        motion = motions.jump(rise=0.4, hang=hang)
        trajectory = trajectory_of(motion.character, motion.q)
        clean = clean_up(motion.character, trajectory, label(motion.character, trajectory))
        found = [one for one in concerns(motion.character, trajectory, clean) if one.kind == "rushed"]
        assert len(found) == told
    assert re.search(r"The body falls (1\.[89]|2\.[01]) times too fast", found[0].text)
    flight = np.flatnonzero(~motion.schedule.active.any(axis=1)) + 1
    assert abs(found[0].frames[0] - flight[0]) <= 12
    assert abs(found[0].frames[1] - flight[-1]) <= 12


@needs_clips
def test_cmu_run_at_the_wrong_frame_rate_is_refused_by_how_slowly_it_falls():
    """A file of 120 frames a second that a scene of 24 plays falls five times too slowly; who climbs does not fall."""
    character, run = captured("35_17")
    slow = Trajectory(run.rate / 5.0, run.q, run.v / 5.0)
    with pytest.raises(NoReferenceError, match=r"falls (4\.\d|5\.\d) times too slowly"):
        make_reference(character, slow)
    character, stairs = captured("83_28")
    with pytest.raises(NoReferenceError, match="does not fall"):
        make_reference(character, stairs)


def test_feet_that_slip_a_little_are_planted():
    walk = glide(slip=0.1)
    made = make_reference(walk.character, walk.trajectory)
    check_physics(made.reference)
    assert made.reference.quality.slip_millimetres < 1.0
    assert max(slide.before for slide in made.clean.slides) > 0.02


def test_standing_feet_that_glide_carry_and_are_braked():
    """At a metre a second they slip: what the ground gives along itself is a fifth of its friction, and slows down."""
    motion = motions.squat(120, 0.1)
    q = motion.q.copy()
    q[:, 0] += np.arange(len(q)) / motions.RATE
    made = make_reference(motion.character, trajectory_of(motion.character, q))
    check_physics(made.reference)
    assert sum("glides by 100 cm" in line for line in made.clean.lines) == 2
    force = made.reference.force.sum(axis=1)
    np.testing.assert_allclose(force[:, 0], -EASED * Settings.friction * force[:, 2], rtol=1e-2)
    assert made.reference.v[-2, 0] < made.reference.v[0, 0] - 1.0


def test_a_body_that_hovers_for_a_moment_is_brought_down_and_said_to_be_another_motion():
    motion = motions.squat(240, 0.1)
    q = motion.q.copy()
    q[100:140, 2] += 0.5
    reference = make_reference(motion.character, trajectory_of(motion.character, q)).reference
    check_physics(reference)
    assert not reference.quality.fit_for_control
    assert "The root had to move up to" in reference.quality.why
    assert "in frames 101 to 140" in reference.quality.why


def test_a_body_that_leans_too_far_is_righted_and_said_to_be_another_motion():
    motion = motions.squat(240, 0.1)
    q = motion.q.copy()
    lean = Rotation.from_euler("Y", 0.5)
    q[:, :3] = lean.apply(q[:, :3])
    q[:, 3:7] = (lean * Rotation.from_quat(q[:, 3:7], scalar_first=True)).as_quat(scalar_first=True)
    made = make_reference(motion.character, trajectory_of(motion.character, q))
    check_physics(made.reference)
    assert not made.reference.quality.fit_for_control
    assert any(concern.kind == "off balance" and concern.frames == (1.0, 241.0) for concern in made.concerns)


def test_flights_tell_how_slowly_they_are_played():
    time = np.arange(30) / 120.0
    for factor in (1.5, 5.0):
        flights = [1.0 + speed * time - 0.5 * 9.81 / factor**2 * time**2 for speed in (0.1, 0.4)]
        assert slowness(flights, 120.0, 9.81) == pytest.approx(factor)
    falling = [1.0 - 0.5 * 9.81 * time**2] * 2
    climbing = [1.0 + 0.3 * time + 0.2 * time**2] * 2
    unlike = [1.0 - 0.5 * 9.81 / factor**2 * time**2 for factor in (2.0, 5.0)]
    for flights in (falling, climbing, unlike, unlike[:1], []):
        assert slowness(flights, 120.0, 9.81) is None
