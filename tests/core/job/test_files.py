# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of jobs and results: what is saved is loaded, what is broken is refused in a sentence, nothing half written."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from heft.core.character import Character
from heft.core.contact.shapes import Hull
from heft.core.job import BakeJob, BakeResult, Scene, run
from heft.core.motion.floor import Levelling
from heft.core.simulation import Prop

from tests.core.job import golden
from tests.core.job.jobs import full_job, waving_clip, waving_job


@pytest.fixture(scope="module")
def result():
    return run(waving_job())


def test_job_comes_back_from_its_file(tmp_path):
    for job in (waving_job(), full_job(), waving_job(character=Character.preset("muico29"))):
        path = tmp_path / "a.heftjob"
        job.save(path)
        loaded = BakeJob.load(path)
        assert loaded == job
        assert loaded.key() == job.key()
        assert hash(loaded) == hash(job)
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.heftjob"]


def test_a_prop_of_hulls_comes_back_and_is_baked(tmp_path):
    """A shard that stands beside who waves falls over, and lies still."""
    corners = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.2, 0.0), (0.3, 0.3, 0.6), (0.3, 0.3, 0.3))
    shard = Prop.of_shapes("shard", [Hull("shard", "shard", corners)], 3.0, (2.0, 0.0, 0.01))
    job = waving_job(scene=Scene(props=(shard,)), seconds=2.0)
    job.save(tmp_path / "a.heftjob")
    assert BakeJob.load(tmp_path / "a.heftjob") == job
    poses = run(job).prop_poses[:, 0]
    assert poses[-1, 2, 3] < poses[0, 2, 3] - 0.05
    np.testing.assert_allclose(poses[-1], poses[-3], atol=2e-3)


def test_jobs_differ_by_any_field():
    job = full_job()
    others = [
        replace(job, name="other"),
        replace(job, rate=120.0),
        replace(job, settings={}),
        replace(job, contacts=()),
        replace(job, contacts=None),
        replace(job, scene=replace(job.scene, gravity=(0.0, 0.0, -9.81))),
        replace(job, scene=Scene()),
        replace(job, recovery=False),
        replace(job, recovery_effort=9),
        replace(job, looseness={"arms": 0.5}),
        replace(job, clip=replace(job.clip, position=job.clip.position + 1e-9)),
        replace(job, character=Character.preset("muico29")),
    ]
    assert len({job, *others}) == len(others) + 1


def test_equal_numbers_make_equal_jobs():
    assert waving_job(seconds=1) == waving_job(seconds=1.0)
    assert waving_job(settings={"a": 1, "b": 2.0}) == waving_job(settings={"b": 2.0, "a": 1})
    roles = waving_job().roles
    assert waving_job() == replace(waving_job(), roles=dict(reversed(roles.items())))


