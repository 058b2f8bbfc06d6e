# SPDX-License-Identifier: GPL-3.0-or-later
"""Altered batch files: each is refused in one line that names a line, or asks for bakes."""

import pytest
from heft.core.batch.plan import Plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.batch.nights import NIGHT, night
from tests.core.job.mutations import altered_lines, refusal


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("night")


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_an_altered_batch_file_is_refused_by_its_line_or_read(folder, data):
    path = night(folder)
    path.write_bytes(data.draw(altered_lines(NIGHT)))
    said = refusal(Plan.read, path)
    assert said is None or (said.startswith("night.toml, line ") and len(said.splitlines()) == 1)
