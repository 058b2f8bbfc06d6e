# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of several rooms share."""

import pytest
from heft.core.control.steering import trials

FEW = 10  # tours: every action is tried, not every pair


@pytest.fixture
def few_tours(monkeypatch):
    """For tests of steered walks that ask for more than what trials tell: all of them take twenty seconds."""
    monkeypatch.setattr(trials, "MOST", FEW)


@pytest.fixture(scope="session")
def steered(tmp_path_factory):
    """Where jobs of steered walks find what others have made."""
    return tmp_path_factory.mktemp("steered")
