# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts as an animator sees and edits them, by the scene's frames."""

from heft.core.cache import Cache
from heft.core.job import ContactInterval
from heft.core.job.preparing import find_contacts, make_motion
from heft.core.job.progress import Clock, ProgressReporter

from tests.core.job.jobs import waving_job


def test_both_feet_stand_through_all_of_the_range():
    job = waving_job()
    found = find_contacts(job, ProgressReporter(None), Cache(None))
    assert {contact.point for contact in found} == {
        f"{side}_foot_{end}" for side in ("left", "right") for end in ("heel", "toe")
    }
    for contact in found:
        assert (contact.first_frame, contact.last_frame) == job.frames


def test_what_was_edited_is_not_what_is_found(tmp_path):
    """A toe that an animator lifts carries nothing; asked for what is found, it stands."""
    first, last = waving_job().frames
    kept = [ContactInterval(point, first, last) for point in ("left_foot_heel", "left_foot_toe", "right_foot_heel")]
    edited = waving_job(contacts=tuple(kept))
    motion = make_motion(edited, ProgressReporter(None), Cache(tmp_path), Clock())
    assert {contact.point for contact in motion.contacts} == {one.point for one in kept}
    names = motion.reference.schedule.names
    carrying = [name for name, one in zip(names, motion.reference.carrying.T, strict=True) if one.any()]
    assert any("left" in name and "toe" in name for name in carrying)
    assert not any(name.startswith("right") and "toe" in name for name in carrying), carrying
    assert len(find_contacts(edited, ProgressReporter(None), Cache(tmp_path))) == 4
