# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are known to the last bit, and job files of earlier versions."""

import pytest
from heft.core.job import run

from tests.core.job import golden


@pytest.mark.parametrize("name", golden.QUICK)
def test_a_job_gives_the_bits_that_it_always_gave(name):
    assert golden.digests(run(golden.jobs()[name])) == golden.known()[name]


def test_every_golden_job_is_known():
    assert set(golden.known()) == set(golden.jobs())
