# SPDX-License-Identifier: GPL-3.0-or-later
"""For all tests."""

import os
import sys

import hypothesis
import pytest
from heft.core import rounding  # before numpy, so that tests round alike however pytest was started

# The first example of a property may compile kernels, and machines are noisy: no test asserts a time.
hypothesis.settings.register_profile("heft", deadline=None)
hypothesis.settings.load_profile("heft")

EXIT_STATUS = pytest.StashKey[int]()


def pytest_report_header():
    return "rounding: as on every processor" if rounding.FIXED else "rounding: as on this processor"


def pytest_sessionfinish(session, exitstatus):
    session.config.stash[EXIT_STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Leave without the bpy module's own clean-up: 4.5's can wait for ever on one of its threads."""
    if "bpy" in sys.modules and EXIT_STATUS in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[EXIT_STATUS])
