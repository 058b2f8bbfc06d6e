# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator answers to Blender."""

from typing import Literal

Status = set[Literal["RUNNING_MODAL", "CANCELLED", "FINISHED", "PASS_THROUGH", "INTERFACE"]]