def test_result_comes_back_from_its_file(result, tmp_path):
    path = tmp_path / "a.heftresult"
    result.save(path)
    loaded = BakeResult.load(path)
    assert loaded == result
    assert loaded.report == result.report
    assert loaded.fall == result.fall
    assert loaded.forces.body == result.forces.body
    for name in ("frames", "poses", "reference", "center_of_mass"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    assert replace(result, poses=result.poses + 1e-12) != result


def test_results_are_equal_however_long_they_took(result):
    report = result.report | {"seconds": {}, "real_time_factor": 7.0, "step_us_median": 1.0, "step_us_p99": 2.0}
    assert replace(result, report_text=json.dumps(report)) == result
    assert replace(result, report_text=json.dumps(result.report | {"why": "no"})) != result


def altered(path, change):
    """Let `change(header, arrays)` work on a file."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(np.load(io.BytesIO(entries.pop("header.npy"))).tobytes())
    arrays = {name: np.load(io.BytesIO(content)) for name, content in entries.items()}
    change(header, arrays)
    arrays["header.npy"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asanyarray(array), allow_pickle=True)
            archive.writestr(name, content.getvalue())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, _: h.update(version=99), "its version is '99'"),
        (lambda h, _: h.update(format="heft.other"), "does not say"),
        (lambda h, _: h.pop("value"), "value"),
        (lambda h, _: h.update(value=[]), "is not a BakeJob"),
        (lambda h, _: h["value"].pop("rate"), "is not a BakeJob"),
        (lambda h, _: h["value"].update(more=1), "is not a BakeJob"),
        (lambda h, _: h["value"].update(rate="fast"), "rate cannot be 'fast'"),
        (lambda h, _: h["value"].update(rate=True), "rate cannot be 'True'"),
        (lambda h, _: h["value"].update(rate="nan"), "simulation rate"),
        (lambda h, _: h["value"].update(name=7), "name cannot be '7'"),
        (lambda h, _: h["value"].update(ground="lava"), "ground must be one of auto, level, terrain"),
        (lambda h, _: h["value"].update(contacts="all"), "contacts cannot be"),
        (lambda h, _: h["value"].update(frame_end=1e9), "reaches beyond the motion, which has frames"),
        (lambda h, _: h["value"].update(roles=[]), "roles must be a table"),
        (lambda h, _: h["value"]["scene"]["surfaces"][0].update({"is": "Volcano"}), "surfaces cannot be"),
        (lambda h, _: h["value"]["scene"]["loads"][0].update(mass=-1.0), "mass of load 'rucksack'"),
        (lambda h, _: h["value"]["scene"].update(gravity=[0.0, 0.0]), "zip|gravity"),
        (lambda h, _: h["value"]["clip"].update(position={"array": 999}), "position is not an array"),
        (lambda h, _: h["value"]["clip"].update(position={"array": -1}), "position is not an array"),
        (lambda h, _: h["value"]["clip"].update(position=1.0), "position is not an array"),
        (lambda h, _: h["value"]["settings"].update(gamma=[1.0]), "settings cannot be"),
        (
            lambda _, a: a.update({"array0.npy": a["array0.npy"].astype(np.float32)}),
            "array of <f4 in . dimensions is not supported",
        ),
        (lambda _, a: a.update({"array0.npy": np.array([object()])}), "array of .O in 1 dimensions is not supported"),
        (lambda _, a: a["array6.npy"].fill(np.inf), "vertices of bone 'foot.L'"),
        (lambda _, a: a.pop("array1.npy"), "it holds"),
        (lambda _, a: a.update({"../evil.npy": np.zeros(1)}), "it holds"),
    ],
)
def test_altered_jobs_are_refused(tmp_path, change, message):
    path = tmp_path / "a.heftjob"
    full_job().save(path)
    altered(path, change)
    with pytest.raises(ValueError, match=message) as raised:
        BakeJob.load(path)
    assert str(raised.value).startswith("a.heftjob is not a bake job: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, _: h["value"].update(bones=["one"]), "poses of a result"),
        (lambda _, a: a.update({n: v + 99 for n, v in a.items() if v.shape[1:] == (2,)}), "lines between bones"),
        (lambda h, _: h["value"].update(report_text="{"), "Expecting property name"),
        (lambda h, _: h["value"].update(report_text='{"outcome": "lost"}'), "has no outcome"),
        (lambda h, _: h["value"].update(report_text='{"outcome": NaN}'), "NaN"),
        (lambda h, _: h["value"]["forces"].update(body=[]), "one body and one point"),
        (lambda h, _: h["value"]["fall"] or h["value"].update(fall={"is": "Fall"}), "fall is not a Fall"),
    ],
)
def test_altered_results_are_refused(result, tmp_path, change, message):
    path = tmp_path / "a.heftresult"
    result.save(path)
    altered(path, change)
    with pytest.raises(ValueError, match=message) as raised:
        BakeResult.load(path)
    assert str(raised.value).startswith("a.heftresult is not a bake result: ")


def test_other_files_are_refused(result, tmp_path):
    path = tmp_path / "b.heftjob"
    waving_job().save(path)
    whole = path.read_bytes()
    for content in (b"", b"not a zip", whole[:-200], whole[: len(whole) // 2], b"PK\x03\x04" + whole[100:]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a bake job"):
            BakeJob.load(path)
    result.save(path)
    with pytest.raises(ValueError, match=r'does not say "format": "heft\.job"'):
        BakeJob.load(path)
    with pytest.raises(FileNotFoundError):
        BakeJob.load(tmp_path / "nowhere")


def test_claimed_sizes_cost_nothing(tmp_path):
    """An array whose header claims a terabyte is refused before anything is made for it."""
    path = tmp_path / "c.heftjob"
    waving_job().save(path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    entries["array0.npy"] = header.getvalue() + bytes(8)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="is not as large as it says"):
        BakeJob.load(path)


def test_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "c.heftjob"
    job = waving_job()
    job.save(path)
    before = path.read_bytes()
    broken = object.__new__(BakeJob)
    broken.__dict__.update(job.__dict__ | {"clip": None, "roles": {"pelvis": 3}})
    with pytest.raises(TypeError):
        broken.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.heftjob"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate": 5.0}, "simulation rate must be 30 to 2000"),
        ({"frame_start": 12.0, "frame_end": 12.0}, "range 12 to 12 is empty"),
        ({"frame_start": 3.0}, "the motion, which has frames 10 to 25"),
        ({"frame_end": 26.0}, "the motion, which has frames 10 to 25"),
        ({"seconds": 0.0}, "can last at most 3600 s, not 0 s"),
        ({"seconds": 1e5}, "can last at most 3600 s"),
        ({"name": ""}, "name of a job"),
    ],
)
def test_impossible_jobs_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        waving_job(**changes)


def test_jobs_of_version_6_do_what_they_did():
    """They neither recovered nor were loose, and what could not be was refused."""
    job = golden.kept("walk")
    assert not job.recovery
    assert job.help == "none"
    assert job.travel == "travelling"
    assert job.flights == "as_keyed"
    assert job.recovery_effort == BakeJob.recovery_effort
    assert job.looseness == {}
    assert job.levelling == Levelling(height=True, tilt=True, drift=False)


@pytest.mark.parametrize(("settings", "damping"), [({"damping": 1000.0}, 500.0), ({}, None)])
def test_half_of_what_momentum_was_told_in_version_11_is_what_it_took(tmp_path, settings, damping):
    path = tmp_path / "a.heftjob"
    waving_job(method="momentum", settings=settings).save(path)
    altered(path, lambda header, _: header.update(version=11))
    assert BakeJob.load(path).settings.get("damping") == damping


def test_what_was_held_in_version_17_did_not_move_by_itself_and_props_met_all(tmp_path):
    path = tmp_path / "a.heftjob"
    door = Prop.box("door", (0.4, 0.02, 1.0), 20.0, (2.0, 0.0, 1.0)).tied_at((-0.4, 0.0, -0.7))
    job = waving_job(scene=replace(full_job().scene, props=(door,)))
    job.save(path)

    def as_then(header, _):
        header["version"] = 17
        scene = header["value"]["scene"]
        for grab in (*scene["grabs"], *scene["props"][0]["ties"]):
            del grab["motion"]
        del scene["props"][0]["groups"]

    altered(path, as_then)
    assert BakeJob.load(path) == job


def test_props_of_version_16_had_the_friction_of_what_they_touched(tmp_path):
    path = tmp_path / "a.heftjob"
    door = Prop.box("door", (0.4, 0.02, 1.0), 20.0, (2.0, 0.0, 1.0)).tied_at((-0.4, 0.0, -0.7))
    job = waving_job(scene=replace(full_job().scene, props=(door,)))
    job.save(path)

    def as_then(header, _):
        header["version"] = 16
        scene = header["value"]["scene"]
        for grab in (*scene["grabs"], *scene["props"][0]["ties"]):
            del grab["axis"], grab["motion"]
        del scene["props"][0]["friction"], scene["props"][0]["groups"]

    altered(path, as_then)
    assert BakeJob.load(path) == job


def test_who_got_up_in_version_17_did_so_its_own_way(tmp_path):
    path = tmp_path / "a.heftjob"
    job = waving_job(get_up=True)
    job.save(path)

    def as_then(header, _):
        header["version"] = 17
        del header["value"]["get_up_clip"]

    altered(path, as_then)
    assert BakeJob.load(path) == job
    assert job.get_up_clip is None


def test_the_motion_to_get_up_by_is_kept(tmp_path):
    job = waving_job(get_up=True, get_up_clip=waving_clip(0.7))
    job.save(tmp_path / "a.heftjob")
    found = BakeJob.load(tmp_path / "a.heftjob")
    assert found == job
    np.testing.assert_array_equal(found.get_up_clip.position, job.get_up_clip.position)


def test_a_motion_to_get_up_by_of_another_skeleton_is_refused():
    other = waving_clip(0.5)
    names = tuple(f"{name}_" for name in other.skeleton.names)
    with pytest.raises(ValueError, match="motion to get up by has another skeleton: choose one of the same"):
        waving_job(get_up=True, get_up_clip=replace(other, skeleton=replace(other.skeleton, names=names)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"help": "please"}, "no help 'please'; choose from none, as_needed, as_keyed"),
        ({"travel": "fly"}, "no travel 'fly'; choose from auto, in_place, travelling"),
        ({"flights": "soon"}, "no flights 'soon'; choose from auto, timing, height, as_keyed"),
        ({"ground": "lava"}, "no ground 'lava'; choose from auto, level, terrain"),
        ({"recovery": "no"}, "switch recovery of a job must be True or False, not 'no'"),
        ({"get_up": 1}, "switch get_up of a job must be True or False, not 1"),
        ({"recovery_effort": 0}, "must be 1 to 10 plans, not 0"),
        ({"looseness": {"tail": 0.5}}, "no region 'tail' for looseness; choose from legs, trunk, arms, head"),
        ({"looseness": {"arms": 1.5}}, "looseness of the arms must lie between 0 and 1, not 1.5"),
    ],
)
def test_choices_that_make_no_sense_are_refused(change, reason):
    with pytest.raises(ValueError, match=reason):
        replace(waving_job(), **change)
