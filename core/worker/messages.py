# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender and its worker say to each other: length-prefixed JSON with arrays in numpy's npz, nothing pickled.

A message is 16 bytes (a mark, the length of the text, the length of the arrays), the text, the arrays.
"""

import io
import json
import struct
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HEAD = struct.Struct(">4sIQ")
MARK = b"heft"
LONGEST_TEXT = 2**26
LARGEST_ARRAYS = 2**32

Arrays = Mapping[str, NDArray[Any]]


class Message(NamedTuple):
    """One message."""

    kind: str
    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write(stream: IO[bytes], kind: str, values: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> None:
    """Send a message."""
    text = json.dumps({"kind": kind, "values": dict(values or {})}, allow_nan=False).encode()
    packed = b""
    if arrays:
        plain: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
        if any(array.dtype.hasobject for array in plain.values()):
            raise ValueError("Only arrays of plain numbers can be sent.")
        buffer = io.BytesIO()
        np.savez(buffer, **plain)
        packed = buffer.getvalue()
    stream.write(HEAD.pack(MARK, len(text), len(packed)) + text + packed)
    stream.flush()


def read(stream: IO[bytes]) -> Message | None:
    """Wait for a message; None where the stream ended, be it within one. ValueError for what is no message."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    mark, text_length, arrays_length = HEAD.unpack(head)
    if mark != MARK or text_length > LONGEST_TEXT or arrays_length > LARGEST_ARRAYS:
        raise ValueError("The pipe carried something that is not a message.")
    text, packed = stream.read(text_length), stream.read(arrays_length)
    if len(text) < text_length or len(packed) < arrays_length:
        return None
    data = json.loads(text)
    arrays: dict[str, NDArray[Any]] = {}
    if packed:
        with np.load(io.BytesIO(packed), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    return Message(data["kind"], data["values"], arrays)
