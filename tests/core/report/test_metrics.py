# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of recordings that are made up, so that the answers are known."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import sentences
from heft.core.character import Character
from heft.core.contact.terrain import Plane, RigidMotion, make_terrain
from heft.core.dynamics import integrate
from heft.core.report import metrics, source
from heft.core.report.explanation import explain
from heft.core.report.frames import diagnose, flying, hull, signed_distance
from heft.core.simulation import Push, Recording
from heft.core.simulation.fall import FallDetector, height_of, lean
from heft.core.simulation.outcome import Followed, Recovery, Simulation
from hypothesis import given
from hypothesis import strategies as st

CHARACTER = Character.preset("muico29")
RATE = 120.0
WEIGHT = 9.81 * CHARACTER.total_mass
LEFT = CHARACTER.index("left_foot")
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def made_up(q, wanted=None, contacts=(), terrain=None, outcome="completed", lost=None, torque=0.0, cancelled=False):
    """A simulation with these states; contacts are (body, key, points (n, 3), forces (n, 3)) for every step."""
    q = np.array(q)
    steps, bodies = len(q) - 1, len(CHARACTER.bodies)
    rows = [(b, key, points[k], forces[k]) for k in range(steps) for b, key, points, forces in contacts]
    wrench = np.zeros((steps, bodies, 6))
    for k in range(steps):
        for b, _, _, forces in contacts:
            wrench[k, b, :3] += forces[k]
    recording = Recording(
        outcome=outcome,
        reason="" if outcome == "completed" else "no contact forces satisfy the contact problem.",
        tree=CHARACTER.tree,
        rate=RATE,
        time=np.arange(steps + 1) / RATE,
        q=q,
        v=np.zeros((steps + 1, CHARACTER.nv)),
        torque=np.full((steps, CHARACTER.nv - 6), torque),
        wrench=wrench,
        grab_force=np.zeros((steps, 0, 6)),
        residual=np.zeros(steps),
        lcp_residual=np.zeros(steps),
        unknowns=np.zeros(steps, dtype=np.int64),
        contact_start=np.arange(steps + 1) * len(contacts),
        contact_key=np.array([row[1] for row in rows], dtype=np.int64),
        contact_body=np.array([row[0] for row in rows], dtype=np.int64),
        contact_other=np.full(len(rows), -1),
        contact_point=np.array([row[2] for row in rows]).reshape(-1, 3),
        contact_force=np.array([row[3] for row in rows]).reshape(-1, 3),
        contact_gap=np.zeros(len(rows)),
    )
    wanted = q if wanted is None else np.array(wanted)
    followed = Followed(wanted, np.arange(steps + 1), np.zeros(steps + 1, dtype=np.int64))
    ground = make_terrain([Plane()]) if terrain is None else terrain
    return Simulation(CHARACTER, ground, recording, followed, cancelled, lost, np.full(steps, 1e-4))


def standing(steps=12):
    return np.tile(CHARACTER.neutral(), (steps + 1, 1))


def moving(steps, per_step, force):
    """One point of the left foot that moves along X under a vertical force."""
    points = np.zeros((steps, 3))
    points[:, 0] = per_step * np.arange(steps)
    return (LEFT, 7, points, np.tile([0.0, 0.0, force], (steps, 1)))


def test_who_is_held_up_by_nothing_flies():
    """On one foot for three steps, in the air for three, carried by help for three, and hardly touched for three."""
    force = np.zeros((12, 3))
    force[:3, 2], force[9:, 2] = WEIGHT, 0.01 * WEIGHT
    simulation = made_up(standing(), contacts=[(LEFT, 7, np.zeros((12, 3)), force)])
    given = np.zeros((12, 6))
    given[6:9, 0] = 0.5 * WEIGHT
    simulation = replace(simulation, help=given)
    np.testing.assert_allclose(metrics.upheld(simulation), np.repeat([1.0, 0.0, 0.5, 0.01], 3))
    # a frame flies if the steps before and after it do
    wanted = [*[False] * 4, True, True, *[False] * 4, True, True, True]
    assert flying(simulation, simulation.recording.time).tolist() == wanted


def test_a_loaded_point_that_moves_slides():
    found = metrics.foot_slides(made_up(standing(), contacts=[moving(12, 0.001, 0.5 * WEIGHT)]))
    assert len(found) == 1
    assert found[0].body == "left_foot"
    assert found[0].distance == pytest.approx(0.011)
    assert (found[0].start, found[0].end) == (0.0, pytest.approx(0.1))


