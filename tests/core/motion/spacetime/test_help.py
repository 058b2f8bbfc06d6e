# SPDX-License-Identifier: GPL-3.0-or-later
"""Help from nowhere: its derivatives, motions whose help is known, and that nothing possible takes any."""

import re

import numpy as np
import pytest
from heft.core.dynamics import center_of_mass_jacobian
from heft.core.motion.fit import Trajectory
from heft.core.motion.make_reference import make_reference
from heft.core.motion.schedule import ContactSchedule
from heft.core.motion.spacetime import NoReferenceError, Settings, build_reference, ladder, model, request
from heft.core.motion.spacetime.help import (
    AT_ENDS,
    HELPERS,
    ROUNDING,
    Price,
    first_weights,
    helping,
    is_of_help,
    next_weights,
    sentences_of_help,
    shares,
    shares_of_price,
    weight_of,
)
from heft.core.motion.spacetime.ladder import CLOSE
from heft.core.motion.spacetime.measure import mean_distance
from heft.core.motion.spacetime.problem import make_iterate
from heft.core.motion.tracks import point_places
from scipy.spatial.transform import Rotation

from tests.core.motion.spacetime import motions
from tests.core.motion.spacetime.test_optimality import filled

PRICE = Price(300.0, 3.0, 30.0)


def trajectory_of(character, q):
    return Trajectory(motions.RATE, q, motions.velocities(character, q), first_frame=1.0)


def helped_problem(motion):
    trajectory = Trajectory(motion.rate, motion.q, motion.v)
    return request.problem_of(
        request.checked(motion.character, trajectory, motion.schedule, None, None, None), helped=True
    )


def hovering(frames=120):
    """A body at rest in the air."""
    motion = motions.squat(frames, 0.0)
    q = motion.q.copy()
    q[:, 2] += 0.5
    return motion.character, trajectory_of(motion.character, q)


def net_help(reference):
    return reference.force[:, helping(reference.schedule.points)].sum(axis=1)


def test_how_help_moves_the_body_is_what_differences_tell():
    motion = motions.squat(6, 0.1)
    problem = helped_problem(motion)
    iterate = make_iterate(motion.character, problem, 0.03)
    rng = np.random.default_rng(3)
    iterate.force[:, problem.help_first :] = rng.normal(scale=100.0, size=(len(iterate.force), len(HELPERS), 3))
    programme = filled(motion, problem, iterate, 0.03)
    nv, motors = motion.character.nv, iterate.torque.shape[1]
    tree = motion.character.tree
    work = model.make_model_workspace(tree, len(problem.point_body))
    k, step_size = 3, 1e-3
    active = problem.force_point[k, : problem.force_count[k]].tolist()
    for p in range(problem.help_first, len(problem.point_body)):
        for axis in range(3):
            found = []
            for sign in (1.0, -1.0):
                iterate.force[k, p, axis] += sign * step_size
                defect = np.zeros_like(programme.defect)
                model.fill_defects(tree, problem, iterate, work, defect, 0, len(defect))
                found.append(defect[k, nv:].copy())
                iterate.force[k, p, axis] -= sign * step_size
            column = programme.control[k, :, motors + 3 * active.index(p) + axis]
            difference = (found[0] - found[1]) / (2.0 * step_size)
            np.testing.assert_allclose(column, difference, atol=1e-7 * np.abs(difference).max())


def test_the_gradient_of_help_is_that_of_its_price():
    """C (sqrt(f^2 + eps^2) - eps): by the weights that an iterate leaves, against differences."""
    motion = motions.squat(6, 0.1)
    problem = helped_problem(motion)
    iterate = make_iterate(motion.character, problem, 0.03)
    rng = np.random.default_rng(4)
    forces = iterate.force[:, problem.help_first :]
    forces[:] = rng.normal(scale=(0.1, 1.0, 30.0), size=forces.shape)
    iterate.force_target[:] = iterate.force
    weight, missing = weight_of(motion.character), np.zeros(len(forces), np.bool_)
    weights = first_weights(PRICE, missing, weight)
    for _ in range(8):
        weights = next_weights(PRICE, missing, weight, weights, forces)
    iterate.help_weight[:] = weights
    programme = filled(motion, problem, iterate, 0.03)
    k, motors = 2, iterate.torque.shape[1]
    first = motors + 3 * problem.force_point[k, : problem.force_count[k]].tolist().index(problem.help_first)

    def price(force):
        return PRICE.slope * (np.sqrt(np.sum(force**2) / weight**2 + ROUNDING**2) - ROUNDING)

    for i in range(9):
        ahead, back = forces[k].copy(), forces[k].copy()
        ahead.flat[i] += 1e-4
        back.flat[i] -= 1e-4
        expected = (price(ahead) - price(back)) / 2e-4
        assert programme.control_gradient[k, first + i] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_weights_change_at_most_tenfold_and_stay_where_something_is_missing():
    weight, missing = 700.0, np.array([0.0, 1.0])
    weights = first_weights(PRICE, missing, weight)
    after = next_weights(PRICE, missing, weight, weights, np.zeros((2, 3, 3)))
    assert after[0] == pytest.approx(10.0 * weights[0])
    assert after[1] == weights[1] == pytest.approx(PRICE.missing / weight**2)


