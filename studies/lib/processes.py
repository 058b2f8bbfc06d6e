# SPDX-License-Identifier: GPL-3.0-or-later
"""What Linux says of running processes."""

import os
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that a process has started; none where it has ended."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def megabytes(pid: int) -> float:
    """What a process has in RAM; 0 where it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