def test_a_point_that_hardly_presses_only_grazes():
    assert metrics.foot_slides(made_up(standing(), contacts=[moving(12, 0.03, 0.02 * WEIGHT)])) == []


def test_the_way_of_a_point_that_has_yet_to_land_is_no_slide():
    """Contacts are anticipated: the force that stops a foot at the ground acts in the step that brings it there."""
    simulation = made_up(standing(), contacts=[moving(12, 0.001, 0.5 * WEIGHT)])
    gap = np.zeros(12)
    gap[:6] = 0.002
    landing = replace(simulation, recording=replace(simulation.recording, contact_gap=gap))
    assert metrics.foot_slides(landing)[0].distance == pytest.approx(0.005)


def test_feet_that_ride_on_moving_ground_do_not_slide():
    motion = RigidMotion(np.array([[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]]), np.tile(IDENTITY, (2, 1)), 0.1)
    terrain = make_terrain([Plane(motion=motion)])  # 0.12 m/s along X: a millimetre a step
    riding = made_up(standing(), contacts=[moving(12, 0.001, 500.0)], terrain=terrain)
    assert metrics.foot_slides(riding)[0].distance == pytest.approx(0.0, abs=1e-12)
    still = made_up(standing(), contacts=[moving(12, 0.0, 500.0)], terrain=terrain)
    assert metrics.foot_slides(still)[0].distance == pytest.approx(0.011)


def test_two_stances_are_two():
    forces = np.zeros((40, 3))
    forces[:10, 2] = forces[30:, 2] = 500.0
    points = np.zeros((40, 3))
    points[10:30, 0] = 0.05 * np.arange(1, 21)
    points[30:, 0] = 3.0
    found = metrics.foot_slides(made_up(standing(40), contacts=[(LEFT, 7, points, forces)]))
    assert [slide.distance for slide in found] == [pytest.approx(0.05), pytest.approx(0.0)]


def test_errors_are_angles_and_distances():
    off = np.zeros(CHARACTER.nv)
    off[0], off[1] = 0.03, 0.04
    knee = CHARACTER.tree.velocity_start[CHARACTER.index("left_shank")]
    off[knee] = np.radians(6.0)
    wanted = standing()
    simulation = made_up([integrate(CHARACTER, row, off, 1.0) for row in wanted], wanted)
    figures = metrics.measure(simulation)
    assert figures["root_rms_m"] == pytest.approx(0.05)
    assert figures["root_max_m"] == pytest.approx(0.05)
    assert figures["joint_max_deg"] == pytest.approx(6.0)
    assert figures["joint_rms_deg"] == pytest.approx(6.0 / np.sqrt(CHARACTER.nv - 6))
    assert figures["outcome"] == "completed"
    assert figures["upright_seconds"] == figures["simulated_seconds"] == pytest.approx(0.1)
    assert figures["real_time_factor"] == pytest.approx(1.0 / RATE / 1e-4)
    assert figures["step_us_median"] == pytest.approx(100.0)


def test_torque_of_a_ball_is_that_about_any_axis():
    figures = metrics.measure(made_up(standing(), torque=10.0))
    assert figures["peak_torque_nm"] == pytest.approx(np.sqrt(3.0) * 10.0)


def test_errors_after_the_fall_do_not_count():
    wanted, q = standing(), standing()
    q[7:, 2] -= 0.6
    figures = metrics.measure(made_up(q, wanted, lost=6))
    assert figures["outcome"] == "fell"
    assert figures["root_rms_m"] == 0.0
    assert figures["upright_seconds"] == pytest.approx(0.05)
    assert figures["simulated_seconds"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("settings", "outcome"),
    [
        ({}, "completed"),
        ({"cancelled": True}, "cancelled"),
        ({"outcome": "diverged"}, "diverged"),
        ({"outcome": "diverged", "lost": 3}, "fell"),
    ],
)
def test_outcomes(settings, outcome):
    figures = metrics.measure(made_up(standing(), **settings))
    assert figures["outcome"] == outcome
    assert figures["lcp_failures"] == (settings.get("outcome") == "diverged")


def test_nothing_has_the_same_keys():
    assert set(metrics.nothing()) == set(metrics.measure(made_up(standing())))


# falls


def watched(q, wanted, v=None):
    watch = FallDetector(CHARACTER, RATE)
    v = np.zeros((len(q), CHARACTER.nv)) if v is None else v
    for k in range(len(q)):
        watch.update(k, q[k], v[k], wanted[k])
    return watch


