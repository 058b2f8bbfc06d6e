# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of batches share."""

import signal

import pytest


@pytest.fixture
def interrupts():
    """Let children be interrupted: what a shell runs in the background ignores it, and so do all that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
