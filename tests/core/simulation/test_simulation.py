# SPDX-License-Identifier: GPL-3.0-or-later
"""The world itself: laws, determinism, states, recordings, and what it does with bad input."""

import subprocess
import sys

import numpy as np
import pytest
from heft.core import dynamics
from heft.core.character import Character
from heft.core.contact.lcp import solve_lcp
from heft.core.contact.terrain import Plane
from heft.core.control.law import NoLawError
from heft.core.simulation import AffineLaw, DivergedError, Grab, Prop, Push, World, simulate

MUICO = Character.preset("muico29")
MOTORS = MUICO.nv - 6


class StandingLaw:
    """Stable PD towards the neutral pose, answering contact forces through a fixed gain per foot corner."""

    def __init__(self, character, gain=0.0):
        self.character = character
        rng = np.random.default_rng(1)
        self.pattern = gain * rng.normal(size=(character.nv - 6, 3))

    def law(self, state, contacts):
        kp, kd = 1000.0, 100.0
        error = dynamics.difference(self.character, state.q_next, self.character.neutral())[6:]
        torque = kp * (error - state.dt * state.v[6:]) - kd * state.v[6:]
        implicit = np.full(len(torque), state.dt * kd + state.dt**2 * kp)
        return AffineLaw(torque, np.tile(self.pattern, int(contacts.filled[0])), implicit)


def test_pd_with_implicit_gains_stands():
    world = World(MUICO)
    recording = simulate(world, StandingLaw(MUICO), seconds=12.0)
    assert recording.outcome == "completed"
    assert np.abs(world.v).max() < 1e-5
    assert world.contacts.force[:, 2].sum() == pytest.approx(MUICO.total_mass * 9.81)
    np.testing.assert_allclose(world.contact_wrenches()[:, :3].sum(axis=0), [0, 0, MUICO.total_mass * 9.81], atol=1e-6)


@pytest.mark.parametrize("gain", [0.003, 0.02])
def test_folded_law_equals_solving_control_and_simulation_by_turns(gain):
    """Muico et al. 2009, section 4.3: one LCP for both. By turns: torque from the last forces, forces from it."""
    world, controller = World(MUICO), StandingLaw(MUICO, gain)
    for _ in range(30):
        world.step(controller)
    for _ in range(3):
        contacts = world.begin_step()
        law = controller.law(world.state(), contacts)
        forces = np.zeros(3 * int(contacts.filled[0]))
        state = world.save_state()
        turns = world.copy()
        # the LCP fixes the net effect of redundant corners only; the gain is alike for all, so the torque is unique
        for _ in range(200):
            turns.load_state(state)
            turns.begin_step()
            turns.solve(AffineLaw(law.torque + law.contact_gain @ forces, None, law.implicit))
            change = turns.contacts.force.ravel() - forces
            forces = forces + 0.5 * change
            if np.abs(change).max() < 1e-10:
                break
        world.solve(law)
        np.testing.assert_allclose(world.v, turns.v, atol=1e-8)
        np.testing.assert_allclose(world.torque, turns.torque, atol=1e-5)
        assert np.abs(law.contact_gain @ world.contacts.force.ravel()).max() > 0.1


def test_law_makes_the_matrix_unsymmetric_and_the_problem_is_still_solved():
    world = World(MUICO)
    controller = StandingLaw(MUICO, 0.02)
    for _ in range(20):
        world.step(controller)
    M, _ = world.contact_problem()
    n = len(world.contacts.key)
    normals = M[:-1:6, :-1:6] if n else M
    assert np.abs(normals - normals.T).max() > 1e-4 * np.abs(normals).max()
    assert world.residual < 1e-9


def everything():
    """A world with some of all."""
    box = Prop.box("box", (0.2, 0.2, 0.1), 5.0, (0.3, 0.0, 1.5))
    return World(
        MUICO,
        [Plane(friction=0.7)],
        props=[box],
        grabs=[Grab("left_hand", start=0.2, end=0.5)],
        pushes=[Push.constant("torso", (80.0, 20.0, 0.0), 0.1, 0.1)],
    )


def fingerprint(steps=120):
    """The bits of a state after some steps of it."""
    world = everything()
    controller = StandingLaw(MUICO, 0.003)
    for _ in range(steps):
        world.step(controller)
    return world.system_q.tobytes().hex() + world.system_v.tobytes().hex()


def test_same_bits_twice_and_in_two_processes_at_once():
    here = fingerprint()
    assert fingerprint() == here
    script = f"import sys; sys.path[:0] = {sys.path!r}; import test_simulation; print(test_simulation.fingerprint())"
    processes = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in processes] == [here, here]


def test_saved_states_and_copies_go_on_with_the_same_bits():
    world, controller = everything(), StandingLaw(MUICO, 0.003)
    for _ in range(40):
        world.step(controller)
    state, twin = world.save_state(), world.copy()
    for _ in range(40):
        world.step(controller)
        twin.step(controller)
    end = world.system_q
    np.testing.assert_array_equal(twin.system_q, end)
    world.load_state(state)
    for _ in range(40):
        world.step(controller)
    np.testing.assert_array_equal(world.system_q, end)
    other = everything()
    other.load_state(state)
    for _ in range(40):
        other.step(controller)
    np.testing.assert_array_equal(other.system_q, end)


def test_recorded_contact_problems_are_solved_to_1e_8():
    world = everything()
    rng = np.random.default_rng(3)
    solved = 0
    for k in range(240):
        world.step(rng.normal(scale=0.5, size=MOTORS))
        if k % 12 == 0 and world.lcp_unknowns:
            M, q = world.contact_problem()
            solution = solve_lcp(M, q)
            assert solution.residual <= 1e-8
            solved += 1
    assert solved > 10