def leaning(angle, count=60):
    q = standing(count - 1)
    q[:, 3:7] = (np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0)
    return q


def test_squats_jumps_and_hanging_are_no_falls():
    height = np.concatenate([np.linspace(0.9, 0.3, 30), np.linspace(0.3, 1.6, 30)])
    wanted = standing(59)
    wanted[:, 2] = height
    q = wanted.copy()
    q[:, 2] += 0.1
    assert watched(q, wanted).lost is None
    hanging = leaning(np.radians(170.0))
    assert watched(hanging, hanging).lost is None


def test_who_spins_wildly_is_lost_at_once():
    q, v = standing(59), np.zeros((60, CHARACTER.nv))
    v[30, -1] = 50.0
    assert watched(q, q, v).lost is None
    v[40, -1] = 130.0
    assert watched(q, q, v).lost == 40


def test_who_sinks_or_leans_has_fallen_from_where_it_began():
    wanted = standing(59)
    sunk = wanted.copy()
    sunk[20:, 2] -= 0.5
    assert watched(sunk, wanted).lost == 20
    over = wanted.copy()
    over[30:] = leaning(np.radians(70.0))[30:]
    assert watched(over, wanted).lost == 30
    assert watched(leaning(np.radians(50.0)), wanted).lost is None


def test_a_moment_is_no_fall():
    wanted, q = standing(59), standing(59)
    q[20:26, 2] -= 0.5
    assert watched(q, wanted).lost is None


def test_joints_that_spin_wildly_are_lost_at_once():
    wanted = standing(59)
    v = np.zeros((60, CHARACTER.nv))
    v[40, 20] = 1000.0
    assert watched(wanted, wanted, v).lost == 40
    v[40, 20] = 100.0
    assert watched(wanted, wanted, v).lost is None


def test_a_loss_that_has_just_begun_counts_at_the_end():
    wanted, q = standing(59), standing(59)
    q[55:, 2] -= 0.5
    watch = watched(q, wanted)
    assert watch.lost is None
    assert watch.end() == 55


def test_lean_is_against_what_was_wanted():
    assert lean(leaning(0.3)[0], leaning(0.3)[0]) == pytest.approx(0.0, abs=1e-7)
    assert lean(leaning(0.5)[0], leaning(0.2)[0]) == pytest.approx(0.3)
    turned = standing()[0]
    turned[3:7] = (np.cos(1.0), 0.0, 0.0, np.sin(1.0))
    assert lean(turned, standing()[0]) == pytest.approx(0.0, abs=1e-7)
    assert 1.2 < height_of(CHARACTER) < 1.7


# the ground under it

numbers = st.floats(-5.0, 5.0)


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=20))
def test_hull_contains_all_points_and_turns_left(points):
    rows = np.array([(*point, 0.0) for point in points])
    outline = hull(rows)
    assert {tuple(row) for row in outline.tolist()} <= {tuple(row) for row in rows.tolist()}
    if len(outline) > 2:
        along = np.roll(outline, -1, axis=0) - outline
        turn = along[:, 0] * np.roll(along, -1, axis=0)[:, 1] - along[:, 1] * np.roll(along, -1, axis=0)[:, 0]
        assert (turn > -1e-9).all()
        for row in rows:
            away = row - outline
            assert (along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0] > -1e-6).all()


def test_signed_distance_from_a_square():
    square = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]])
    assert signed_distance(square, np.array([1.0, 0.5])) == pytest.approx(0.5)
    assert signed_distance(square, np.array([1.0, -0.5])) == pytest.approx(-0.5)
    assert signed_distance(square, np.array([5.0, 6.0])) == pytest.approx(-5.0)
    assert signed_distance(square[:2], np.array([1.0, 0.5])) == pytest.approx(-0.5)
    assert signed_distance(square[:1], np.array([3.0, 4.0])) == pytest.approx(-5.0)
    assert np.isnan(signed_distance(square[:0], np.zeros(2)))


