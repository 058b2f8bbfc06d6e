# SPDX-License-Identifier: GPL-3.0-or-later
"""Altered files of jobs and results: each is refused in one line, or means something. `run.py study altered_files` does
the same at length, and runs what can be run.
"""

from functools import cache

import pytest
from heft.core import archive
from heft.core.job import BakeJob, BakeResult, job, result, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.job import mutations
from tests.core.job.jobs import full_job, waving_job

NO_SHRINKING = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@cache
def altered(kind):
    if kind is BakeJob:
        return mutations.altered_archives(archive.pack(full_job(), BakeJob, job.FORMAT, job.VERSION))
    return mutations.altered_archives(archive.pack(run(waving_job()), BakeResult, result.FORMAT, result.VERSION))


@pytest.mark.parametrize("kind", [BakeJob, BakeResult])
@NO_SHRINKING
@given(data=st.data())
def test_an_altered_file_is_refused_in_a_line_or_read(tmp_path_factory, kind, data):
    path = tmp_path_factory.getbasetemp() / "altered.heft"
    path.write_bytes(data.draw(altered(kind)))
    said = mutations.refusal(kind.load, path)
    assert said is None or (said.startswith("altered.heft is not a bake ") and len(said.splitlines()) == 1)
