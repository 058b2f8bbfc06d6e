# SPDX-License-Identifier: GPL-3.0-or-later
"""A few of the drops of studies/rag_doll.py; the study does a thousand."""

import pytest
from heft.studies.rag_doll import drop


# besides the first twenty, some whose contact problems of a hundred unknowns and more once defeated Lemke's method
@pytest.mark.parametrize("seed", [*range(20), 500, 634, 730])
def test_rag_doll_settles_on_random_terrain(seed):
    result = drop(seed)
    assert result.reason == ""
    assert result.penetration <= 2e-3
    assert result.worst_residual <= 1e-6
