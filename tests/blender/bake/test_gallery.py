# SPDX-License-Identifier: GPL-3.0-or-later
"""The gallery: three scenes made, baked and filmed at a low size."""

from itertools import pairwise

import bpy
import numpy as np
import pytest
from heft.examples.gallery import SCENES, filming

from tools.environment import ROOT

SIZE, EVERY = (48, 36), 12
STILL = 0.002  # mean change of pixels from picture to picture, below which nothing moves


def chunks(film):
    """The single pictures of an animated WebP."""
    data, at, found = film.read_bytes(), 12, []
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] == b"ANMF":
            found.append(data[at + 24 : at + 8 + size])
        at += 8 + size + size % 2
    return found


def pixels(chunk, path):
    path.write_bytes(b"RIFF" + (len(chunk) + 4).to_bytes(4, "little") + b"WEBP" + chunk)
    picture = bpy.data.images.load(str(path))
    try:
        return np.array(picture.pixels[:])
    finally:
        bpy.data.images.remove(picture)


@pytest.mark.parametrize("name", ["shoved_aside", "chin_up", "tackled"])
def test_it_moves_and_nobody_falls_who_should_not(heft_enabled, tmp_path, name):
    (scene,) = [scene for scene in SCENES if scene.name == name]
    reports = filming.make(scene)
    assert any(report["outcome"] == "fell" for report in reports) == scene.falls, reports
    film = tmp_path / "film.webp"
    frames = filming.film(scene, film, SIZE, EVERY)
    shown = [pixels(chunk, tmp_path / f"{k}.webp") for k, chunk in enumerate(chunks(film))]
    assert len(shown) == len(frames) > 3
    changes = [float(np.abs(after - before).mean()) for before, after in pairwise(shown)]
    assert np.median(changes) > STILL, changes


def test_every_film_is_of_a_scene_and_names_are_their_own():
    films = {path.stem for path in (ROOT / "docs" / "pictures" / "gallery").glob("*.webp")}
    names = [scene.name for scene in SCENES]
    assert len(names) == len(set(names))
    assert films
    assert films <= set(names)
