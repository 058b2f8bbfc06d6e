# SPDX-License-Identifier: GPL-3.0-or-later
"""For the tests of what only studies use."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)
