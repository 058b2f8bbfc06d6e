# SPDX-License-Identifier: GPL-3.0-or-later
"""The one way to write a file: whole or not at all."""

import os
import uuid
from pathlib import Path


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file under another name beside it, then put it in place in one step."""
    target = Path(path)
    unfinished = target.with_name(f"{target.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
