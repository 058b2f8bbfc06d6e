# SPDX-License-Identifier: GPL-3.0-or-later
"""A film that a page can show: an animated WebP, put together from pictures that Blender writes.

Blender writes single WebP pictures. The format's container (Google's WebP Container Specification) holds several: a
header VP8X, ANIM for all, and of each frame an ANMF with the picture's own chunk.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

ANIMATED = 0x02  # flag of the header
COVERS = 0x02  # flag of a frame: it is put over the one before as it is, without blending


def write_animated_webp(pictures: Sequence[Path], path: Path, milliseconds: int) -> Path:
    """Each of them for that long, again and again; ValueError where one is no WebP picture, or of another size."""
    chunks = [_picture_chunk(picture.read_bytes(), picture.name) for picture in pictures]
    sizes = {size for size, _ in chunks}
    if len(sizes) != 1:
        raise ValueError("The pictures of a film must be of one size, and there must be one.")
    size = b"".join(_number(length - 1, 3) for length in sizes.pop())
    header = _chunk(b"VP8X", struct.pack("<BBBB", ANIMATED, 0, 0, 0) + size)
    forever = _chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0))
    frames = [
        _chunk(b"ANMF", bytes(6) + size + _number(milliseconds, 3) + bytes([COVERS]) + picture) for _, picture in chunks
    ]
    content = b"WEBP" + header + forever + b"".join(frames)
    path.write_bytes(b"RIFF" + _number(len(content), 4) + content)
    return path


def _picture_chunk(data: bytes, name: str) -> tuple[tuple[int, int], bytes]:
    """Width and height, and the chunk of a picture's file that is the picture."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise ValueError(f"{name} is not a WebP picture.")
    at = 12
    while at + 8 <= len(data):
        kind, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        content = data[at + 8 : at + 8 + length]
        if kind == b"VP8 ":  # a key frame's start code, then 14 bits each
            width, height = struct.unpack("<HH", content[6:10])
            return (width & 0x3FFF, height & 0x3FFF), _chunk(kind, content)
        if kind == b"VP8L":  # lossless: a signature, then 14 bits each, less one
            bits = int.from_bytes(content[1:5], "little")
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1), _chunk(kind, content)
        at += 8 + length + length % 2
    raise ValueError(f"{name} holds no picture.")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return kind + _number(len(content), 4) + content + bytes(len(content) % 2)


def _number(value: int, length: int) -> bytes:
    return value.to_bytes(length, "little")
