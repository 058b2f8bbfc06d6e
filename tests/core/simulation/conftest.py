# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the tests of this room import the scenes that they share."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