def test_recording_has_one_state_more_than_forces_and_resamples_them():
    world = World(MUICO, pushes=[Push.constant("torso", (40.0, 0.0, 0.0), 0.3, 0.2)])
    recording = simulate(world, StandingLaw(MUICO), seconds=1.0)
    assert recording.q.shape == (121, MUICO.nq)
    assert recording.torque.shape == (120, MOTORS)
    assert recording.contact_start[-1] == len(recording.contact_force)
    frames = recording.resample(24.0)
    assert len(frames.time) == 25
    np.testing.assert_allclose(frames.q, recording.q[::5], atol=1e-12)
    # what the feet carried is the same impulse, whatever the rate
    weight = MUICO.total_mass * 9.81
    assert frames.wrench[:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.02)


def test_a_frame_that_lies_at_a_state_is_that_state_though_it_be_rounded():
    recording = simulate(World(MUICO), seconds=3.0)
    assert 49 / 24 * 120 < 245
    found = recording.moments(24.0, 74)
    assert [state for state, _ in found[:72]] == list(range(0, 360, 5))
    assert max(share for _, share in found[:72]) < 1e-12
    assert found[72] == (359, 1.0)
    assert found[73] == (359, 2.0)  # none lies beyond a step after the last state


def test_resampling_does_not_turn_what_is_fast_into_something_slow():
    world = World(MUICO)
    recording = simulate(world, seconds=1.0)
    flicker = np.where(np.arange(120) % 2 == 0, 100.0, -100.0)
    recording.torque[:] = flicker[:, None]
    frames = recording.resample(24.0)
    assert np.abs(frames.torque[1:-1]).max() < 1.0


def test_a_controller_without_a_law_ends_the_simulation():
    class GivesUp(StandingLaw):
        def law(self, state, contacts):
            if state.time > 0.25:
                raise NoLawError("There is no plan.")
            return super().law(state, contacts)

    recording = simulate(World(MUICO), GivesUp(MUICO), seconds=1.0)
    assert recording.outcome == "diverged"
    assert recording.reason.endswith("0.2583 s: There is no plan.")
    assert recording.steps == 31


def test_divergence_ends_the_simulation_and_keeps_what_went_before():
    class Breaks(StandingLaw):
        def law(self, state, contacts):
            law = super().law(state, contacts)
            return AffineLaw(law.torque * np.nan) if state.time > 0.25 else law

    world = World(MUICO)
    recording = simulate(world, Breaks(MUICO), seconds=1.0)
    assert recording.outcome == "diverged"
    assert "step 31" in recording.reason
    assert "finite" in recording.reason
    assert recording.steps == 31
    assert np.isfinite(recording.q).all()
    assert np.isfinite(world.q).all()
    with pytest.raises(DivergedError):
        world.step(np.full(MOTORS, np.inf))
    world.step()  # the world itself is as it was


def test_cancelled_by_progress():
    recording = simulate(World(MUICO), seconds=1.0, progress=lambda steps, _: steps < 10)
    assert recording.outcome == "cancelled"
    assert recording.steps == 10


@pytest.mark.parametrize(
    "make",
    [
        lambda: World(MUICO, rate=0.0),
        lambda: World(MUICO, rate=np.inf),
        lambda: World(MUICO, rate=np.nan),
        lambda: World(MUICO, friction=-1.0),
        lambda: World(MUICO, friction=np.nan),
        lambda: World(MUICO, sides=5),
        lambda: World(MUICO, contacts="guessing"),
        lambda: World(MUICO, margin=-0.1),
        lambda: World(MUICO, grabs=[Grab("tail")]),
        lambda: World(MUICO, pushes=[Push.constant("tail", (1.0, 0.0, 0.0), 0.0, 1.0)]),
        lambda: World(MUICO, props=[Prop.box("torso", (0.1,) * 3, 1.0, (0.0, 0.0, 0.0))]),
        lambda: World(MUICO).reset(np.full(MUICO.nq, np.nan)),
        lambda: World(MUICO).reset(np.zeros(3)),
        lambda: World(MUICO).reset(np.zeros(MUICO.nq)),
        lambda: World(MUICO, restitution=1.1),
        lambda: World(MUICO, max_contacts=0),
        lambda: World(MUICO, max_contacts=10**6),
        lambda: World(MUICO).apply_impulse("tail", (0.0, 0.0, 1.0)),
        lambda: World(MUICO).load_state(World(MUICO).save_state() | {"known": np.array([10**9])}),
        lambda: World(MUICO).load_state(World(MUICO).save_state() | {"v": np.full(MUICO.nv, np.nan)}),
        lambda: World(MUICO).load_state(World(MUICO).save_state() | {"q": np.full(MUICO.nq, "q")}),
        lambda: World(MUICO).reset(v=np.full(MUICO.nv, np.inf)),
        lambda: World(MUICO).step(np.zeros(3)),
        lambda: World(MUICO).load_state({}),
        lambda: Push("torso", np.zeros((1, 3)), 1.0),
        lambda: Push("torso", np.full((4, 3), np.nan), 1.0),
        lambda: Grab("torso", start=1.0, end=1.0),
        lambda: Prop.sphere("ball", 0.1, 0.0, (0.0, 0.0, 0.0)),
    ],
)
def test_bad_input_is_refused_in_a_sentence(make):
    with pytest.raises(ValueError, match=r"[a-z].*\."):
        make()


def test_solving_asks_for_a_begun_step():
    with pytest.raises(RuntimeError, match="begun"):
        World(MUICO).solve()
