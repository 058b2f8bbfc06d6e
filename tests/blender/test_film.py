# SPDX-License-Identifier: GPL-3.0-or-later
"""The film that the demo makes: Blender's own pictures in one animated WebP."""

import struct

import bpy
import numpy as np
import pytest
from heft.examples.film import write_animated_webp


def picture(path, grey, width=48, height=32):
    image = bpy.data.images.new("picture", width, height)
    image.pixels.foreach_set(np.tile(np.array([grey, grey, grey, 1.0], dtype=np.float32), width * height))
    image.filepath_raw, image.file_format = str(path), "WEBP"
    image.save()
    bpy.data.images.remove(image)
    return path


def chunks(data):
    """Kind and content of each, one after the other."""
    at, found = 0, []
    while at < len(data):
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        found.append((data[at : at + 4], data[at + 8 : at + 8 + length]))
        at += 8 + length + length % 2
    return found


def test_it_holds_every_picture_in_order(tmp_path):
    pictures = [picture(tmp_path / f"{k}.webp", 0.25 * k) for k in range(4)]
    data = write_animated_webp(pictures, tmp_path / "film.webp", 83).read_bytes()
    assert (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    kinds = chunks(data[12:])
    assert [kind for kind, _ in kinds] == [b"VP8X", b"ANIM", *[b"ANMF"] * 4]
    size = struct.pack("<I", 47)[:3] + struct.pack("<I", 31)[:3]
    assert kinds[0][1] == bytes([2, 0, 0, 0]) + size
    for (_, frame), single in zip(kinds[2:], pictures, strict=True):
        assert frame[6:12] == size
        assert int.from_bytes(frame[12:15], "little") == 83
        (own,) = chunks(frame[16:])
        assert own in chunks(single.read_bytes()[12:])


def test_pictures_of_two_sizes_are_refused(tmp_path):
    pictures = [picture(tmp_path / "a.webp", 0.5), picture(tmp_path / "b.webp", 0.5, width=50)]
    with pytest.raises(ValueError, match="of one size"):
        write_animated_webp(pictures, tmp_path / "film.webp", 83)


def test_what_is_no_picture_is_refused(tmp_path):
    (tmp_path / "a.webp").write_bytes(b"RIFF1234WAVE")
    with pytest.raises(ValueError, match=r"a\.webp is not a WebP picture"):
        write_animated_webp([tmp_path / "a.webp"], tmp_path / "film.webp", 83)