def test_diagnostics_of_who_stands_on_one_foot():
    corners = [np.array([x, y, 0.0]) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    contacts = [
        (LEFT, key, np.tile(place, (12, 1)), np.tile([0.0, 0.0, 0.25 * WEIGHT], (12, 1)))
        for key, place in enumerate(corners)
    ]
    simulation = made_up(standing(), contacts=contacts)
    shown = diagnose(simulation, simulation.recording.resample(60.0), tuple(body.name for body in CHARACTER.bodies))
    assert len(shown.center_of_mass) == 7
    np.testing.assert_array_equal(shown.support.start, 4 * np.arange(8))
    np.testing.assert_array_equal(shown.forces.start, np.arange(8))
    assert set(shown.forces.body) == {"left_foot"}
    np.testing.assert_allclose(shown.forces.point, 0.0, atol=1e-12)
    np.testing.assert_allclose(shown.forces.force, [[0.0, 0.0, WEIGHT]] * 7)
    np.testing.assert_allclose(shown.curves["contact_force_left_foot_n"], WEIGHT)
    np.testing.assert_array_equal(shown.curves["contact_force_right_foot_n"], 0.0)
    center = shown.center_of_mass[0]
    expected = min(0.1 - abs(center[0]), 0.05 - abs(center[1]))
    np.testing.assert_allclose(shown.curves["balance_margin_m"], expected)
    assert set(shown.torques) == set(metrics.moving_joints(CHARACTER))


def test_in_the_air_there_is_no_balance():
    simulation = made_up(standing())
    shown = diagnose(simulation, simulation.recording.resample(60.0), tuple(body.name for body in CHARACTER.bodies))
    assert np.isnan(shown.curves["balance_margin_m"]).all()
    assert len(shown.support.point) == len(shown.forces.point) == 0


# sentences


def told(simulation, pushes=(), doubts=()):
    figures = metrics.measure(simulation)
    return sentences.join(explain(simulation, figures, pushes, lambda seconds: 1.0 + 24.0 * seconds, doubts))


def test_sentences():
    assert told(made_up(standing())) == (
        "Stayed up to the end: joints 0.0° RMS off the motion, feet slid at most 0 mm."
    )
    assert told(made_up(standing(), cancelled=True)) == "Cancelled after 0.1 s of motion."
    assert "stopped at frame 3" in told(made_up(standing(), outcome="diverged"))


@pytest.mark.parametrize(
    ("away", "way"),
    [
        ((0.5, 0.0, -0.1), "forward"),
        ((-0.5, 0.0, -0.1), "backward"),
        ((0.0, 0.5, -0.1), "to its left"),
        ((0.0, -0.5, -0.1), "to its right"),
        ((0.1, 0.0, -0.3), "down"),
    ],
)
def test_falls_are_told_by_where_it_faced(away, way):
    wanted, q = standing(), standing()
    wanted[:, 3:7] = q[:, 3:7] = (np.cos(0.25 * np.pi), 0.0, 0.0, np.sin(0.25 * np.pi))  # it faces +Y
    x, y, z = away
    q[6:, :3] += (-y, x, z)
    assert told(made_up(q, wanted, lost=6)) == f"Fell {way} at frame 2 (0.1 s)."


def test_the_last_push_before_a_fall_is_named():
    pushes = [
        Push.constant("torso", (30.0, 40.0, 0.0), 0.0, 0.01),
        Push.constant("pelvis", (0.0, 0.0, 500.0), 5.0, 0.1),
        Push("left_hand", np.zeros((5, 3)), 120.0, 0.02),
    ]
    found = told(made_up(standing(), lost=6), pushes)
    assert "after the 50 N push on 'torso'" in found
    assert told(made_up(standing(), lost=6), doubts=[sentences.say("It lacks a force.")]).endswith(
        "(0.1 s). It lacks a force."
    )


def test_steps_that_the_action_does_not_have_are_told_with_their_number():
    found = told(made_up(standing()).with_notes((), (Recovery(2.5, "back", 0.21, 2), Recovery(4.0, "home", 0.2, 2))))
    assert "Took 2 steps, 21 cm back, from frame 61 on." in found
    assert "Took 2 steps, 20 cm back to its place, from frame 97 on." in found
    walked = told(made_up(standing()).with_notes((), (Recovery(2.5, "back", 0.21),)))
    assert "Stepped 21 cm shorter at frame 61." in walked


@pytest.mark.parametrize(("body", "name"), [("left_foot", "'left_foot'"), ("", "A prop")])
def test_what_sinks_is_told_by_its_name_or_as_a_prop(body, name):
    simulation = made_up(standing())
    deepest = {"max_penetration_m": metrics.Worst(1.0, body)}
    figures = {**metrics.measure(simulation), **dict.fromkeys(source.NUMBERS, 0.0)}
    figures |= {"max_penetration_m": 0.03, "worst": deepest}
    found = sentences.join(explain(simulation, figures, (), lambda seconds: 1.0 + 24.0 * seconds))
    assert f"{name} sank 3.0 cm in at frame 25." in found
