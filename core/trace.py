# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs do, written as they go where the environment variable HEFT_TRACE names a file, as lines of JSON.

Every line has `at` (UTC), `process` and `what`. Lines are added whole, so that several processes may write to one file,
and what was written before a crash is there.
"""

import base64
import binascii
import datetime as dt
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VARIABLE = "HEFT_TRACE"
LONGEST_LINE = 2**28  # bytes

_paused: list[None] = []


def is_on() -> bool:
    """Whether anything is to be written."""
    return not _paused and bool(os.environ.get(VARIABLE))


@contextmanager
def paused() -> Iterator[None]:
    """Nothing is written while the block runs."""
    _paused.append(None)
    try:
        yield
    finally:
        _paused.pop()


def note(what: str, **values: Any) -> None:
    """Write a line, if any is to be written; ValueError where the file cannot be."""
    if not is_on():
        return
    at = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"at": at, "process": os.getpid(), "what": what, **values}, allow_nan=False)
    path = os.environ[VARIABLE]
    try:
        with Path(path).open("ab", buffering=0) as file:
            file.write(line.encode() + b"\n")
    except OSError as error:
        why = error.strerror or error
        raise ValueError(f"{VARIABLE} names {path}, which cannot be written ({why}): choose another file.") from error


def read(path: str | Path) -> list[dict[str, Any]]:
    """The lines of a file, but for a last one that was cut off; ValueError where it is no trace."""
    found = []
    with Path(path).open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if not line.endswith(b"\n"):
                break
            said = _parsed(line)
            if said is None:
                raise ValueError(
                    f"Line {number} of {Path(path).name} is not part of a trace: choose a file written by {VARIABLE}."
                )
            found.append(said)
    return found


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and isinstance(said.get("what"), str) else None


def to_text(content: bytes) -> str:
    """Bytes as a line can hold them."""
    return base64.b64encode(content).decode()


def from_text(text: Any) -> bytes:
    """And back; ValueError where it is none."""
    if not isinstance(text, str):
        raise ValueError("A text in the trace is missing.")  # noqa: TRY004 - a wrong file, not a wrong call
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"A text in the trace does not hold bytes: {error}") from error
