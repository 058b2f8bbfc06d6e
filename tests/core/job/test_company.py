# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs in one world: whoever touches nobody is baked as alone, to the bit; whoever is in the way is pushed."""

from dataclasses import replace

import numpy as np
import pytest
from heft.core import archive
from heft.core.job import CompanyJob, Scene, company, job, run, run_together
from heft.core.motion import quaternions
from heft.core.simulation import Grab, Prop
from heft.core.simulation.company import Hold

from tests.core.job.jobs import waving_job


def moved(one, aside=(0.0, 0.0), turned=0.0, about=None, **changes):
    """The same motion elsewhere."""
    clip = one.clip
    pivot = np.append(clip.position[0, 0, :2] if about is None else about, 0.0)
    turn = quaternions.exp(np.array([0.0, 0.0, turned]))
    place = pivot + quaternions.rotate(turn, clip.position - pivot) + np.array([*aside, 0.0])
    return replace(
        one, clip=replace(clip, position=place, orientation=quaternions.multiply(turn, clip.orientation)), **changes
    )


def same(one, other):
    """All that was simulated."""
    for name in ("frames", "poses", "reference", "center_of_mass"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name, curve in one.curves.items():
        np.testing.assert_array_equal(curve, other.curves[name])
    for name, torque in one.torques.items():
        np.testing.assert_array_equal(torque, other.torques[name])
    assert one.report["why"] == other.report["why"]


def test_three_far_apart_are_baked_as_each_alone():
    """Another method and a later start among them."""
    clip = waving_job().clip
    jobs = [
        waving_job(),
        moved(waving_job(name="replanned", method="replanning"), (3.0, 0.0)),
        moved(waving_job(name="later", noise=0.02), (0.0, 3.0), turned=1.0),
    ]
    jobs[2] = replace(jobs[2], clip=replace(jobs[2].clip, first_frame=clip.first_frame + 4.0))
    alone = [run(each) for each in jobs]
    assert {result.outcome for result in alone} == {"completed"}
    for one, other in zip(alone, run_together(CompanyJob(tuple(jobs))), strict=True):
        same(one, other)


def test_arms_that_meet_are_in_each_others_way():
    """Side by side, arms swing into one another: forces are told, and both are elsewhere than alone."""
    jobs = (waving_job(), moved(waving_job(name="other"), (0.95, 0.0)))
    alone = [run(each) for each in jobs]
    together = run_together(CompanyJob(jobs))
    for one, other in zip(alone, together, strict=True):
        assert other.outcome == "completed"
        assert "Other characters touched it" in other.report["notes"][0]
        assert np.abs(one.poses - other.poses).max() > 1e-3
    apart = run_together(CompanyJob(jobs, apart=((0, 1),)))
    for one, other in zip(alone, apart, strict=True):
        same(one, other)


def test_held_forearms_stay_together():
    """A hold between two who wave: what is held keeps its place on what it holds, from when it was taken on."""
    jobs = (waving_job(), moved(waving_job(name="other"), (1.2, 0.0)))
    hold = Hold(0, Grab("left_forearm", kind="full", start=0.1), 1, "right_forearm")
    found = run_together(CompanyJob(jobs, (hold,)))
    one, other = (
        result.poses[:, result.bones.index(f"forearm.{side}")] for result, side in zip(found, "LR", strict=True)
    )
    between = np.linalg.inv(one) @ other
    free = [
        result.poses[:, result.bones.index(f"forearm.{side}")]
        for result, side in zip(map(run, jobs), "LR", strict=True)
    ]
    assert np.ptp((np.linalg.inv(free[0]) @ free[1])[4:, :3, 3], axis=0).max() > 0.05
    assert np.ptp(between[4:, :3, 3], axis=0).max() < 0.002


def test_one_that_is_impossible_does_not_keep_the_others_from_baking():
    jobs = (waving_job(), moved(waving_job(name="other", optimise=False), (3.0, 0.0)))
    good, bad = run_together(CompanyJob(jobs))
    same(run(jobs[0]), good)
    assert isinstance(bad, str)
    assert "Correct Physics First" in bad


def test_who_simulates_a_model_of_its_own_is_alone():
    jobs = (waving_job(), moved(waving_job(name="other", rate=240.0), (0.3, 0.0)))
    first, second = run_together(CompanyJob(jobs))
    same(run(jobs[0]), first)
    same(run(jobs[1]), second)
    assert any("simulated alone" in note and "240" in note for note in second.report["notes"])


def test_a_company_is_saved_and_loaded(tmp_path):
    two = CompanyJob(
        (waving_job(), waving_job(name="other")), (Hold(0, Grab("left_hand", start=0.5), 1, "right_hand"),), ((0, 1),)
    )
    two.save(tmp_path / "two.heftcompany")
    again = CompanyJob.load(tmp_path / "two.heftcompany")
    assert again.jobs == two.jobs
    assert (again.holds, again.apart) == (two.holds, two.apart)


def test_files_of_older_jobs_are_read_as_jobs_are():
    """A company of version 8 has jobs without what version 9 says."""
    assert set(company.OLDER) == set(job.OLDER)
    renewed = company.OLDER[8]({"jobs": [{"name": "a"}, {"name": "b"}]}, archive.pack)
    assert [each["name"] for each in renewed["jobs"]] == ["a", "b"]
    assert all(each["simulate"] and each["path"] is None for each in renewed["jobs"])
    old = {"jobs": [{"name": "a"}], "holds": [{"member": 0}], "apart": []}
    renewed = company.OLDER[12](old, archive.pack)
    assert renewed["holds"] == [{"member": 0, "way": None}]
    assert not renewed["find_holds"]
    old = {"jobs": [], "holds": [{"member": 0, "grab": {"body": "left_hand"}}], "apart": []}
    for version, new in ((16, {"axis": [1.0, 0.0, 0.0]}), (17, {"motion": None})):
        assert company.OLDER[version](old, archive.pack)["holds"][0]["grab"] == {"body": "left_hand", **new}


@pytest.mark.parametrize("wrong", [{"jobs": ()}, {"apart": ((0, 2),)}])
def test_what_makes_no_company_is_refused(wrong):
    with pytest.raises(ValueError, match="job"):
        CompanyJob(**{"jobs": (waving_job(), waving_job()), **wrong})


def test_a_prop_of_two_is_one_things():
    """Whoever holds on to it has it; the other's grab of it becomes a hold between the two, on one clock."""
    box = Prop.box("box", (0.1, 0.1, 0.1), 1.0, (2.0, 0.0, 0.1))
    stone = Prop.sphere("stone", 0.1, 1.0, (3.0, 0.0, 0.1))
    first = waving_job(scene=Scene(props=(box, stone)))
    second = waving_job(name="b", scene=Scene(props=(box, stone), grabs=(Grab("left_hand", start=0.1, other="box"),)))
    third = waving_job(name="c", scene=Scene(props=(box,), grabs=(Grab("left_hand", start=0.1, other="box"),)))
    third = replace(third, clip=replace(third.clip, first_frame=first.clip.first_frame + 15.0))
    one = CompanyJob((first, second, third)).with_props_once()
    assert [[prop.name for prop in each.scene.props] for each in one.jobs] == [["stone"], ["box"], []]
    assert [len(each.scene.grabs) for each in one.jobs] == [0, 1, 0]
    (hold,) = one.holds
    assert (hold.member, hold.other, hold.body, hold.way) == (2, 1, "box", None)
    assert hold.grab.start == pytest.approx(0.6)
    assert one.with_props_once().holds == one.holds
