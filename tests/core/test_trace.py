# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces: the stages of a run as it goes, and failed steps that fail again in the same way."""

import json

import numpy as np
import pytest
from heft.core import AffineLaw, Character, DivergedError, Prop, World, cli, run, trace
from heft.core.contact.terrain import Mesh
from heft.core.simulation.failure import FAILED, read_failure
from heft.core.simulation.replay import replay
from heft.core.worker import tasks
from heft.core.worker.worker import Worker

from tests.core.job.jobs import waving_job

MUICO = Character.preset("muico29")
MOTORS = MUICO.nv - 6
FLOOR = Mesh(np.array([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (0.0, 9.0, 0.0)]), np.array([(0, 1, 2)]))
CRATE = Prop.box("crate", (0.2, 0.2, 0.2), 5.0, (2.0, 0.0, 0.2))


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "trace.jsonl"
    monkeypatch.setenv(trace.VARIABLE, str(path))
    return path


def fallen():
    """A world half a second after its rag doll was let go; its contacts have a warm start."""
    world = World(MUICO, [FLOOR], props=[CRATE], rate=120.0)
    for _ in range(60):
        world.step()
    return world


def failures(path):
    return [read_failure(line["state"]) for line in trace.read(path) if line["what"] == FAILED]


def test_a_torque_that_is_not_finite_fails_again(path):
    world, torque = fallen(), np.zeros(MOTORS)
    torque[3] = np.nan
    with pytest.raises(DivergedError, match=r"step 60, .* not finite") as raised:
        world.step(torque)
    (failed,) = failures(path)
    assert failed.reason == raised.value.reason
    for name, array in world.save_state().items():
        np.testing.assert_array_equal(getattr(failed.state, name), array)
    found = replay(failed)
    assert found.reason == raised.value.reason
    joint = next(b.joint.name for k, b in enumerate(MUICO.bodies) if k == MUICO.tree.velocity_body[9])
    assert found.not_finite == (joint,)
    assert len(failures(path)) == 1  # what is taken again is not traced again


def test_an_unsolvable_step_fails_again_with_the_same_problem(path):
    world = fallen()
    count = int(world.begin_step().filled[0])
    gain = np.random.default_rng(1).normal(size=(MOTORS, 3 * count))
    with pytest.raises(DivergedError, match="no contact forces satisfy") as raised:
        world.solve(AffineLaw(np.zeros(MOTORS), contact_gain=gain))
    (failed,) = failures(path)
    np.testing.assert_array_equal(failed.law.contact_gain, gain)
    found = replay(failed)
    assert found.reason == raised.value.reason
    assert found.status == "RAY"
    assert (found.unknowns, found.lcp_residual) == (world.lcp_unknowns, world.lcp_residual)
    assert found.residual == world.residual
    assert found.miss == -world.contact_problem()[1].min() > 0.0
    # of six unknowns for a contact, the first is the normal
    assert "' on the ground" in found.worst
    assert any(f"'{shape.name}'" in found.worst for shape in MUICO.contacts)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (np.zeros(5), "torque must have the shape"),
        (AffineLaw(np.zeros(MOTORS), implicit=np.full(MOTORS, -1.0)), "implicit diagonal must not be negative"),
        (AffineLaw(np.zeros(MOTORS), contact_gain=np.zeros((2, 2))), "contact gain must have the shape"),
    ],
)
def test_a_law_that_is_none_is_refused_again(path, law, message):
    with pytest.raises(ValueError, match=message) as raised:
        World(MUICO).step(law)
    (failed,) = failures(path)
    assert failed.reason == str(raised.value) == replay(failed).reason


def test_a_step_that_does_not_fail_says_so(path):
    with pytest.raises(DivergedError):
        fallen().step(np.full(MOTORS, np.inf))
    (failed,) = failures(path)
    failed.law.torque[:] = 0.0
    found = replay(failed)
    assert (found.reason, found.status, found.not_finite) == ("", "SOLVED", ())
    assert found.residual < 1e-6


def test_a_run_without_failure_leaves_its_stages(path):
    result = run(waving_job())
    lines = trace.read(path)
    assert {line["what"] for line in lines} == {"run", "stage", "spent", "end"}
    assert (lines[0]["what"], lines[0]["job"]) == ("run", waving_job().name)
    assert (lines[-1]["what"], lines[-1]["outcome"]) == ("end", result.outcome)
    stages = [line["stage"] for line in lines if line["what"] == "stage"]
    assert stages == ["fit", "reference", "policy", "simulate", "measure"]
    for stage, seconds in result.report["seconds"].items():
        told = sum(line["seconds"] for line in lines if line["what"] == "spent" and line["stage"] == stage)
        assert told == pytest.approx(seconds, abs=1e-5)
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)


def test_nothing_is_written_unless_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.delenv(trace.VARIABLE, raising=False)
    trace.note("run")
    with pytest.raises(DivergedError):
        World(MUICO).step(np.full(MOTORS, np.nan))
    assert list(tmp_path.iterdir()) == []


def test_the_worker_writes_too(path):
    worker = Worker(None)
    try:
        worker.send("bake", *tasks.request(waving_job(), None))
        while not [message for message in worker.wait(600.0) if message.kind == "done"]:
            assert worker.alive
        assert {line["process"] for line in trace.read(path)} == {worker.pid}
    finally:
        worker.stop()
    assert [line["what"] for line in trace.read(path)][-1] == "end"


def test_what_was_written_before_a_crash_is_there(path):
    trace.note("run", job="walk")
    with path.open("ab") as file:
        file.write(b'{"what": "st')
    assert [line["what"] for line in trace.read(path)] == ["run"]


def test_a_file_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv(trace.VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=r"HEFT_TRACE names .*, which cannot be written"):
        run(waving_job())


def test_the_command_line_takes_steps_again(path, capsys):
    with pytest.raises(DivergedError):
        World(MUICO).step(np.full(MOTORS, np.nan))
    assert cli.main(["replay", str(path)]) == 0
    told = capsys.readouterr().out
    assert "trace.jsonl: 1 lines, 1 failed steps." in told
    assert told.count("a force, position or velocity is not finite.") == 2
    assert "no finite torque at: " in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense\n", "Line 1 of bad.jsonl"),
        ("[1]\n", "Line 1 of bad.jsonl"),
        (json.dumps({"what": FAILED}) + "\n", "cannot be read"),
        (json.dumps({"what": FAILED, "state": "?"}) + "\n", "cannot be read"),
        (json.dumps({"what": FAILED, "state": "UEsDBA=="}) + "\n", "cannot be read"),
    ],
)
def test_other_files_are_refused(tmp_path, capsys, content, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    assert cli.main(["replay", str(path)]) == 1
    assert message in capsys.readouterr().err
    assert cli.main(["replay", str(tmp_path / "gone")]) == 1
    assert "There is no file" in capsys.readouterr().err
