# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender and its worker say to each other: length-prefixed JSON, and arrays as they lie in memory.

A message is 16 bytes (a mark, the length of the text, the length of the arrays), the text, the arrays one after the
other. The text says the kind, the values, and of each array its name, its numbers' kind and its shape.
"""

import json
import math
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
    """One message; its arrays are for reading."""

    kind: str
    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write(stream: IO[bytes], kind: str, values: Mapping[str, Any] | None = None, arrays: Arrays | None = None) -> None:
    """Send a message."""
    plain = {name: np.ascontiguousarray(array).reshape(np.shape(array)) for name, array in (arrays or {}).items()}
    if any(array.dtype.hasobject for array in plain.values()):
        raise ValueError("Only arrays of plain numbers can be sent.")
    layout = [(name, array.dtype.str, array.shape) for name, array in plain.items()]
    text = json.dumps({"kind": kind, "values": dict(values or {}), "arrays": layout}, allow_nan=False).encode()
    length = sum(array.nbytes for array in plain.values())
    stream.write(HEAD.pack(MARK, len(text), length) + text)
    for array in plain.values():
        stream.write(array.data if array.size else b"")
    stream.flush()


def read(stream: IO[bytes]) -> Message | None:
    """Wait for a message; None where the stream ended, be it within one. ValueError for what is no message."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    mark, text_length, length = HEAD.unpack(head)
    if mark != MARK or text_length > LONGEST_TEXT or length > LARGEST_ARRAYS:
        raise ValueError("The pipe carried something that is not a message.")
    text, content = stream.read(text_length), stream.read(length)
    if len(text) < text_length or len(content) < length:
        return None
    data = json.loads(text)
    arrays: dict[str, NDArray[Any]] = {}
    place = 0
    for name, kind, shape in data["arrays"]:
        arrays[name] = np.frombuffer(content, kind, math.prod(shape), place).reshape(shape)
        place += arrays[name].nbytes
    return Message(data["kind"], data["values"], arrays)