def test_help_is_cheap_where_a_motion_begins_or_ends_with_nothing_to_stand_on():
    missing = np.ones(9, np.bool_)
    missing[[2, 5]] = False
    expected = [AT_ENDS, AT_ENDS, 0.0, 1.0, 1.0, 0.0, AT_ENDS, AT_ENDS, AT_ENDS]
    np.testing.assert_array_equal(shares_of_price(missing), expected)
    np.testing.assert_array_equal(shares_of_price(np.ones(3, np.bool_)), [AT_ENDS] * 3)
    assert not shares_of_price(np.zeros(3, np.bool_)).any()


def test_little_help_is_not_said_to_stand_for_something_missing():
    motion = motions.squat(60, 0.0)
    for most, told in ((0.3, "up to 30 % .* to stay near the action"), (0.8, "up to 80 % .* holds it is missing")):
        share = np.zeros(60)
        share[20:40] = most
        (sentence,) = sentences_of_help(share, motion.character, motion.q, float)
        assert re.search(told, str(sentence))
        assert is_of_help(sentence)


def test_beyond_the_weight_help_grows_dearer_than_its_size():
    weight, last = 700.0, np.full(2, 30.0 / 700.0**2)
    force = np.zeros((2, 3, 3))
    force[:, 0, 2] = 0.5 * weight, 4.0 * weight
    after = next_weights(PRICE, np.zeros(2), weight, last, force)
    # the price's slope, weight times help: C below, and C f above
    np.testing.assert_allclose(after * weight**2 * (0.5, 4.0), (30.0, 120.0), rtol=1e-5)


def test_shares_of_forces_and_moments():
    force = np.zeros((2, 3, 3))
    force[0, :, 2] = 700.0 / 3.0
    force[1, 1, 2], force[1, 2, 2] = 350.0, -350.0
    np.testing.assert_allclose(shares(force, 700.0), [1.0, 1.0])


def test_a_body_that_hovers_takes_its_weight_and_no_moment():
    character, trajectory = hovering()
    nothing = np.zeros((len(trajectory.q), 0), np.bool_)
    schedule = ContactSchedule((), nothing, np.zeros((*nothing.shape, 3)))
    reference = build_reference(
        character, trajectory, schedule, help_given="as_needed", missing=np.ones(len(nothing), np.bool_)
    )
    motions.check_physics(reference, every=5, tolerance=1e-8)
    weight = weight_of(character)
    # over all of it help gives what gravity takes, but for what the free ends begin and end with
    speeds = [center_of_mass_jacobian(character, reference.q[k]) @ reference.v[k] for k in (0, -1)]
    gained = character.total_mass * (speeds[1] - speeds[0]) * reference.rate / reference.steps
    np.testing.assert_allclose(net_help(reference).mean(axis=0), [*gained[:2], weight + gained[2]], atol=1e-4 * weight)
    np.testing.assert_allclose(net_help(reference)[30:-30, 2], weight, rtol=0.1)
    np.testing.assert_allclose(net_help(reference)[30:-30, :2], 0.0, atol=0.01 * weight)
    assert reference.quality.root_max_metres < 0.03
    assert "% of its weight from nowhere in frames" in reference.quality.why


@pytest.mark.parametrize("help_given", ["as_needed", "as_keyed"])
def test_a_motion_that_nothing_supports_is_had_with_help_and_refused_without(help_given):
    character, trajectory = hovering()
    with pytest.raises(NoReferenceError, match="Nothing holds the body up"):
        make_reference(character, trajectory)
    made = make_reference(character, trajectory, help_given=help_given)
    motions.check_physics(made.reference, every=5, tolerance=1e-8)
    assert made.reference.quality.root_max_metres < 0.03
    np.testing.assert_allclose(net_help(made.reference)[30:-30, 2], weight_of(character), rtol=0.1)


def test_who_leans_too_far_is_held_close_by_less_help_than_keeps_it_there():
    """Without help it is righted, 5 cm off the clip on average."""
    motion = motions.squat(120, 0.0)
    lean = Rotation.from_euler("Y", 0.35)
    q = motion.q.copy()
    q[:, :3] = lean.apply(q[:, :3])
    q[:, 3:7] = (lean * Rotation.from_quat(q[:, 3:7], scalar_first=True)).as_quat(scalar_first=True)
    trajectory = trajectory_of(motion.character, q)
    settings = Settings(root_place=10.0, root_turn=2.0, root_of_clip=True)
    ways, helps = [], []
    for help_given in ("none", "as_needed", "as_keyed"):
        made = make_reference(motion.character, trajectory, settings=settings, help_given=help_given)
        ways.append(mean_distance(motion.character, made.source, made.reference.q))
        points = helping(made.reference.schedule.points)
        helps.append(float(shares(made.reference.force[:, points], weight_of(motion.character)).mean()))
    assert ways[0] > 2.0 * CLOSE
    assert ways[1] < 0.75 * ways[0]
    assert helps[0] == 0.0
    assert 0.0 < helps[1] < 0.7 * helps[2]


def test_what_is_possible_takes_no_help_and_keeps_its_bits():
    motion = motions.squat(120, 0.1)
    trajectory = trajectory_of(motion.character, motion.q)
    without = make_reference(motion.character, trajectory).reference
    with_help = make_reference(motion.character, trajectory, help_given="as_needed").reference
    assert not helping(with_help.schedule.points).any()
    assert (with_help.q == without.q).all()
    assert (with_help.torque == without.torque).all()


def test_as_keyed_keeps_the_states_and_contacts_carry_what_they_can():
    motion = motions.squat(120, 0.1)
    trajectory = trajectory_of(motion.character, motion.q)
    reference = build_reference(motion.character, trajectory, motion.schedule, help_given="as_keyed")
    motions.check_physics(reference, every=5, tolerance=1e-8)
    np.testing.assert_array_equal(reference.q, motion.q)
    assert (
        np.linalg.norm(reference.force[:, ~helping(reference.schedule.points), :2], axis=2)
        <= reference.friction * reference.force[:, ~helping(reference.schedule.points), 2] + 1e-9
    ).all()
    up = reference.force[5:-5, :, 2].sum(axis=1)
    assert up.mean() == pytest.approx(weight_of(motion.character), rel=0.03)
    assert shares(reference.force[:, helping(reference.schedule.points)], weight_of(motion.character)).mean() < 0.2


def test_a_file_keeps_the_helpers(tmp_path):
    character, trajectory = hovering(20)
    reference = make_reference(character, trajectory, help_given="as_keyed").reference
    reference.save(tmp_path / "a.reference")
    loaded = type(reference).load(tmp_path / "a.reference")
    assert (helping(loaded.schedule.points) == helping(reference.schedule.points)).all()
    assert helping(loaded.schedule.points).sum() == len(HELPERS)


def test_as_keyed_feet_stand_where_they_are_planned_and_nothing_is_in_the_ground():
    """A squat whose root was keyed 2 cm too high and 1 cm too far ahead of its footprints."""
    motion = motions.squat(60, 0.1)
    q = motion.q.copy()
    q[:, 0] += 0.01
    q[:, 2] += 0.02
    trajectory = Trajectory(motion.rate, q, motion.v)
    reference = build_reference(motion.character, trajectory, motion.schedule, help_given="as_keyed")
    active = reference.schedule.active
    away = point_places(motion.character, reference.q, reference.schedule.points) - reference.schedule.place
    assert np.abs(away[active]).max() < 1e-3
    assert reference.quality.penetration_millimetres < 5.0


@pytest.mark.parametrize(
    ("away", "share", "near", "expected"),
    [
        (0.05, 0.9, True, "possible"),  # carried, and far all the same
        (0.05, 0.9, False, "helped"),  # but what is possible is another motion
        (0.03, 0.9, True, "helped"),  # help brings it to where it was keyed
        (0.05, 0.3, True, "helped"),  # or takes little
    ],
)
def test_help_that_carries_in_vain_is_left_out(monkeypatch, away, share, near, expected):
    distances = {"helped": away, "possible": 0.1}
    monkeypatch.setattr(ladder, "unaided", lambda request, within: (None, "problem", "last"))  # noqa: ARG005
    monkeypatch.setattr(ladder, "aided", lambda request, firm, last: "helped")  # noqa: ARG005
    monkeypatch.setattr(ladder, "_finished", lambda request, problem, last: "possible")  # noqa: ARG005
    monkeypatch.setattr(ladder, "is_close", lambda found: near or found == "helped")
    monkeypatch.setattr(ladder, "distance", distances.__getitem__)
    monkeypatch.setattr(ladder, "_share_of", lambda found: share)  # noqa: ARG005
    monkeypatch.setattr(ladder, "nearest", lambda found: found[-1])
    assert ladder.climb(None, 0.027, without_first=True) == expected
